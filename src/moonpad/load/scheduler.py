"""Sends requests when a schedule wants them.

It runs by callbacks, without a task per request, so that a thousand requests can begin or end at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from moonpad.load.client import Connection, Connector
from moonpad.load.deadlines import RequestDeadlines
from moonpad.load.failure import RequestFailed, RequestFailure
from moonpad.load.read_backlog import Clock
from moonpad.load.record import LoadRequest, RequestRecord
from moonpad.load.request_schedule import Schedule
from moonpad.load.response_recorder import ResponseRecorder
from moonpad.load.timers import Timers

LEAD_S: Final = 0.25
"""How long before a request is due it gets its connection, opened if none is idle."""

CLOSING_TURNS: Final = 4
"""The loop tells a connection of its end in one turn, and closes its descriptor in the next."""

Idle = list[Connection]
"""Open connections that carry nothing, the last used at the end."""


@dataclass(slots=True)
class InFlight:
    """`running`: requests that were sent and have not ended."""

    running: int = 0


async def open_idle(connector: Connector, count: int) -> Idle:
    """`count` open connections, or fewer if some fail: requests without one try again, and record the failure."""
    opened = await asyncio.gather(*(_open_or_none(connector) for _ in range(count)))
    return [connection for connection in opened if connection is not None]


async def close_idle(idle: Idle) -> None:
    """Their descriptors are closed when this returns."""
    while idle:
        idle.pop().close()
    for _ in range(CLOSING_TURNS):
        await asyncio.sleep(0)


async def run_schedule(
    requests: Iterable[LoadRequest],
    schedule: Schedule,
    idle: Idle,
    connector: Connector,
    deadlines: RequestDeadlines,
    clock: Clock,
    origin_s: float,
    on_record: Callable[[RequestRecord], None],
    in_flight: InFlight | None = None,
) -> None:
    """Sends each request once. `origin_s` is the run's zero on `clock`; `in_flight` counts the requests under way.

    Each record goes to `on_record` as soon as its request is over; what `on_record` raises ends the run. When the run
    is cancelled, requests in flight are dropped and have no record. Connections that may be used again are in `idle`
    afterwards.
    """
    try:
        async with asyncio.TaskGroup() as group:
            resources = _Resources(group, idle, connector, deadlines, clock, in_flight or InFlight())
            scheduler = _Scheduler(resources, iter(requests), schedule, origin_s, on_record)
            try:
                scheduler.begin()
                await scheduler.over
            finally:
                scheduler.end()
            if scheduler.failure is not None:
                raise scheduler.failure
    except ExceptionGroup as failures:
        raise _first(failures) from None


@dataclass(frozen=True, slots=True)
class _Resources:
    """What all requests share. `group` has the connections that are being opened."""

    group: asyncio.TaskGroup
    idle: Idle
    connector: Connector
    deadlines: RequestDeadlines
    clock: Clock
    in_flight: InFlight

    def take_idle(self) -> Connection | None:
        while self.idle:
            if (connection := self.idle.pop()).usable:
                return connection
        return None


class _Scheduler:
    """Starts each request when it is due, and knows when all are over."""

    def __init__(
        self,
        resources: _Resources,
        requests: Iterator[LoadRequest],
        schedule: Schedule,
        origin_s: float,
        on_record: Callable[[RequestRecord], None],
    ) -> None:
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.failure: Exception | None = None
        self.timers = Timers(resources.clock, self.safely)
        self._resources, self._requests, self._schedule = resources, requests, schedule
        self._origin_s, self._on_record = origin_s, on_record
        self._slots: set[_Slot] = set()
        self._all_came = self._schedule.concurrency is not None

    def begin(self) -> None:
        if self._schedule.concurrency is None:
            self._arrivals()
            return
        slots = [_Slot(self, self._resources) for _ in range(self._schedule.concurrency)]
        self._slots.update(slots)
        for slot in slots:
            self._start_next(slot, self._origin_s)
        self._check_done()

    def end(self) -> None:
        """Drops the requests in flight, and records those that have ended."""
        self.timers.forget()
        for slot in self._slots:
            slot.drop()
        self._resources.connector.backlog.clear()

    def safely(self, step: Callable[[], None]) -> None:
        """An exception of `step` ends the run; raised in a callback of the event loop, it would only be printed."""
        try:
            step()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is raised where the run was begun
            self.failure = self.failure or error
            if not self.over.done():
                self.over.set_result(None)

    def ended(self, slot: _Slot, recorder: ResponseRecorder) -> None:
        if self._schedule.concurrency is None:
            self._slots.discard(slot)
        else:
            self._start_next(slot, recorder.closed_s)
        self._check_done()

    def record(self, recorder: ResponseRecorder) -> None:
        self.safely(lambda: self._on_record(recorder.record(self._origin_s)))

    def _start_next(self, slot: _Slot, free_s: float) -> None:
        for request in self._requests:
            due_s = self._due_s(request, free_s)
            slot.carry(request, due_s, max(0.0, free_s - due_s))
            return
        self._slots.discard(slot)

    def _arrivals(self) -> None:
        """Without a cap, each request gets a slot of its own shortly before it is due."""
        for request in self._requests:
            due_s = self._due_s(request, self._origin_s)
            if due_s - LEAD_S > self._resources.clock():
                self.timers.at(due_s - LEAD_S, partial(self._arrive, request, due_s))
                return
            self._carry(request, due_s)
        self._all_came = True
        self._check_done()

    def _arrive(self, request: LoadRequest, due_s: float) -> None:
        self._carry(request, due_s)
        self._arrivals()

    def _carry(self, request: LoadRequest, due_s: float) -> None:
        slot = _Slot(self, self._resources)
        self._slots.add(slot)
        slot.carry(request, due_s, 0.0)

    def _due_s(self, request: LoadRequest, free_s: float) -> float:
        return self._origin_s + self._schedule.due_s(request.index, free_s - self._origin_s)

    def _check_done(self) -> None:
        if self._all_came and not self._slots and not self.over.done():
            self.over.set_result(None)


class _Slot:
    """Carries one request at a time."""

    __slots__ = ("_connection", "_due_s", "_recorder", "_request", "_resources", "_scheduler")

    def __init__(self, scheduler: _Scheduler, resources: _Resources) -> None:
        self._scheduler, self._resources = scheduler, resources
        self._connection: Connection | None = None

    def carry(self, request: LoadRequest, due_s: float, queued_s: float) -> None:
        """The request, and those that follow it, each due as the one before is over.

        `queued_s`: how long after it was due the slot became free.
        """
        self._request, self._due_s = request, due_s
        self._recorder = ResponseRecorder(request, due_s)
        self._recorder.queued_s = queued_s
        self._scheduler.timers.at(due_s - LEAD_S, self._connect)

    def drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None and not connection.drop():
            self._resources.idle.append(connection)

    def _connect(self) -> None:
        self._connection = self._resources.take_idle()
        if self._connection is None:
            self._resources.group.create_task(self._open())
        else:
            self._scheduler.timers.at(self._due_s, self._send)

    async def _open(self) -> None:
        """The time this takes past the instant at which the request is due is recorded as `connect_s`."""
        clock, begun_s = self._resources.clock, max(self._resources.clock(), self._due_s)
        try:
            self._connection = await self._resources.connector.open()
            then = (
                self._exchange
            )  # whatever has become of it: a server that closes each new one would be asked for ever
        except RequestFailed as failed:
            then = partial(self._fail, failed.failure)
        self._recorder.connect_s += max(0.0, clock() - begun_s)
        self._scheduler.timers.at(self._due_s, then)

    def _send(self) -> None:
        if self._connection is None or not self._connection.usable:  # closed by the server since it was taken
            self._connect()
        else:
            self._exchange()

    def _exchange(self) -> None:
        assert self._connection is not None  # noqa: S101 - it was just opened, or looked at
        self._resources.in_flight.running += 1
        self._connection.exchange(self._request.wire, self._recorder, self._resources.deadlines, self._over)

    def _fail(self, failure: RequestFailure) -> None:
        self._resources.in_flight.running += 1
        self._recorder.sent(self._resources.clock())
        self._recorder.failed(self._resources.clock(), failure)
        self._over()

    def _over(self) -> None:
        """The next request goes out before this one is recorded."""
        recorder, connection, self._connection = self._recorder, self._connection, None
        self._resources.in_flight.running -= 1
        if recorder.cut_before_answer and connection is not None and connection.requests > 1 and not recorder.resent:
            # A server may close an idle connection while the next request is on its way (RFC 9112, 9.3.1). That request
            # is sent once more, on a new connection, and still measured from the instant at which it was due.
            self._recorder = recorder.again(self._resources.clock())
            self._resources.group.create_task(self._open())
            return
        if connection is not None and connection.usable:
            self._resources.idle.append(connection)
        self._scheduler.safely(self._go_on)
        self._resources.connector.backlog.follow(self._scheduler.record, recorder)

    def _go_on(self) -> None:
        if (following := self._recorder.following) is not None:
            self.carry(following, self._recorder.closed_s, 0.0)
        else:
            self._scheduler.ended(self, self._recorder)


def _first(failures: BaseException) -> BaseException:
    while isinstance(failures, BaseExceptionGroup):
        failures = failures.exceptions[0]
    return failures


async def _open_or_none(connector: Connector) -> Connection | None:
    try:
        return await connector.open()
    except RequestFailed:
        return None
