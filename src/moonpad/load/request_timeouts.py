"""Ends each request at the deadline of its phase, with one timer for all and no timer work per read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from moonpad.load.deadlines import RequestDeadlines
from moonpad.load.read_backlog import Clock
from moonpad.load.response_recorder import ResponseRecorder

NOTHING_DUE_S: Final = float("inf")
Step = Callable[[], None]


class RequestTimeouts:
    """Checks every request at least once per shortest deadline.

    A phase that begins between two looks cannot be due before the next one, so every deadline is met exactly.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._watched: dict[ResponseRecorder, tuple[RequestDeadlines, Step, Step]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._look_s = NOTHING_DUE_S

    def watch(self, recorder: ResponseRecorder, deadlines: RequestDeadlines, parse: Step, end: Step) -> None:
        """From now on, as the request is sent.

        `parse`: hands the recorder what has arrived. `end` is called after the recorder has expired.
        """
        self._watched[recorder] = deadlines, parse, end
        self._look_by(self._clock() + deadlines.shortest_s)

    def forget(self, recorder: ResponseRecorder) -> None:
        self._watched.pop(recorder, None)

    def _look_by(self, instant_s: float) -> None:
        if instant_s >= self._look_s:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._look_s = instant_s
        self._timer = asyncio.get_running_loop().call_later(instant_s - self._clock(), self._look)

    def _look(self) -> None:
        now_s = self._clock()
        self._timer, self._look_s = None, NOTHING_DUE_S
        next_s = NOTHING_DUE_S
        for recorder, (deadlines, parse, end) in tuple(self._watched.items()):  # the end of one may begin another
            parse()  # data that arrived before the deadline counts
            if recorder.finished:
                continue
            due_s, kind = recorder.next_due(deadlines)
            if now_s < due_s:
                next_s = min(next_s, due_s, now_s + deadlines.shortest_s)
            else:
                recorder.expired(now_s, kind)
                end()
        self._look_by(next_s)
