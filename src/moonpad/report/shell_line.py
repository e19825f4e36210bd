"""A command line as it is typed into a shell: quoted, with what only the shell can fill in left for it to fill in."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from moonpad.engines.value_checks import ENDPOINT, SWITCHED
from moonpad.values.visible_text import is_visible, shell_word

if TYPE_CHECKING:  # `plan` shows commands too, and reads none
    from moonpad.explain.results import Line

INDENT: Final = "  "
_VARIABLE: Final = re.compile(r"\$(?:\{([A-Za-z_]\w*|[1-9@*])[^{}]*\}|([A-Za-z_]\w*|[1-9@*]))", re.ASCII)
_SEVERAL: Final = re.compile(
    r"\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*:(?:[0-9]{1,5}|\+-[^\n]*)\}|\{[A-Za-z_]\w*\+-[^\n]*\})", re.ASCII
)
"""What is written without quotes: `$NAME`, `${NAME:8}`, `${NAME:+--option "$NAME"}`."""
_SPECIAL: Final = re.compile(r'[\\"`$]')
_OF_MANIFESTS: Final = re.compile(r"\$\(([A-Z][A-Z0-9_]*)\)")
_CONTINUED: Final = re.compile(r"[ \t]*\\\n[ \t]*")
_WITHIN: Final = re.compile(r"(?<=\$\()\s*\n\s*|\s*\n\s*(?=\)$)")
_BREAK: Final = re.compile(r"[ \t]*\n[ \t]*")
_HOME: Final = "~/"
_FILES: Final = re.compile(r"\*(?=(?:-of-(?:\d+|\*))?\.gguf$)", re.ASCII)
"""What the shell fills in for a part of a set, `-00001-of-*.gguf`: in quotes it would be the name of a file."""
_BACKSLASHED: Final = r"\\\g<0>"


def typed_lines(line: Line) -> Iterator[str]:
    """As `shell_lines`, with what only the shell can fill in."""
    return shell_lines(line.env, line.argv, lambda word: quoted(word, line.unresolved), line.parts)


def filled_lines(line: Line, width: int) -> Iterator[str]:
    """The same command in as few lines as `width` columns allow, flags with their values kept together."""
    row, indent = "", ""
    for piece in typed_lines(line):
        text = piece.strip().removesuffix(" \\")
        if row and len(row) + len(text) + 3 > width:
            yield f"{row} \\"
            row, indent = "", INDENT
        row = f"{row} {text}" if row else f"{indent}{text}"
    yield row


def shell_lines(
    env: Mapping[str, str], argv: Sequence[str], quote: Callable[[str], str], parts: Collection[int] = ()
) -> Iterator[str]:
    """The environment, the program with its first words, then one flag with its values a line.

    `parts`: places in `argv` that begin a line of their own too.
    """
    pieces = [f"{name}={quote(value)}" for name, value in env.items()]
    groups = [" ".join(map(quote, group)) for group in _groups(argv, parts)]
    lines = [*pieces, *groups]
    for place, text in enumerate(lines):
        indent = INDENT if place > len(pieces) else ""
        yield indent + text + (" \\" if place < len(lines) - 1 else "")


def quoted(word: str, unresolved: Collection[str] = ()) -> str:
    """The word as a shell reads it again.

    `unresolved` are names of variables and substitutions that stay what they are: `"$MASTER_IP:50000"`. A dollar that
    begins none of them is quoted.
    """
    if word.startswith(_HOME) and is_visible(word):  # in quotes it would be a folder called ~
        rest = word.removeprefix(_HOME)
        return _HOME + (quoted(rest, unresolved) if rest else "")
    word = _on_one_line(word) if "\n" in word and word[0] in "{[" else word
    kept = _kept(word, unresolved) if is_visible(word.replace("\n", " ").replace("\t", " ")) else []
    if word in unresolved and any(sign.fullmatch(word) for sign in (SWITCHED, ENDPOINT, _SEVERAL)):
        return word  # its words are several, or none: in quotes they would be one argument
    if word == "$*" and "*" in unresolved:
        return word
    if not kept:
        parts = _FILES.split(word)
        return "*".join(shell_word(part) if part else "" for part in parts) if len(parts) > 1 else shell_word(word)
    text, at = "", 0
    for start, end in kept:
        text += _outside(word[at:start]) + _in_one_line(word[start:end])
        at = end
    return f'"{text}{_outside(word[at:])}"'


def _on_one_line(word: str) -> str:
    """JSON that was written over several lines means the same on one; anything else stays as it is."""
    line = _BREAK.sub(" ", word)
    try:
        return line if json.loads(line) == json.loads(word) else word
    except ValueError:
        return word


def _outside(text: str) -> str:
    """What a shell changes nothing of in double quotes; line breaks and tabs in quotes of their own."""
    return _SPECIAL.sub(_BACKSLASHED, text).replace("\n", "\"$'\\n'\"").replace("\t", "\"$'\\t'\"")


def _in_one_line(text: str) -> str:
    """A substitution without breaks that mean nothing in it; what manifests write for a variable as a shell does."""
    if match := _OF_MANIFESTS.fullmatch(text):
        return f"${{{match[1]}}}"
    return _WITHIN.sub(" ", _CONTINUED.sub(" ", text))


def _kept(word: str, unresolved: Collection[str]) -> list[tuple[int, int]]:
    """Where variables and substitutions stand, in order, none in another."""
    spans = [match.span() for match in _VARIABLE.finditer(word) if (match[1] or match[2]) in unresolved]
    if "$" in word or "`" in word:
        for name in unresolved:
            if name.startswith(("$", "`")) and len(name) <= len(word):
                spans += _places(name, word)
    kept: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not kept or start >= kept[-1][1]:
            kept.append((start, end))
    return kept


def _places(text: str, word: str) -> Iterator[tuple[int, int]]:
    start = word.find(text)
    while start >= 0:
        yield start, start + len(text)
        start = word.find(text, start + len(text))


def _groups(argv: Sequence[str], parts: Collection[int]) -> Iterator[Sequence[str]]:
    """The words before the first flag, then each flag with the words up to the next one."""
    starts = [0]
    for place, word in enumerate(argv[1:], 1):
        module = word == "-m" and "python" in argv[place - 1]
        if place in parts or (_is_flag(word) and not module):
            starts.append(place)
    for start, end in pairwise([*starts, len(argv)]):
        yield argv[start:end]


def _is_flag(word: str) -> bool:
    if word.startswith("${") and "+-" in word:
        return _SEVERAL.fullmatch(word) is not None
    return len(word) > 1 and word[0] == "-" and " " not in word and not word[1:].replace(".", "", 1).isdigit()
