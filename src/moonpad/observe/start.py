"""Watches a start: the phases that the log reports, the first healthy answer, the first real token.

Readiness and progress are two questions: the log says how far it is, only a token says that it is there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from moonpad.engines.log_grammar import LogGrammar, Progress, read_progress
from moonpad.observe.heartbeat import Answer, ask_health, ask_one_token
from moonpad.observe.log_tail import LogTail
from moonpad.values.endpoint import Endpoint

POLL_S = 0.1
HEALTH_TIMEOUT_S = 1.0


@dataclass(frozen=True, slots=True)
class Healthy:
    """The first 200 of `/health`. Not yet ready."""


@dataclass(frozen=True, slots=True)
class Ready:
    """One real token came back, `token_s` seconds after it was asked for."""

    token_s: float


@dataclass(frozen=True, slots=True)
class Refused:
    """Healthy, and the first real request failed."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class Ended:
    """The engine's processes ended before it was ready."""


@dataclass(frozen=True, slots=True)
class Overdue:
    """`budget_s` passed without a healthy answer."""

    budget_s: float


Sign = Progress | Healthy | Ready | Refused | Ended | Overdue


def watch_start(
    tail: LogTail,
    grammar: LogGrammar,
    endpoint: Endpoint,
    ended: Callable[[], bool],
    budget_s: float,
    *,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
    health: Callable[[Endpoint, float], Answer] = ask_health,
    token: Callable[[Endpoint, float], Answer] = ask_one_token,
) -> Iterator[Sign]:
    """Yields signs until one of Ready, Refused, Ended, Overdue, which is the last."""
    deadline = clock() + budget_s
    last: Progress | None = None
    while True:
        gone = ended()  # asked before the log is read, so that the last lines are seen
        for line in [*tail.lines(), tail.open_line()]:
            progress = read_progress(grammar, line)
            if progress is not None and progress != last:
                last = progress
                yield progress
        if gone:
            yield Ended()
            return
        if health(endpoint, HEALTH_TIMEOUT_S).ok:
            yield Healthy()
            asked = clock()
            answer = token(endpoint, max(deadline - asked, 30.0))
            yield Ready(clock() - asked) if answer.ok else Refused(answer)
            return
        if clock() > deadline:
            yield Overdue(budget_s)
            return
        pause(POLL_S)
