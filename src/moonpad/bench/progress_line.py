"""What a run looks like so far, in a few words, at most four times a second. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from moonpad.load.record import RequestRecord

EVERY_S: Final = 0.25
"""Seldom: the process that takes timestamps computes it."""


@dataclass(slots=True)
class LiveFigures:
    """Sums of what has ended; nothing is sorted, and nothing kept."""

    clock: Callable[[], float]
    _begun_s: float = field(init=False)
    _shown_s: float | None = None
    _shown: str = ""
    _requests: int = 0
    _tokens: int = 0
    _ttft: tuple[float, int] = (0.0, 0)
    _tpot: tuple[float, int] = (0.0, 0)

    def __post_init__(self) -> None:
        self._begun_s = self.clock()

    def add(self, record: RequestRecord) -> None:
        if not record.ok:
            return
        self._requests += 1
        self._tokens += record.output_tokens
        self._ttft = _with(self._ttft, record.ttft_s)
        self._tpot = _with(self._tpot, record.tpot_s)

    def text(self, running: int | None) -> str:
        """As it was a quarter of a second ago, or as it is; `running`: requests in flight, None if unknown."""
        now_s = self.clock()
        if self._shown_s is None or now_s - self._shown_s >= EVERY_S:
            self._shown_s, self._shown = now_s, self._now(now_s - self._begun_s, running)
        return self._shown

    def _now(self, elapsed_s: float, running: int | None) -> str:
        parts = [] if running is None else [f"{running} running"]
        if elapsed_s > 0:
            parts += [f"{self._requests / elapsed_s:.2f} req/s", f"{self._tokens / elapsed_s:.1f} tok/s"]
        for name, (total_s, count) in (("TTFT", self._ttft), ("TPOT", self._tpot)):
            if count:
                parts.append(f"{name} {1000 * total_s / count:.1f} ms")
        return ", ".join(parts)


def _with(mean: tuple[float, int], value_s: float | None) -> tuple[float, int]:
    return mean if value_s is None else (mean[0] + value_s, mean[1] + 1)
