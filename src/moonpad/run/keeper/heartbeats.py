"""Signs of life for the ssh clients of other hosts: their remote agents renew a lease with each."""

from __future__ import annotations

import contextlib
import os
import time

INTERVAL_S = 5.0


class Heartbeats:
    """A pipe for each process, which is written to while we live, and ends with us."""

    def __init__(self) -> None:
        self._pipes: dict[str, int] = {}
        self._sent_s = 0.0

    def __contains__(self, name: str) -> bool:
        return name in self._pipes

    def open(self, name: str) -> int:
        """The reading end, for the standard input of the process of that name."""
        if name in self._pipes:
            os.close(self._pipes.pop(name))
        reading, self._pipes[name] = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        os.set_blocking(reading, True)
        return reading

    def send(self) -> None:
        if self._pipes and time.monotonic() - self._sent_s >= INTERVAL_S:
            self._sent_s = time.monotonic()
            for handle in self._pipes.values():
                with contextlib.suppress(OSError):  # no process reads it any more, or just now
                    os.write(handle, b"\n")
