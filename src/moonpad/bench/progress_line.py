"""A run's figures so far in a few words, computed at most four times a second. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from moonpad.load.record import RequestRecord

EVERY_S: Final = 0.25
"""Seldom, because the process that takes timestamps computes it."""


class LiveFigures:
    """Sums over the requests that have ended; no request is kept."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._begun_s = clock()
        self._shown_s = -math.inf
        self._shown = ""
        self._requests = self._tokens = 0
        self._sums: dict[str, tuple[float, int]] = {"TTFT": (0.0, 0), "TPOT": (0.0, 0)}
        """Seconds in all, and of how many requests."""

    def add(self, record: RequestRecord) -> None:
        if not record.ok:
            return
        self._requests += 1
        self._tokens += record.output_tokens
        for name, value_s in (("TTFT", record.ttft_s), ("TPOT", record.tpot_s)):
            if value_s is not None:
                total_s, count = self._sums[name]
                self._sums[name] = (total_s + value_s, count + 1)

    def text(self, running: int | None) -> str:
        """At most a quarter of a second old; `running`: requests in flight, None if unknown."""
        now_s = self._clock()
        if now_s - self._shown_s >= EVERY_S:
            self._shown_s, self._shown = now_s, self._now(now_s - self._begun_s, running)
        return self._shown

    def _now(self, elapsed_s: float, running: int | None) -> str:
        parts = [] if running is None else [f"{running} running"]
        if elapsed_s > 0:
            parts += [f"{self._requests / elapsed_s:.2f} req/s", f"{self._tokens / elapsed_s:.1f} tok/s"]
        parts += [f"{name} {1000 * total_s / count:.1f} ms" for name, (total_s, count) in self._sums.items() if count]
        return ", ".join(parts)
