"""The progress of something that is counted in bytes: a bar on a terminal, a line each half minute elsewhere. On
stderr."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from moonpad.cli.output import err
from moonpad.values.units import duration, gib
from moonpad.values.visible_text import one_line

EVERY_S: Final = 30.0


class ByteProgress:
    """`add` may be called from any thread."""

    def __init__(self, doing: str, total_bytes: int) -> None:
        self._doing = one_line(doing)
        self._total = total_bytes
        self._done = self._at_start = 0
        self._lock = threading.Lock()
        self._begun = self._line_at = time.monotonic()
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            DownloadColumn(binary_units=True),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
        )
        self.bar = Progress(*columns, console=err(), transient=True, refresh_per_second=4)
        self._task = self.bar.add_task(self._doing, total=total_bytes)

    def add(self, count: int) -> None:
        with self._lock:
            self._show(self._done + count)

    def begin_at(self, done: int) -> None:
        """What was there before: it counts as done, and not for the speed."""
        with self._lock:
            self._at_start = self._done = done
            self.bar.reset(self._task, completed=done, total=self._total)

    def show(self, done: int) -> None:
        with self._lock:
            self._show(done)

    def _show(self, done: int) -> None:
        self._done = done
        self.bar.update(self._task, completed=done)
        now = time.monotonic()
        if not err().is_terminal and now - self._line_at >= EVERY_S:
            self._line_at = now
            speed = max(0, done - self._at_start) / (now - self._begun)
            left = f", {duration((self._total - done) / speed)} left" if speed else ""
            err().print(f"{self._doing}: {gib(done)} of {gib(self._total)}, {speed / 1e6:.0f} MB/s{left}")


@contextmanager
def byte_progress(doing: str, total_bytes: int) -> Iterator[ByteProgress]:
    progress = ByteProgress(doing, total_bytes)
    if not err().is_terminal:
        yield progress
        return
    with progress.bar:
        yield progress
