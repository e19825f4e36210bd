"""Follows a log file in bounded pieces: a flood or an endless line costs no memory."""

from __future__ import annotations

from pathlib import Path

PIECE_BYTES = 1 << 20
LINE_BYTES = 1 << 16


class LogTail:
    """New lines of a growing file since the last look. Lines over 64 KiB are cut there."""

    def __init__(self, path: Path, start: int = 0) -> None:
        self._path = path
        self._offset = start
        self._rest = b""

    def lines(self) -> list[str]:
        """The lines completed since the last call; at most 1 MiB is read a call."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                data = file.read(PIECE_BYTES)
        except FileNotFoundError:
            return []
        self._offset += len(data)
        *whole, rest = (self._rest + data).split(b"\n")
        self._rest = rest[:LINE_BYTES]
        return [line[:LINE_BYTES].decode("utf-8", "replace") for line in whole]

    def open_line(self) -> str:
        """The last line while it has no end yet: a progress bar redraws itself there."""
        return self._rest.decode("utf-8", "replace")
