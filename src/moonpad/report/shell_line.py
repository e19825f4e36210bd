"""A command line as it is typed into a shell: quoted, with what only the shell can fill in left for it to fill in."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from moonpad.explain.results import Line

INDENT: Final = "  "
_VARIABLE: Final = re.compile(r"\$(?:\{([A-Za-z_]\w*)[^{}]*\}|([A-Za-z_]\w*))", re.ASCII)
_SPECIAL: Final = re.compile(r'[\\"`$]')
_BACKSLASHED: Final = r"\\\g<0>"


def typed_lines(line: Line) -> Iterator[str]:
    """The environment, the program with its first words, then one flag with its values a line."""
    pieces = [f"{name}={quoted(value, line.unresolved)}" for name, value in line.env.items()]
    groups = [" ".join(quoted(word, line.unresolved) for word in group) for group in _groups(line.argv, line.parts)]
    lines = [*pieces, *groups]
    for place, text in enumerate(lines):
        indent = INDENT if place > len(pieces) else ""
        yield indent + text + (" \\" if place < len(lines) - 1 else "")


def quoted(word: str, unresolved: Collection[str] = ()) -> str:
    """The word as a shell reads it again.

    `unresolved` are names of variables and substitutions that stay what they are: `"$MASTER_IP:50000"`. A dollar that
    begins none of them is quoted.
    """
    if not word.isprintable():
        return _escaped(word)
    kept = _kept(word, unresolved)
    if not kept:
        return shlex.quote(word)
    text, at = "", 0
    for start, end in kept:
        text += _SPECIAL.sub(_BACKSLASHED, word[at:start]) + word[start:end]
        at = end
    text += _SPECIAL.sub(_BACKSLASHED, word[at:])
    return f'"{text}"'


def _kept(word: str, unresolved: Collection[str]) -> list[tuple[int, int]]:
    """Where variables and substitutions stand, in order, none in another."""
    found = [match.span() for match in _VARIABLE.finditer(word) if (match[1] or match[2]) in unresolved]
    for name in unresolved:
        if name.startswith(("$", "`")):
            found += [match.span() for match in re.finditer(re.escape(name), word)]
    kept: list[tuple[int, int]] = []
    for start, end in sorted(found, key=lambda one: (one[0], -one[1])):
        if not kept or start >= kept[-1][1]:
            kept.append((start, end))
    return kept


def _escaped(word: str) -> str:
    """`$'…'`, in which a control character is a backslash and a number."""
    pieces = []
    for char in word:
        if char in "\\'":
            pieces.append(f"\\{char}")
        elif char.isprintable():
            pieces.append(char)
        elif ord(char) < 0x80:
            pieces.append(f"\\x{ord(char):02x}")
        else:
            pieces.append(f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}")
    return f"$'{''.join(pieces)}'"


def _groups(argv: Sequence[str], parts: Collection[int]) -> Iterator[tuple[str, ...]]:
    """The words before the first flag, then each flag with the words up to the next one; a part begins anew."""
    group: list[str] = []
    for place, word in enumerate(argv):
        module = word == "-m" and "python" in argv[place - 1]
        if group and (place in parts or (_is_flag(word) and not module)):
            yield tuple(group)
            group = []
        group.append(word)
    if group:
        yield tuple(group)


def _is_flag(word: str) -> bool:
    return len(word) > 1 and word[0] == "-" and " " not in word and not word[1:].replace(".", "", 1).isdigit()
