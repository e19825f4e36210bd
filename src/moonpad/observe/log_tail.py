"""Follows a log file in bounded pieces: a flood or an endless line costs no memory.

A rotated log has its older parts beside it: `engine.log.1` is the part before `engine.log`, `.2` the part before that.
Either the log was renamed, and its writers go on in a new file; or it was copied and truncated, and its writers go on
in the same file. Readers walk through the parts as through one file.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice, pairwise
from pathlib import Path
from typing import Final

from moonpad.spec.input_file import open_regular
from moonpad.store.line_reader import lines_from_end, lines_of, pieces_of

PIECE_BYTES: Final = 1 << 20
LINE_BYTES: Final = 1 << 16
ROTATIONS: Final = 3

Identity = tuple[int, int]
"""A file's device and number, whatever it is called."""


class LogTail:
    """New lines of a growing file since the last look. Lines over 64 KiB are cut there; of a longer one that redraws
    itself by `\\r`, as progress bars do, the last drawing is kept.

    After a rotation the rest of the old part is read first, then the parts that follow; a log that was truncated
    without a copy is read again from its start. The file and the part before it are held open, so that their inode
    numbers are not reused.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._rest = b""
        self._handle = -1
        self._older = -1  # the part before the one that is read, as it was when that was opened
        self._at_end = False

    @classmethod
    def from_last(cls, path: Path, count: int) -> LogTail:
        """At the beginning of the last `count` lines, in an older part of the log where the current one is short."""
        tail = cls(path)
        for part, before in pairwise(_parts(path)):
            older = _open(before)
            with suppress(OSError), open_regular(part) as file:
                size = os.fstat(file.fileno()).st_size
                lines = enumerate(islice(lines_from_end(file, 0, size), max(count, 0)), 1)
                number, (begin, _) = next(iter(deque(lines, maxlen=1)), (0, (size, b"")))
                count -= number
                tail._turn_to(os.dup(file.fileno()), begin, older)
                older = -1
            _close(older)
            if count <= 0 and tail._handle >= 0:
                break
        return tail

    def lines(self) -> list[str]:
        """The lines completed since the last call, which reads 1 MiB at most. No lines do not mean the end of the file:
        the piece may belong to one long line."""
        return [_text(line) for line in self._whole()]

    def until_end(self) -> Iterator[str]:
        """The lines up to the present end, however much there is of it."""
        while True:
            for line in self._whole():
                yield _text(line)
            if self._at_end:
                return

    def open_line(self) -> str:
        """The last line while it has no end yet: a progress bar redraws itself there."""
        return _text(self._rest)

    def close(self) -> None:
        self._turn_to(-1, 0, -1)

    __del__ = close

    def _whole(self) -> list[bytes]:
        data = self._read()  # which may forget the rest
        *whole, rest = (self._rest + data).split(b"\n")
        self._rest = _cut(rest)
        return whole

    def _turn_to(self, handle: int, offset: int, older: int) -> None:
        for replaced in {self._handle, self._older} - {handle, older}:
            _close(replaced)
        self._handle, self._offset, self._older, self._at_end = handle, offset, older, False

    def _read(self) -> bytes:
        while True:
            if self._handle < 0:
                older = _open(_parts(self._path)[1])
                self._turn_to(_open(self._path), self._offset, older)
            if self._handle < 0:
                self._turn_to(-1, self._offset, -1)
                self._at_end = True
                return b""
            self._notice_truncation()
            # Before we read, so that what was written before a rename is read.
            renamed = _identity(self._path) != _identity(self._handle)
            data = os.pread(self._handle, PIECE_BYTES, self._offset)
            self._offset += len(data)
            self._at_end = not data
            if data or not renamed or not self._follow():
                return data
            if self._rest:
                return b"\n"  # a line does not go on in the next part

    def _notice_truncation(self) -> None:
        """Our file may have been truncated, and may have grown again; what we have not read of it is in a copy."""
        size = os.fstat(self._handle).st_size
        parts = _parts(self._path)
        present = [*(_identity(part) for part in parts[:-1]), None]
        own = _identity(self._handle)
        if own in present:
            ours = present.index(own)
            older = _identity(self._older) if self._older >= 0 else None
            last = present.index(older if older in present[ours + 1 :] else None, ours + 1)
            # The copy is made before the cut: until then our file is not the smaller one.
            if last > ours + 1 and size < _size(parts[ours + 1]):
                copy = _open(parts[last - 1])
                if copy >= 0 and _identity(copy) == present[last - 1] and os.fstat(copy).st_size >= self._offset:
                    self._turn_to(copy, self._offset, self._older)
                    return
                _close(copy)
        if size < self._offset:
            self._offset, self._rest = 0, b""

    def _follow(self) -> bool:
        """Turns to the part after the one that was read, or to the oldest where that is already gone."""
        own = _identity(self._handle)
        parts = _parts(self._path)
        for newer, older in pairwise(parts):
            handle = _open(newer)
            # In this order: had the log been rotated once more in between, `older` would be another one.
            if handle >= 0 and _identity(older) == own != _identity(handle):
                self._turn_to(handle, 0, self._handle)
                return True
            _close(handle)
            if _identity(older) == own:
                return False  # renamed, and the new file is not there yet
        for part in reversed(parts[:-1]):
            if (handle := _open(part)) >= 0:
                self._turn_to(handle, 0, -1)
                return True
        return False


def last_lines(path: Path, count: int) -> Iterator[str]:
    """The last lines of a log, its older parts included; the last one also where it has no end yet."""
    tail = LogTail.from_last(path, count)
    for line in islice(tail.until_end(), max(count, 0)):
        yield line
        count -= 1
    if count > 0 and (last := tail.open_line()):
        yield last
    tail.close()


def bounded_lines(paths: Iterable[Path]) -> Iterator[str]:
    """Every line of files that no longer grow, in their order, cut at 64 KiB. Each drawing of a progress bar is a line.
    Missing files are skipped."""
    for path in paths:
        with suppress(OSError), open_regular(path) as file:
            pieces = (piece.replace(b"\r", b"\n") for piece in pieces_of(file))
            for line in lines_of(pieces, LINE_BYTES):
                yield _text(line)


def _parts(path: Path) -> list[Path]:
    """The log and its older parts, the newest first, and last a path that never exists."""
    return [path, *(path.with_name(f"{path.name}.{number}") for number in range(1, ROTATIONS + 2))]


def _open(path: Path) -> int:
    try:
        with open_regular(path) as file:
            return os.dup(file.fileno())
    except OSError:
        return -1


def _close(handle: int) -> None:
    if handle >= 0:
        os.close(handle)


def _size(path: Path) -> int:
    """In bytes; 0 where there is none."""
    with suppress(OSError):
        return path.stat().st_size
    return 0


def _identity(file: Path | int) -> Identity | None:
    """None where there is no such file."""
    try:
        stat = os.stat(file)  # noqa: PTH116 - a path or a descriptor
    except OSError:
        return None
    return stat.st_dev, stat.st_ino


def _cut(line: bytes) -> bytes:
    return line if len(line) <= LINE_BYTES else line.rstrip(b"\r").rpartition(b"\r")[2][:LINE_BYTES]


def _text(line: bytes) -> str:
    return _cut(line).decode("utf-8", "replace")
