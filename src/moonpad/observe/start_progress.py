"""Watches a start: the phases that the log reports, the first healthy answer, the first real token.

Readiness and progress are two probes: the log shows progress, only a token shows that the engine is ready.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from moonpad.engines.log_grammar import LogGrammar, Progress, read_progress
from moonpad.observe.log_tail import LogTail
from moonpad.observe.readiness import ProbeAnswer

T = TypeVar("T")

HEALTH_TIMEOUT_S = 1.0
TOKEN_LIMIT_S = 30.0
"""The least time for the first token, however late it is requested."""
BROKEN_TOKENS = 3
"""First requests without any answer until the start has failed; the keeper reports processes that died."""


@dataclass(frozen=True, slots=True)
class Healthy:
    """The first 200 of `/health`. Not yet ready."""


@dataclass(frozen=True, slots=True)
class Ready:
    """One real token came back, `token_s` seconds after it was requested at `asked_s` of the clock."""

    token_s: float
    asked_s: float


@dataclass(frozen=True, slots=True)
class FirstTokenRefused:
    """Healthy, and the first real request failed."""

    answer: ProbeAnswer


@dataclass(frozen=True, slots=True)
class StartOverdue:
    """`budget_s` passed without a healthy answer."""

    budget_s: float


Sign = Progress | Healthy | Ready | FirstTokenRefused | StartOverdue


def in_thread(work: Callable[[], T]) -> Callable[[], T | None]:
    """Begins the work, and returns a function for its result: None until it is there."""
    results: list[T] = []
    thread = threading.Thread(target=lambda: results.append(work()), daemon=True)
    thread.start()

    def result() -> T | None:
        if not thread.is_alive() and not results:
            raise RuntimeError("a probe ended without an answer")
        return results[0] if results else None

    return result


Timed = tuple[ProbeAnswer, float]
"""An answer, and how many seconds it took."""

Begin = Callable[[Callable[[], Timed]], Callable[[], Timed | None]]
"""As `in_thread` does it."""


@dataclass(slots=True)
class StartWatch:
    """Looks whenever `look` is called. A thread requests the first token, so the log is followed meanwhile.

    `health` and `token` are the engine's probes, each with a time limit; `token` is None where there is no key for it.
    """

    tail: LogTail
    grammar: LogGrammar
    health: Callable[[float], ProbeAnswer]
    token: Callable[[float], ProbeAnswer] | None
    begun_s: float
    budget_s: float
    clock: Callable[[], float] = time.monotonic
    begin: Begin = in_thread
    _last: Progress | None = None
    _pending: Callable[[], Timed | None] | None = None
    _asked_s: float = 0.0
    _broken: int = 0
    _healthy: bool = False

    @property
    def asking(self) -> bool:
        """Whether the first token was requested and has not come yet."""
        return self._pending is not None

    @property
    def phase(self) -> str:
        """The last progress in the log, `loading weights 40%`."""
        if self._last is None:
            return "starting"
        return self._last.phase if self._last.percent is None else f"{self._last.phase} {self._last.percent}%"

    def read(self) -> Iterator[Progress]:
        """New progress in the log since the last call."""
        for line in [*self.tail.lines(), self.tail.open_line()]:
            progress = read_progress(self.grammar, line)
            if progress is not None and progress != self._last:
                self._last = progress
                yield progress

    def look(self) -> Iterator[Sign]:
        """The signs since the last look. Ready, FirstTokenRefused and StartOverdue end the start."""
        yield from self.read()
        if self._pending is not None:
            if (result := self._pending()) is not None:
                self._pending = None
                yield from self._judge(*result)
        elif self.health(HEALTH_TIMEOUT_S).ok:
            if not self._healthy:
                self._healthy = True
                yield Healthy()
            self._ask_token()
        elif self.clock() > self.begun_s + self.budget_s:
            yield StartOverdue(self.budget_s)

    def _ask_token(self) -> None:
        token, clock, deadline_s = self.token, self.clock, self.begun_s + self.budget_s
        if token is None:
            return

        def ask() -> Timed:
            asked = clock()
            return token(max(deadline_s - asked, TOKEN_LIMIT_S)), clock() - asked

        self._asked_s = clock()
        self._pending = self.begin(ask)

    def _judge(self, answer: ProbeAnswer, seconds: float) -> Iterator[Sign]:
        if answer.ok:
            yield Ready(seconds, self._asked_s)
            return
        if answer.status is None and not answer.timed_out:
            self._broken += 1
            if self._broken < BROKEN_TOKENS:
                return
        yield FirstTokenRefused(answer)
