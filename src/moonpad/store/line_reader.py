"""Lines of files of any size, forwards and from the end, in bounded pieces: an endless line costs no memory.

A line that is longer than the caller's limit comes as its first `limit + 1` bytes, so that the caller can tell, and cut
or skip it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO, Final

PIECE_BYTES: Final = 1 << 16
MOST_BYTES: Final = 64 << 20
"""Of the end of a file; what lies before it is not looked at."""


def pieces_of(file: BinaryIO) -> Iterator[bytes]:
    """The rest of the file, from its present position."""
    while piece := file.read(PIECE_BYTES):
        yield piece


def lines_of(pieces: Iterable[bytes], limit: int) -> Iterator[bytes]:
    """Every line of the pieces together, without its line end; the last one also where it has no end yet."""
    rest = b""
    for piece in pieces:
        first, *others = piece.split(b"\n")
        if len(rest) <= limit:  # what is cut anyway is not copied again and again
            rest = (rest + first)[: limit + 1]
        for line in others:
            yield rest
            rest = line[: limit + 1]
    if rest:
        yield rest


def lines_from_end(file: BinaryIO, limit: int, end: int) -> Iterator[tuple[int, bytes]]:
    """The lines before the offset `end`, the last one first, each with the offset where it begins."""
    rest = b""  # the first bytes, limit + 1 at most, of the line whose beginning is still searched
    at, floor = end, max(0, end - MOST_BYTES)
    while at > floor:
        size = min(PIECE_BYTES, at)
        at -= size
        file.seek(at)
        piece, stop = file.read(size), size
        while (line_end := piece.rfind(b"\n", 0, stop)) >= 0:
            begin = at + line_end + 1
            if begin < end:  # behind the last line end there is no line yet
                yield begin, (piece[line_end + 1 : stop] + rest)[: limit + 1]
            rest, stop = b"", line_end
        rest = (piece[:stop] + rest)[: limit + 1]
    if end > 0:
        yield at, rest
