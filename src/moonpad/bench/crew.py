"""Who carries a load: this process, or several, when one core is not enough.

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

from moonpad.bench.requests import Share, measured_requests, schedule_of
from moonpad.bench.run_plan import RunPlan
from moonpad.bench.saved_records import record_from
from moonpad.load.client import Connector
from moonpad.load.drive import LEAD_S, Flight, Idle, drive
from moonpad.load.lag import lag_watched
from moonpad.load.loop import settled_heap
from moonpad.load.record import RequestRecord
from moonpad.load.target import Target
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import CheckFailed

LINE_BYTES: Final = 1 << 27
"""Of a worker's line: a record of a very long answer."""
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
        """The first request that is left."""
        return next((index for index in range(self.plan.config.requests) if index not in self.ended), 0)

    @property
    def workers(self) -> int:
        """No more than there are users, slots or requests."""
        config = self.plan.config
        return max(1, min(config.workers, config.concurrency or config.requests, config.requests - len(self.ended)))


def job_of(plan: RunPlan, past: Iterable[RequestRecord]) -> Job:
    """What is left behind the requests of `past`, which is gone through once."""
    ended, before_s, failed = set[int](), 0.0, 0
    for record in past:
        ended.add(record.index)
        before_s = max(before_s, record.closed_s)
        failed += not record.ok
    return Job(plan, frozenset(ended), before_s, failed)


@dataclass(slots=True)
class Load:
    """`origin_s`: the instant of the run's zero, right once `begin` was called. `cpu`: of the busiest client process,
    for each second. `lag_s`: how late the loop of the latest was at P99.

    flight: who is on it; None where other processes carry the load.
    """

    origin_s: float = 0.0
    cpu: float = 0.0
    lag_s: float = 0.0
    flight: Flight | None = None
    _begun: asyncio.Event = field(default_factory=asyncio.Event)

    def begin(self, origin_s: float) -> None:
        self.origin_s = origin_s
        self._begun.set()

    async def zero(self) -> float:
        """`origin_s`, as soon as it is right."""
        await self._begun.wait()
        return self.origin_s


async def carry(job: Job, target: Target, connector: Connector, idle: Idle, on_record: OnRecord, load: Load) -> None:
    """In this process. `load` is told as it is known, and is right when this was cancelled too."""
    requests = measured_requests(job.plan, target, ended=job.ended)
    on_record = unless_ended(job.ended, on_record)
    schedule = schedule_of(job.plan, before_s=job.before_s, first=job.first)
    deadlines, load.flight = job.plan.config.deadlines, Flight()
    load.begin(time.perf_counter() + LEAD_S - job.before_s)  # all that is due at once is ready by then
    clock, origin_s, flight = time.perf_counter, load.origin_s, load.flight
    async with client_watched(load):
        await drive(requests, schedule, idle, connector, deadlines, clock, origin_s, on_record, flight)


@asynccontextmanager
async def client_watched(load: Load) -> AsyncIterator[None]:
    """What this process takes while the block lasts, and how late its loop is; `load` is told, whatever ends it."""
    begun_s, cpu_s = time.perf_counter(), time.process_time()
    with settled_heap():
        async with lag_watched(time.perf_counter) as lag:
            try:
                yield
            finally:
                load.cpu = (time.process_time() - cpu_s) / max(time.perf_counter() - begun_s, 1e-9)
                load.lag_s = lag.p99_s


async def carry_by_workers(job: Job, endpoint: Endpoint, on_record: OnRecord, load: Load) -> None:
    """In processes of their own, which end with this one.

    Raises:
        CheckFailed: one of them ended before its work; what it had told is told.
    """
    workers: list[Process] = []
    try:
        for at in range(job.workers):
            workers.append(await _started(job, endpoint, Share(at, job.workers)))
        for worker in workers:
            async with asyncio.timeout(READY_S):
                await _told(worker)
        load.begin(time.perf_counter() + LEAD_S - job.before_s)
        for worker in workers:
            _tell(worker, {"origin_s": load.origin_s})
        async with asyncio.TaskGroup() as group:
            for worker in workers:
                group.create_task(_listen(worker, on_record, load))
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    except TimeoutError as error:
        raise CheckFailed(f"a client process is not ready after {READY_S:g} s", remedy="fewer --workers") from error
    finally:
        await asyncio.shield(asyncio.gather(*(_ended(worker) for worker in workers)))


async def _started(job: Job, endpoint: Endpoint, share: Share) -> Process:
    argv = (sys.executable, "-m", "moonpad.bench.worker")
    worker = await asyncio.create_subprocess_exec(
        *argv, stdin=PIPE, stdout=PIPE, limit=LINE_BYTES, start_new_session=True
    )
    _tell(
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


async def _listen(worker: Process, on_record: OnRecord, load: Load) -> None:
    while isinstance(told := await _told(worker), RequestRecord):
        on_record(told)
    load.cpu, load.lag_s = max(load.cpu, told["cpu"]), max(load.lag_s, told["lag_s"])


async def _told(worker: Process) -> Any:
    """A record, or what the worker says of itself.

    Raises:
        CheckFailed: it has ended.
    """
    assert worker.stdout is not None  # noqa: S101 - it was asked for
    line = await worker.stdout.readline()
    if not line:
        code = await worker.wait()
        raise CheckFailed(f"a client process ended with code {code} before its requests did", remedy="--resume RUN")
    return record_from(line) if line.startswith(b'{"index":') else orjson.loads(line)


def _tell(worker: Process, document: dict[str, Any]) -> None:
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


def unless_ended(ended: Container[int], on_record: OnRecord) -> OnRecord:
    """A conversation that was cut is led again from its begin, and what had ended of it is not told again."""

    def told(record: RequestRecord) -> None:
        if record.index not in ended:
            on_record(record)

    return told if ended else on_record
