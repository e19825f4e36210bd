"""When each request is sent, and the loop that sends it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from moonpad.load.client import Clock, Connection, Connector
from moonpad.load.collect import Collector
from moonpad.load.deadlines import Deadlines
from moonpad.load.failure import RequestFailed
from moonpad.load.record import LoadRequest, RequestRecord


class Schedule(Protocol):
    """`concurrency` is the number of slots; a slot carries one request at a time."""

    @property
    def concurrency(self) -> int: ...

    def due_s(self, index: int, free_s: float) -> float:
        """The instant (seconds since the run began) at which request `index` should go out.

        `free_s` is when the slot that takes it became free. An open loop answers with the arrival, whether the slot
        was free by then or not, and so counts the queue in front of the slots.
        """
        ...


@dataclass(frozen=True, slots=True)
class ClosedLoop:
    """A fixed number of users: each sends its next request the moment the last one is answered."""

    concurrency: int

    def due_s(self, index: int, free_s: float) -> float:
        return free_s


async def open_slots(connector: Connector, count: int) -> list[Connection | None]:
    """One open connection for each slot; None where it failed, so that the slot's first request says why."""
    return list(await asyncio.gather(*(_open_or_none(connector) for _ in range(count))))


async def drive(
    requests: Iterable[LoadRequest],
    schedule: Schedule,
    slots: list[Connection | None],
    connector: Connector,
    deadlines: Deadlines,
    clock: Clock,
    origin_s: float,
    on_record: Callable[[RequestRecord], None],
) -> None:
    """Sends each request once, on the first slot that is free. `origin_s` is the instant on `clock` of the run's zero.

    Each record goes to `on_record` as soon as its request is over; what `on_record` raises ends the run. When the run
    is cancelled, requests in flight are dropped and have no record.
    """
    driver = _Driver(iter(requests), schedule, connector, deadlines, clock, origin_s, on_record)
    try:
        async with asyncio.TaskGroup() as group:
            for position in range(len(slots)):
                group.create_task(driver.serve(slots, position))
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None


@dataclass(frozen=True, slots=True)
class _Driver:
    requests: Iterator[LoadRequest]
    schedule: Schedule
    connector: Connector
    deadlines: Deadlines
    clock: Clock
    origin_s: float
    on_record: Callable[[RequestRecord], None]

    async def serve(self, slots: list[Connection | None], position: int) -> None:
        free_s = self.origin_s
        for request in self.requests:
            due_s = self.origin_s + self.schedule.due_s(request.index, free_s - self.origin_s)
            if (wait_s := due_s - self.clock()) > 0:
                await asyncio.sleep(wait_s)
            collector = Collector(request, due_s)
            slots[position] = await self._send(request, collector, slots[position])
            free_s = collector.closed_s
            self.on_record(collector.record(self.origin_s))

    async def _send(
        self, request: LoadRequest, collector: Collector, connection: Connection | None
    ) -> Connection | None:
        """The connection that the slot may go on using."""
        try:
            if connection is None or not connection.usable:
                connection = await self.connector.open()
        except RequestFailed as failed:
            collector.sent(self.clock())
            collector.failed(self.clock(), failed.failure)
            return None
        await connection.exchange(request.wire, collector, self.deadlines)
        return connection


async def _open_or_none(connector: Connector) -> Connection | None:
    try:
        return await connector.open()
    except RequestFailed:
        return None
