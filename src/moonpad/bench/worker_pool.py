"""Sends a load from this process, or from several where one core is not enough.

Each process makes its own share of the requests from the plan, and all count from one instant of the machine's
monotonic clock, so that their records are those of one run and nothing is left to merge.
"""

from __future__ import annotations

import asyncio
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable, Container, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from moonpad.bench.request_plan import Share, measured_requests, schedule_of
from moonpad.bench.run_header import RunPlan
from moonpad.bench.saved_records import record_from
from moonpad.load.client import Connector
from moonpad.load.endpoint_url import Target
from moonpad.load.event_loop import frozen_heap
from moonpad.load.loop_lag import watch_lag
from moonpad.load.record import RequestRecord
from moonpad.load.scheduler import LEAD_S, Idle, InFlight, run_schedule
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import CheckFailed

LINE_BYTES: Final = 1 << 27
"""Longest line of a worker: the record of a very long answer."""
READY_S: Final = 300.0
END_S: Final = 5.0
OnRecord = Callable[[RequestRecord], None]


@dataclass(frozen=True, slots=True)
class Job:
    """What is left of a plan: `ended` are the requests that are not sent again, `failed` of which failed, and
    `before_s` is how long the run took."""

    plan: RunPlan
    ended: frozenset[int] = frozenset()
    before_s: float = 0.0
    failed: int = 0

    @property
    def first(self) -> int:
        """The first request that has not ended."""
        return next((index for index in range(self.plan.config.requests) if index not in self.ended), 0)

    @property
    def workers(self) -> int:
        """No more than there are users, slots or requests."""
        config = self.plan.config
        return max(1, min(config.workers, config.concurrency or config.requests, config.requests - len(self.ended)))


def remaining_job(plan: RunPlan, past: Iterable[RequestRecord]) -> Job:
    """What is left after the requests of `past`, which is iterated once."""
    ended, before_s, failed = set[int](), 0.0, 0
    for record in past:
        ended.add(record.index)
        before_s = max(before_s, record.closed_s)
        failed += not record.ok
    return Job(plan, frozenset(ended), before_s, failed)


@dataclass(slots=True)
class LoadState:
    """`origin_s`: the instant of the run's zero, right once `begin` was called. `cpu`: of the busiest client process,
    for each second. `lag_s`: how late the loop of the latest was at P99.

    in_flight: None where other processes send the requests.
    """

    origin_s: float = 0.0
    cpu: float = 0.0
    lag_s: float = 0.0
    in_flight: InFlight | None = None
    _begun: asyncio.Event = field(default_factory=asyncio.Event)

    def begin(self, origin_s: float) -> None:
        self.origin_s = origin_s
        self._begun.set()

    async def zero(self) -> float:
        """`origin_s`, as soon as it is right."""
        await self._begun.wait()
        return self.origin_s


async def run_load(
    job: Job, target: Target, connector: Connector, idle: Idle, on_record: OnRecord, load: LoadState
) -> None:
    """In this process. `load` is kept up to date, also when this is cancelled."""
    requests = measured_requests(job.plan, target, ended=job.ended)
    on_record = skip_ended(job.ended, on_record)
    schedule = schedule_of(job.plan, before_s=job.before_s, first=job.first)
    deadlines, load.in_flight = job.plan.config.deadlines, InFlight()
    load.begin(time.perf_counter() + LEAD_S - job.before_s)  # requests that are due at once are ready by then
    clock, origin_s, in_flight = time.perf_counter, load.origin_s, load.in_flight
    async with watch_client(load):
        await run_schedule(requests, schedule, idle, connector, deadlines, clock, origin_s, on_record, in_flight)


@asynccontextmanager
async def watch_client(load: LoadState) -> AsyncIterator[None]:
    """Writes this process's CPU share and loop lag into `load` when the block ends, however it ends."""
    begun_s, cpu_s = time.perf_counter(), time.process_time()
    with frozen_heap():
        async with watch_lag(time.perf_counter) as lag:
            try:
                yield
            finally:
                load.cpu = (time.process_time() - cpu_s) / max(time.perf_counter() - begun_s, 1e-9)
                load.lag_s = lag.p99_s


async def run_load_in_workers(job: Job, endpoint: Endpoint, on_record: OnRecord, load: LoadState) -> None:
    """In processes of their own, which end with this one.

    Raises:
        CheckFailed: one of them exited early; the records before are reported.
    """
    workers: list[Process] = []
    try:
        for at in range(job.workers):
            workers.append(await _started(job, endpoint, Share(at, job.workers)))
        for worker in workers:
            async with asyncio.timeout(READY_S):
                await _read(worker)
        load.begin(time.perf_counter() + LEAD_S - job.before_s)
        for worker in workers:
            _send(worker, {"origin_s": load.origin_s})
        async with asyncio.TaskGroup() as group:
            for worker in workers:
                group.create_task(_listen(worker, on_record, load))
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    except TimeoutError as error:
        raise CheckFailed(f"a client process is not ready after {READY_S:g} s", remedy="use fewer --workers") from error
    finally:
        await asyncio.shield(asyncio.gather(*(_ended(worker) for worker in workers)))


async def _started(job: Job, endpoint: Endpoint, share: Share) -> Process:
    argv = (sys.executable, "-m", "moonpad.bench.worker")
    worker = await asyncio.create_subprocess_exec(
        *argv, stdin=PIPE, stdout=PIPE, limit=LINE_BYTES, start_new_session=True
    )
    _send(
        worker,
        {
            "plan": job.plan.as_json(),
            "base_url": endpoint.base_url,
            "key": endpoint.key.reveal() if endpoint.key else None,
            "share": [share.at, share.of],
            "ended": sorted(index for index in job.ended if share.has(index)),
            "before_s": job.before_s,
            "first": job.first,
        },
    )
    return worker


async def _listen(worker: Process, on_record: OnRecord, load: LoadState) -> None:
    while isinstance(message := await _read(worker), RequestRecord):
        on_record(message)
    load.cpu, load.lag_s = max(load.cpu, message["cpu"]), max(load.lag_s, message["lag_s"])


async def _read(worker: Process) -> Any:
    """A record, or the worker's own state.

    Raises:
        CheckFailed: it has exited.
    """
    assert worker.stdout is not None  # noqa: S101 - it was asked for
    line = await worker.stdout.readline()
    if not line:
        code = await worker.wait()
        raise CheckFailed(
            f"a client process exited with code {code} before its last request", remedy="use --resume RUN"
        )
    return record_from(line) if line.startswith(b'{"index":') else orjson.loads(line)


def _send(worker: Process, document: dict[str, Any]) -> None:
    assert worker.stdin is not None  # noqa: S101 - it was asked for
    worker.stdin.write(orjson.dumps(document) + b"\n")


async def _ended(worker: Process) -> None:
    assert worker.stdin is not None  # noqa: S101 - it was asked for
    worker.stdin.close()
    try:
        async with asyncio.timeout(END_S):
            await worker.wait()
    except TimeoutError:
        worker.kill()
        await worker.wait()


def skip_ended(ended: Container[int], on_record: OnRecord) -> OnRecord:
    """An interrupted conversation is repeated from its beginning, but its ended requests are not reported twice."""

    def report(record: RequestRecord) -> None:
        if record.index not in ended:
            on_record(record)

    return report if ended else on_record
