"""Open and closed loops, by a clock and a server that the test moves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

import moonpad.load.scheduler as drive_module
from moonpad.load.client import Connector
from moonpad.load.deadlines import RequestDeadlines
from moonpad.load.endpoint_url import target_of
from moonpad.load.event_loop import run_in_loop
from moonpad.load.record import LoadRequest, RequestRecord
from moonpad.load.request_schedule import ClosedLoop, OpenLoop, Schedule
from moonpad.load.scheduler import close_idle, open_idle, run_schedule
from moonpad.values.endpoint import Endpoint
from tests.faults.streaming_server import DONE, FINISH, HEAD, Script, StreamingServer, delta, streaming_server, usage

TOKEN_S = 0.05
SLOW: Script = [HEAD, TOKEN_S, delta(content="a"), FINISH + usage(9, 1) + DONE]
Records = list[RequestRecord]


def driven(
    schedule: Schedule, count: int, script_of: Callable[[int], Script] = lambda number: SLOW, idle: int = 0
) -> tuple[Records, StreamingServer]:
    async def main() -> tuple[Records, StreamingServer]:
        async with streaming_server(script_of) as server:
            target = target_of(server.endpoint)
            wire = target.post("/v1/chat/completions", b'{"stream": true}')
            clock = asyncio.get_running_loop().time
            connector = Connector(target, clock, 5.0)
            connections = await open_idle(connector, idle)
            records: Records = []
            requests = [LoadRequest(index, wire, 1, 1) for index in range(count)]
            await run_schedule(
                requests, schedule, connections, connector, RequestDeadlines(), clock, clock(), records.append
            )
            await close_idle(connections)
            return sorted(records, key=lambda entry: entry.index), server

    return run_in_loop(main())


def most_at_once(records: Records) -> int:
    changes = sorted([(entry.started_s, 1) for entry in records] + [(entry.closed_s, -1) for entry in records])
    running = most = 0
    for _, change in changes:
        running += change
        most = max(most, running)
    return most


def test_an_open_loop_does_not_wait_for_answers() -> None:
    records, _ = driven(OpenLoop([0.001 * index for index in range(40)]), 40)
    assert all(entry.ok for entry in records)
    assert [entry.scheduled_s for entry in records] == pytest.approx([0.001 * index for index in range(40)])
    assert all(entry.queued_s == 0.0 for entry in records)
    assert most_at_once(records) > 20


def test_a_closed_loop_does() -> None:
    records, server = driven(ClosedLoop(3), 12, idle=3)
    assert most_at_once(records) == 3
    assert server.connections == 3
    assert all(entry.queued_s == 0.0 for entry in records)


def test_under_a_cap_the_queue_is_told_and_counts() -> None:
    """Ten at once, two slots, each answer at least TOKEN_S: the last pair has waited for four before it."""
    records, _ = driven(OpenLoop([0.0] * 10, 2), 10, idle=2)
    assert most_at_once(records) == 2
    assert records[0].queued_s == records[1].queued_s == 0.0
    assert records[9].queued_s > 4 * TOKEN_S - 1e-6  # differences of the clock round
    assert records[9].ttft_s is not None
    assert records[9].ttft_s >= 5 * TOKEN_S
    assert all(entry.started_s - entry.scheduled_s == pytest.approx(entry.queued_s + entry.slip_s) for entry in records)


def test_latency_counts_from_the_scheduled_instant() -> None:
    """Fault 47 at a tenth: a server that pauses a second, at 100 requests a second through one slot."""
    paused = [HEAD, 1.0, delta(content="a"), FINISH + usage(9, 1) + DONE]
    quick = [HEAD, delta(content="a"), FINISH + usage(9, 1) + DONE]
    records, _ = driven(
        OpenLoop([0.01 * index for index in range(100)], 1), 100, lambda number: paused if number == 0 else quick, 1
    )
    latencies = sorted(entry.e2el_s for entry in records)
    assert latencies[98] >= 0.9


def test_connections_are_opened_before_they_are_needed_and_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drive_module, "LEAD_S", 1.0)  # a busy machine is late too
    records, server = driven(OpenLoop([1.0 + 1.1 * (index // 4) for index in range(8)]), 8)
    assert all(entry.connect_s == 0.0 for entry in records)
    assert server.connections == 4


def refused(schedule: Schedule, count: int, port: int) -> Records:
    async def main() -> Records:
        clock = asyncio.get_running_loop().time
        connector = Connector(target_of(Endpoint(f"http://127.0.0.1:{port}/v1", "m")), clock, 2.0)
        records: Records = []
        requests = [LoadRequest(index, b"", 1, 1) for index in range(count)]
        await run_schedule(requests, schedule, [], connector, RequestDeadlines(), clock, clock(), records.append)
        return records

    return run_in_loop(main())


def test_nobody_listens(free_port: int) -> None:
    records = refused(OpenLoop([0.0] * 5), 5, free_port)
    assert [entry.failure.label if entry.failure else "" for entry in records] == ["connection-refused"] * 5


def test_many_that_fail_at_once_through_one_slot(free_port: int) -> None:
    """Each begins where the one before ended, and none within it: a thousand are no thousand calls deep."""
    assert len(refused(ClosedLoop(1), 2000, free_port)) == 2000


def test_connections_that_died_meanwhile_are_not_used() -> None:
    async def main() -> tuple[Records, int]:
        async with streaming_server(lambda number: SLOW) as server:
            target = target_of(server.endpoint)
            clock = asyncio.get_running_loop().time
            connector = Connector(target, clock, 5.0)
            idle = await open_idle(connector, 50)
            for connection in idle:
                connection.close()
            wire = target.post("/v1/chat/completions", b'{"stream": true}')
            records: Records = []
            requests = [LoadRequest(index, wire, 1, 1) for index in range(4)]
            await run_schedule(
                requests, ClosedLoop(2), idle, connector, RequestDeadlines(), clock, clock(), records.append
            )
            carrying = len(idle)
            await close_idle(idle)
            return records, carrying

    records, idle = run_in_loop(main())
    assert [entry.ok for entry in records] == [True] * 4
    assert idle == 2


class Full(Exception):
    pass


@pytest.mark.parametrize("schedule", [ClosedLoop(2), OpenLoop([0.01 * index for index in range(40)])])
def test_what_a_record_raises_ends_the_run(schedule: Schedule) -> None:
    async def main() -> int:
        async with streaming_server(lambda number: SLOW) as server:
            target = target_of(server.endpoint)
            clock = asyncio.get_running_loop().time
            connector = Connector(target, clock, 5.0)
            idle = await open_idle(connector, 2)
            wire = target.post("/v1/chat/completions", b'{"stream": true}')
            reported = 0

            def tell(record: RequestRecord) -> None:
                nonlocal reported
                reported += 1
                raise Full

            requests = [LoadRequest(index, wire, 1, 1) for index in range(40)]
            with pytest.raises(Full):
                await run_schedule(requests, schedule, idle, connector, RequestDeadlines(), clock, clock(), tell)
            assert not any(connection.drop() for connection in idle)  # none of them still carries anything
            await close_idle(idle)
            return reported

    assert 0 < run_in_loop(main()) < 40


def test_a_conversation_that_cannot_go_on_ends_the_run() -> None:
    def follow(message: object) -> LoadRequest:
        raise Full

    async def main() -> None:
        async with streaming_server(lambda number: SLOW) as server:
            target = target_of(server.endpoint)
            clock = asyncio.get_running_loop().time
            connector = Connector(target, clock, 5.0)
            wire = target.post("/v1/chat/completions", b'{"stream": true}')
            first = LoadRequest(0, wire, 1, 1, follow)
            with pytest.raises(Full):
                await run_schedule(
                    [first], ClosedLoop(1), [], connector, RequestDeadlines(), clock, clock(), lambda record: None
                )

    run_in_loop(main())


def test_a_run_that_is_cancelled_drops_what_is_in_flight() -> None:
    async def main() -> tuple[int, int]:
        async with streaming_server(lambda number: [HEAD, 30.0, DONE]) as server:
            target = target_of(server.endpoint)
            clock = asyncio.get_running_loop().time
            connector = Connector(target, clock, 5.0)
            idle = await open_idle(connector, 3)
            wire = target.post("/v1/chat/completions", b'{"stream": true}')
            requests = [LoadRequest(index, wire, 1, 1) for index in range(9)]
            schedule = OpenLoop([0.0, 0.0, 0.2, *(60.0 for _ in range(6))])
            records: Records = []
            driving = asyncio.ensure_future(
                run_schedule(requests, schedule, idle, connector, RequestDeadlines(), clock, clock(), records.append)
            )
            await asyncio.sleep(0.1)  # two are in flight, and one has its connection
            driving.cancel()
            await asyncio.gather(driving, return_exceptions=True)
            left = len(idle)
            await close_idle(idle)
            return left, len(records)

    assert run_in_loop(main()) == (1, 0)


def test_descriptors_of_idle_connections_are_free_once_they_are_closed() -> None:
    def mine() -> int:
        return len(tuple(Path("/proc/self/fd").iterdir()))

    async def main() -> tuple[int, int]:
        async with streaming_server(lambda number: SLOW) as server:
            connector = Connector(target_of(server.endpoint), asyncio.get_running_loop().time, 5.0)
            before = mine()
            idle = await open_idle(connector, 40)
            opened = mine() - before
            assert all(connection.usable for connection in idle)
            await close_idle(idle)
            return opened, mine() - before

    opened, left = run_in_loop(main())
    assert left <= opened - 40
