"""One of several client processes, `python -m moonpad.bench.worker`, started by `bench/worker_pool.py`.

It reads its job from stdin, says that it is ready, reads the instant of the run's zero, and writes each record as a
line. It ends when stdin does: nothing of it outlives the run.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from typing import Any

import orjson

from moonpad.bench.request_plan import Share, measured_requests, schedule_of
from moonpad.bench.run_header import plan_from
from moonpad.bench.worker_pool import LoadState, skip_ended, watch_client
from moonpad.load.client import Connector
from moonpad.load.endpoint_url import target_of
from moonpad.load.event_loop import run_in_loop
from moonpad.load.scheduler import close_idle, open_idle, run_schedule
from moonpad.store.safe_streams import guard_streams
from moonpad.values.endpoint import Endpoint
from moonpad.values.secret import Secret


async def work() -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=1 << 30)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    # A slow reader fills the transport's buffer instead of blocking this loop.
    pipe, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, sys.stdout)
    job: dict[str, Any] = orjson.loads(await reader.readline())
    key = job["key"]
    target = target_of(Endpoint(job["base_url"], "", Secret(key) if key else None))
    plan, share, ended = plan_from(job["plan"]), Share(*job["share"]), frozenset(job["ended"])
    requests = measured_requests(plan, target, share, ended)
    schedule = schedule_of(plan, share, job["before_s"], job["first"])
    deadlines = plan.config.deadlines
    connector = Connector(target, time.perf_counter, deadlines.connect_s)
    idle = await open_idle(connector, share.part(plan.config.connections))

    def send(document: object) -> None:
        pipe.write(orjson.dumps(document) + b"\n")

    send({"ready": True})
    origin_s = orjson.loads(await reader.readline() or b"{}").get("origin_s")
    if origin_s is None:
        return
    load = LoadState(origin_s)
    driving = asyncio.ensure_future(
        run_schedule(
            requests, schedule, idle, connector, deadlines, time.perf_counter, origin_s, skip_ended(ended, send)
        )
    )
    over = asyncio.ensure_future(reader.read())
    async with watch_client(load):
        done, _ = await asyncio.wait((driving, over), return_when=asyncio.FIRST_COMPLETED)
    if driving not in done:
        driving.cancel()
        return
    await driving
    send({"cpu": load.cpu, "lag_s": load.lag_s})
    await over
    await close_idle(idle)


if __name__ == "__main__":
    guard_streams()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    run_in_loop(work())
