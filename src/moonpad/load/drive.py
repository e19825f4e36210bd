"""The loop that sends requests as a schedule wants it.

Nothing waits for an answer but the callback of its connection: of a thousand requests that begin or end at once, each
takes as little as it can.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from moonpad.load.backlog import Clock
from moonpad.load.client import Connection, Connector
from moonpad.load.collect import Collector
from moonpad.load.deadlines import Deadlines
from moonpad.load.failure import Failure, RequestFailed
from moonpad.load.record import LoadRequest, RequestRecord
from moonpad.load.schedule import Schedule
from moonpad.load.waits import Waits

LEAD_S: Final = 0.25
"""How long before a request is due its connection is taken, or opened where none is idle."""

CLOSING_TURNS: Final = 4
"""The loop tells a connection of its end in one turn, and closes its descriptor in the next."""

Idle = list[Connection]
"""Open connections that carry nothing, the last used at the end."""


@dataclass(slots=True)
class Flight:
    """`running`: requests that were sent and are not over."""

    running: int = 0


async def open_idle(connector: Connector, count: int) -> Idle:
    """So many open connections, or fewer where some fail: the requests that go without try again, and say why."""
    found = await asyncio.gather(*(_open_or_none(connector) for _ in range(count)))
    return [connection for connection in found if connection is not None]


async def close_idle(idle: Idle) -> None:
    """Their descriptors are free when this returns."""
    while idle:
        idle.pop().close()
    for _ in range(CLOSING_TURNS):
        await asyncio.sleep(0)


async def drive(
    requests: Iterable[LoadRequest],
    schedule: Schedule,
    idle: Idle,
    connector: Connector,
    deadlines: Deadlines,
    clock: Clock,
    origin_s: float,
    on_record: Callable[[RequestRecord], None],
    flight: Flight | None = None,
) -> None:
    """Sends each request once. `origin_s` is the instant on `clock` of the run's zero; `flight` is told who is on it.

    Each record goes to `on_record` as soon as its request is over; what `on_record` raises ends the run. When the run
    is cancelled, requests in flight are dropped and have no record. Connections that may be used again are in `idle`
    afterwards.
    """
    try:
        async with asyncio.TaskGroup() as group:
            means = _Means(group, idle, connector, deadlines, clock, flight or Flight())
            driver = _Driver(means, iter(requests), schedule, origin_s, on_record)
            try:
                driver.begin()
                await driver.over
            finally:
                driver.end()
            if driver.failure is not None:
                raise driver.failure
    except ExceptionGroup as failures:
        raise _first(failures) from None


@dataclass(frozen=True, slots=True)
class _Means:
    """By what a request is carried. `group` has the connections that are being opened."""

    group: asyncio.TaskGroup
    idle: Idle
    connector: Connector
    deadlines: Deadlines
    clock: Clock
    flight: Flight

    def idle_one(self) -> Connection | None:
        while self.idle:
            if (connection := self.idle.pop()).usable:
                return connection
        return None


class _Driver:
    """What comes next, and when it was the last."""

    def __init__(
        self,
        means: _Means,
        requests: Iterator[LoadRequest],
        schedule: Schedule,
        origin_s: float,
        on_record: Callable[[RequestRecord], None],
    ) -> None:
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.failure: Exception | None = None
        self.waits = Waits(means.clock, self.safely)
        self._means, self._requests, self._schedule = means, requests, schedule
        self._origin_s, self._on_record = origin_s, on_record
        self._slots: set[_Slot] = set()
        self._all_came = self._schedule.concurrency is not None

    def begin(self) -> None:
        if self._schedule.concurrency is None:
            self._arrivals()
            return
        slots = [_Slot(self, self._means) for _ in range(self._schedule.concurrency)]
        self._slots.update(slots)
        for slot in slots:
            self._next_of(slot, self._origin_s)
        self._perhaps_over()

    def end(self) -> None:
        """Drops what is in flight, and writes down what is over."""
        self.waits.forget()
        for slot in self._slots:
            slot.drop()
        self._means.connector.backlog.clear()

    def safely(self, step: Callable[[], None]) -> None:
        """What it raises ends the run: to those who call it, timers and connections, it would be nothing."""
        try:
            step()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is raised where the run was begun
            self.failure = self.failure or error
            if not self.over.done():
                self.over.set_result(None)

    def ended(self, slot: _Slot, collector: Collector) -> None:
        if self._schedule.concurrency is None:
            self._slots.discard(slot)
        else:
            self._next_of(slot, collector.closed_s)
        self._perhaps_over()

    def write_down(self, collector: Collector) -> None:
        self.safely(lambda: self._on_record(collector.record(self._origin_s)))

    def _next_of(self, slot: _Slot, free_s: float) -> None:
        for request in self._requests:
            due_s = self._due_s(request, free_s)
            slot.carry(request, due_s, max(0.0, free_s - due_s))
            return
        self._slots.discard(slot)

    def _arrivals(self) -> None:
        """Without slots: one for each request, made shortly before it is due."""
        for request in self._requests:
            due_s = self._due_s(request, self._origin_s)
            if due_s - LEAD_S > self._means.clock():
                self.waits.at(due_s - LEAD_S, partial(self._arrive, request, due_s))
                return
            self._carry(request, due_s)
        self._all_came = True
        self._perhaps_over()

    def _arrive(self, request: LoadRequest, due_s: float) -> None:
        self._carry(request, due_s)
        self._arrivals()

    def _carry(self, request: LoadRequest, due_s: float) -> None:
        slot = _Slot(self, self._means)
        self._slots.add(slot)
        slot.carry(request, due_s, 0.0)

    def _due_s(self, request: LoadRequest, free_s: float) -> float:
        return self._origin_s + self._schedule.due_s(request.index, free_s - self._origin_s)

    def _perhaps_over(self) -> None:
        if self._all_came and not self._slots and not self.over.done():
            self.over.set_result(None)


class _Slot:
    """Carries one request at a time."""

    __slots__ = ("_collector", "_connection", "_driver", "_due_s", "_means", "_request")

    def __init__(self, driver: _Driver, means: _Means) -> None:
        self._driver, self._means = driver, means
        self._connection: Connection | None = None

    def carry(self, request: LoadRequest, due_s: float, queued_s: float) -> None:
        """The request, and those that follow it, each due as the one before is over.

        `queued_s`: how long after it was due the slot became free.
        """
        self._request, self._due_s = request, due_s
        self._collector = Collector(request, due_s, self._means.connector.learnt)
        self._collector.queued_s = queued_s
        self._driver.waits.at(due_s - LEAD_S, self._connect)

    def drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None and not connection.drop():
            self._means.idle.append(connection)

    def _connect(self) -> None:
        self._connection = self._means.idle_one()
        if self._connection is None:
            self._means.group.create_task(self._open())
        else:
            self._driver.waits.at(self._due_s, self._send)

    async def _open(self) -> None:
        """What that takes beyond the instant at which the request is due is told apart."""
        clock, begun_s = self._means.clock, max(self._means.clock(), self._due_s)
        try:
            self._connection = await self._means.connector.open()
            then = self._send
        except RequestFailed as failed:
            then = partial(self._fail, failed.failure)
        self._collector.connect_s += max(0.0, clock() - begun_s)
        self._driver.waits.at(self._due_s, then)

    def _send(self) -> None:
        if self._connection is None or not self._connection.usable:  # closed by the server since it was taken
            self._connect()
            return
        self._means.flight.running += 1
        self._connection.exchange(self._request.wire, self._collector, self._means.deadlines, self._over)

    def _fail(self, failure: Failure) -> None:
        self._means.flight.running += 1
        self._collector.sent(self._means.clock())
        self._collector.failed(self._means.clock(), failure)
        self._over()

    def _over(self) -> None:
        """The next request goes out before this one is written down."""
        collector, connection, self._connection = self._collector, self._connection, None
        self._means.flight.running -= 1
        if connection is not None and connection.usable:
            self._means.idle.append(connection)
        self._driver.safely(self._go_on)
        self._means.connector.backlog.follow(self._driver.write_down, collector)

    def _go_on(self) -> None:
        if (following := self._collector.following) is not None:
            self.carry(following, self._collector.closed_s, 0.0)
        else:
            self._driver.ended(self, self._collector)


def _first(failures: BaseException) -> BaseException:
    while isinstance(failures, BaseExceptionGroup):
        failures = failures.exceptions[0]
    return failures


async def _open_or_none(connector: Connector) -> Connection | None:
    try:
        return await connector.open()
    except RequestFailed:
        return None
