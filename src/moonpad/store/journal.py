"""Writes `events.jsonl` for programs that stay: a full disk delays an event, and ends nothing.

Standard library only, Python ≥ 3.9: the keeper takes this file to other hosts.
"""

from __future__ import annotations

import errno
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from moonpad.store.atomic_files import append_line

UNWRITTEN_EVENTS = 1000


def new_event(event: str, fields: dict[str, Any], clock: Callable[[], float] = time.monotonic) -> dict[str, Any]:
    """`t_s` is the machine's monotonic clock, comparable between the processes of one boot; `at` is for people."""
    return {"event": event, "t_s": round(clock(), 6), "at": round(time.time(), 3), **fields}


class Journal:
    """What cannot be written now is written later, in order and with its own time; of more than UNWRITTEN_EVENTS the
    oldest are lost."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._clock = clock
        self.unwritten: deque[dict[str, Any]] = deque(maxlen=UNWRITTEN_EVENTS)

    def append(self, event: str, **fields: object) -> None:
        self.unwritten.append(new_event(event, fields, self._clock))
        self.flush()

    def flush(self) -> None:
        while self.unwritten:
            try:
                append_line(self._path, self.unwritten[0])
            except OSError as error:
                if error.errno != errno.EFBIG:  # a line that is too long never fits
                    return
            self.unwritten.popleft()
