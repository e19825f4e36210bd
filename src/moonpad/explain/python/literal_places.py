"""Where each character of a string stands in the literal that it is written as: escapes are longer than what they
mean, and a backslash at the end of a line means nothing."""

from __future__ import annotations

import re
from typing import Final

from moonpad.explain.commands import Piece

_LITERAL: Final = re.compile(r"(?P<prefix>[A-Za-z]{0,2})(?P<quote>\"\"\"|'''|\"|')")
_ESCAPE: Final = re.compile(
    r"\\(?:\n|[0-7]{1,3}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|N\{[^}\n]{1,100}\}|[\\'\"abfnrtv])"
)
_CONTINUES: Final = "\\\n"


def pieces_of(written: str, value: str, begin: int) -> tuple[Piece, ...]:
    """Of the value of the one literal `written`, which stands at the offset `begin`; () where it is not that, as of
    several that are written beside each other."""
    if value and (inside := written.find(value)) >= 0:
        return (Piece(0, len(value), begin + inside, begin + inside + len(value)),)
    opening = _LITERAL.match(written)
    if opening is None or not written.endswith(opening["quote"]) or "r" in opening["prefix"].casefold():
        return ()
    pieces = list[Piece]()
    at, done, last = 0, opening.end(), len(written) - len(opening["quote"])
    for escape in _ESCAPE.finditer(written, done, last):
        at = _exact(pieces, at, done, escape.start(), begin)
        if escape[0] != _CONTINUES:
            pieces.append(Piece(at, at + 1, begin + escape.start(), begin + escape.end()))
            at += 1
        done = escape.end()
    at = _exact(pieces, at, done, last, begin)
    exact = (
        piece.end - piece.start != piece.source_end - piece.source_start
        or value[piece.start : piece.end] == written[piece.source_start - begin : piece.source_end - begin]
        for piece in pieces
    )
    return tuple(pieces) if at == len(value) and all(exact) else ()


def _exact(pieces: list[Piece], at: int, start: int, end: int, begin: int) -> int:
    """Adds what stands as it is written; where the value goes on behind it."""
    if end > start:
        pieces.append(Piece(at, at + end - start, begin + start, begin + end))
    return at + max(0, end - start)
