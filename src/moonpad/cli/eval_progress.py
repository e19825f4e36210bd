"""Progress of an evaluation where there is no terminal for a bar: a line now and then, with the time that is left."""

from __future__ import annotations

import time
from collections.abc import Callable

from moonpad.cli.output import err, note
from moonpad.values.units import duration

EVERY_S = 30.0


class ProgressLines:
    """Says how far it is every `EVERY_S`, and nothing on a terminal. `begun` answers were there before."""

    def __init__(self, total: int, begun: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._total, self._begun, self._clock = total, begun, clock
        self._began_s = self._said_s = clock()

    def show(self, done: int, text: str) -> None:
        now_s = self._clock()
        if err().is_terminal or now_s - self._said_s < EVERY_S:
            return
        self._said_s = now_s
        new = done - self._begun
        left = f", about {duration((now_s - self._began_s) / new * (self._total - done))} left" if new > 0 else ""
        note(f"{done:,} of {self._total:,} {text}{left}")
