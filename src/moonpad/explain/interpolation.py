"""References to variables that compose and Kubernetes replace before a container starts.

Sources: https://docs.docker.com/reference/compose-file/interpolation/ and
https://kubernetes.io/docs/tasks/inject-data-application/define-interdependent-environment-variables/.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from moonpad.explain.commands import Piece, Word

COMPOSE: Final = re.compile(
    r"\$(?:(?P<dollar>\$)|\{(?P<braced>[A-Za-z_]\w*)(?:(?P<operator>:?[-?+])(?P<default>[^{}]*))?\}"
    r"|(?P<name>[A-Za-z_]\w*))"
)
KUBERNETES: Final = re.compile(r"\$(?:(?P<dollar>\$)|\((?P<name>[\w.-]+)\))")


def interpolated(word: Word, references: re.Pattern[str], values: Mapping[str, Word]) -> Word:
    """The word with the values in place, and with the names of those that are not known."""
    text, pieces, names, at = "", list[Piece](), list(word.unresolved), 0
    for match in references.finditer(word.text):
        value, unresolved = _value(match, values)
        names += unresolved
        pieces += _cut(word.pieces, at, match.start(), len(text))
        text += word.text[at : match.start()]
        if reference := next(_cut(word.pieces, *match.span(), len(text)), None):
            pieces.append(reference._replace(end=len(text) + len(value)))
        text += value
        at = match.end()
    pieces += _cut(word.pieces, at, len(word.text), len(text))
    return replace(word, text=text + word.text[at:], unresolved=tuple(dict.fromkeys(names)), pieces=tuple(pieces))


def _value(match: re.Match[str], values: Mapping[str, Word]) -> tuple[str, tuple[str, ...]]:
    """What takes the place of a reference, and the names in it that are not known."""
    groups = match.groupdict()
    name = groups.get("braced") or groups["name"]
    if groups["dollar"]:
        return "$", ()
    if (groups.get("operator") or "").endswith("-"):
        return groups["default"], ()
    if name in values:
        return values[name].text, values[name].unresolved
    return f"${{{name}}}", (name,)


def _cut(pieces: Sequence[Piece], start: int, end: int, to: int) -> Iterator[Piece]:
    """The pieces of `text[start:end]`, which stands at `to` in another text."""
    for piece in pieces:
        first, last = max(piece.start, start), min(piece.end, end)
        if first < last and piece.exact:
            source = piece.source_start - piece.start
            yield Piece(first - start + to, last - start + to, first + source, last + source)
        elif first < last:
            yield piece._replace(start=first - start + to, end=last - start + to)
