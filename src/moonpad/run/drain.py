"""The requests of an engine that is about to be stopped: how many there are, and what becomes of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from moonpad.facts.probe import Unknown
from moonpad.run.endpoints import keyless_endpoint_of
from moonpad.store.run_folder import RunFolder

ASK_LIMIT_S = 0.5
LOOK_S = 0.1


@dataclass(frozen=True, slots=True)
class Drained:
    """Of the requests that ran, or waited, when the drain began. None: the engine does not report how many it has.

    `refuses_new`: the engine admits no new ones meanwhile. Where it does, `cut` may count them too.
    """

    running: int | None
    finished: int | None
    cut: int | None
    refuses_new: bool


class Requests:
    """How many an engine has. `ask` returns it, None where the engine does not report it."""

    def __init__(self, ask: Callable[[], int | None], clock: Callable[[], float] = time.monotonic) -> None:
        self._ask = ask
        self._clock = clock
        self._looked_s = clock()
        self.first = self.last = ask()
        self.had_any = bool(self.last)
        self._idle_s = self._looked_s if self.last == 0 else None

    def look(self) -> None:
        """Asks again, where the last answer is older than LOOK_S."""
        now_s = self._clock()
        if now_s - self._looked_s < LOOK_S:
            return
        self._looked_s = now_s
        count = self._ask()
        if count is None:  # it no longer listens: the last answer stays
            return
        self.last = count
        if count:
            self.had_any, self._idle_s = True, None
        elif self._idle_s is None:
            self._idle_s = now_s

    def idle_for_s(self) -> float | None:
        """For how long there has been none. None where there are some, or it is unknown."""
        return None if self._idle_s is None else self._clock() - self._idle_s

    def drained(self, cut: int, *, refuses_new: bool) -> Drained:
        if self.first is None:
            return Drained(None, None, None, refuses_new)
        return Drained(self.first, max(0, self.first - cut), cut, refuses_new)

    def __str__(self) -> str:
        if self.last is None:
            return "an unknown number of requests run"
        return f"{self.last} request{' runs' if self.last == 1 else 's run'}"


NO_REQUESTS = Drained(0, 0, 0, True)


def requests_of(folder: RunFolder) -> Requests | None:
    """The requests of a run; None where its engine was never ready, and so has none."""
    if folder.last_event("ready") is None:
        return None
    from moonpad.engines import ENGINES
    from moonpad.observe.metrics import ask_load

    endpoint = keyless_endpoint_of(folder)
    engine = ENGINES.get(endpoint.engine)

    def ask() -> int | None:
        if engine is None:
            return None
        load = ask_load(endpoint, engine.metrics, ASK_LIMIT_S)
        return None if isinstance(load, Unknown) or load.running is None else int(load.running + (load.waiting or 0))

    return Requests(ask)
