"""When each request is sent, and the loop that sends it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from moonpad.load.backlog import Clock
from moonpad.load.client import Connection, Connector
from moonpad.load.collect import Collector
from moonpad.load.deadlines import Deadlines
from moonpad.load.failure import Failure, RequestFailed
from moonpad.load.record import LoadRequest, RequestRecord

LEAD_S: Final = 0.25
"""How long before a request is due its connection is taken, or opened where none is idle."""

RECORDS_A_TURN: Final = 8

Idle = list[Connection]
"""Open connections that carry nothing, the last used at the end."""


@dataclass(slots=True)
class Flight:
    """`running`: requests that were sent and are not over."""

    running: int = 0


class Schedule(Protocol):
    """`concurrency` is the number of slots, each of which carries one request at a time; None: as many as arrive."""

    @property
    def concurrency(self) -> int | None: ...

    def due_s(self, index: int, free_s: float) -> float:
        """The instant (seconds since the run began) at which request `index` should go out.

        `free_s` is when the slot that takes it became free. An open loop answers with the arrival, whether the slot
        was free by then or not, and so counts the queue in front of the slots.
        """
        ...


@dataclass(frozen=True, slots=True)
class ClosedLoop:
    """A fixed number of users: each sends its next request the moment the last one is answered.

    `begin_s`: when the first ones do; above 0 where a run goes on.
    """

    concurrency: int
    begin_s: float = 0.0

    def due_s(self, index: int, free_s: float) -> float:
        return max(free_s, self.begin_s)


@dataclass(frozen=True, slots=True)
class OpenLoop:
    """Request `index` arrives at `instants_s[index]`, whatever the server does.

    Under a cap a request may find no slot free: it is sent late, and its latency counts from its arrival.
    """

    instants_s: Sequence[float]
    concurrency: int | None = None

    def due_s(self, index: int, free_s: float) -> float:
        return self.instants_s[index]


async def open_idle(connector: Connector, count: int) -> Idle:
    """So many open connections, or fewer where some fail: the requests that go without try again, and say why."""
    found = await asyncio.gather(*(_open_or_none(connector) for _ in range(count)))
    return [connection for connection in found if connection is not None]


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
    flight = flight or Flight()
    driver = _Driver(iter(requests), schedule, idle, connector, deadlines, clock, origin_s, on_record, flight)
    try:
        async with asyncio.TaskGroup() as group:
            recorder = group.create_task(driver.record())
            async with asyncio.TaskGroup() as slots:
                if schedule.concurrency is None:
                    await driver.arrive(slots)
                else:
                    for _ in range(schedule.concurrency):
                        slots.create_task(driver.serve())
            recorder.cancel()
    except ExceptionGroup as failures:
        raise _first(failures) from None
    finally:
        driver.record_all()


@dataclass(frozen=True, slots=True)
class _Driver:
    requests: Iterator[LoadRequest]
    schedule: Schedule
    idle: Idle
    connector: Connector
    deadlines: Deadlines
    clock: Clock
    origin_s: float
    on_record: Callable[[RequestRecord], None]
    flight: Flight
    ended: deque[Collector] = field(default_factory=deque)
    """Requests that are over and have no record yet."""
    more: asyncio.Event = field(default_factory=asyncio.Event)

    async def record(self) -> None:
        """A few records at a time, and what has come meanwhile is read first: a burst of ends delays no other read."""
        while True:
            await self.more.wait()
            self.more.clear()
            while self.ended:
                for _ in range(min(RECORDS_A_TURN, len(self.ended))):
                    self._record_one()
                await asyncio.sleep(0)

    def record_all(self) -> None:
        while self.ended:
            self._record_one()

    def _record_one(self) -> None:
        self.on_record(self.ended.popleft().record(self.origin_s))

    async def serve(self) -> None:
        """One slot: the next request, then the next."""
        free_s = self.origin_s
        for request in self.requests:
            due_s = self.origin_s + self.schedule.due_s(request.index, free_s - self.origin_s)
            free_s = await self._all_turns(request, due_s, queued_s=max(0.0, free_s - due_s))

    async def arrive(self, group: asyncio.TaskGroup) -> None:
        """No slots: a task for each request, made shortly before it is due."""
        for request in self.requests:
            due_s = self.origin_s + self.schedule.due_s(request.index, 0.0)
            await self._until(due_s - LEAD_S)
            group.create_task(self._all_turns(request, due_s))

    async def _all_turns(self, request: LoadRequest, due_s: float, queued_s: float = 0.0) -> float:
        """When the request was over and all that follow it, each due as the one before is over."""
        collector = await self._one(request, due_s, queued_s)
        while (following := collector.following) is not None:
            collector = await self._one(following, collector.closed_s, 0.0)
        return collector.closed_s

    async def _one(self, request: LoadRequest, due_s: float, queued_s: float) -> Collector:
        """How it ended. `queued_s`: how long after it was due its slot became free."""
        collector = Collector(request, due_s)
        collector.queued_s = queued_s
        await self._until(due_s - LEAD_S)
        connection = await self._connection(collector, due_s)
        await self._until(due_s)
        if isinstance(connection, Connection) and not connection.usable:  # closed by the server since it was taken
            connection = await self._connection(collector, due_s)
        self.flight.running += 1
        try:
            await self._send(request, collector, connection)
        finally:
            self.flight.running -= 1
        self.ended.append(collector)
        self.more.set()
        return collector

    async def _until(self, instant_s: float) -> None:
        if (wait_s := instant_s - self.clock()) > 0:
            await asyncio.sleep(wait_s)

    async def _connection(self, collector: Collector, due_s: float) -> Connection | Failure:
        """An idle one, or one that is opened; what that takes beyond the instant it is due is told apart."""
        while self.idle:
            if (connection := self.idle.pop()).usable:
                return connection
        begun_s = max(self.clock(), due_s)
        try:
            return await self.connector.open()
        except RequestFailed as failed:
            return failed.failure
        finally:
            collector.connect_s += max(0.0, self.clock() - begun_s)

    async def _send(self, request: LoadRequest, collector: Collector, connection: Connection | Failure) -> None:
        if not isinstance(connection, Connection):
            collector.sent(self.clock())
            collector.failed(self.clock(), connection)
            return
        try:
            await connection.exchange(request.wire, collector, self.deadlines)
        finally:
            if connection.usable:
                self.idle.append(connection)


def _first(failures: BaseException) -> BaseException:
    while isinstance(failures, BaseExceptionGroup):
        failures = failures.exceptions[0]
    return failures


async def _open_or_none(connector: Connector) -> Connection | None:
    try:
        return await connector.open()
    except RequestFailed:
        return None
