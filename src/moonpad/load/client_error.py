"""The client's own error: the same client and streams against a server whose write times are known."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import orjson

from moonpad.load.client import Connector
from moonpad.load.deadlines import RequestDeadlines
from moonpad.load.endpoint_url import Target, target_of
from moonpad.load.event_loop import frozen_heap
from moonpad.load.json_request import fetch
from moonpad.load.record import LoadRequest, RequestRecord
from moonpad.load.request_schedule import ClosedLoop
from moonpad.load.scheduler import close_idle, open_idle, run_schedule
from moonpad.stats.percentiles import percentile
from moonpad.values.endpoint import Endpoint

LONGEST_S: Final = 2.0
FIRST_S: Final = 0.1
MOST_STREAMS: Final = 1024
START_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class ClientError:
    """Seconds. Measured with `streams` streams and `gap_s` between two tokens of each.

    ttft_s, ttft_p99_s: how long after it was written a first token was seen, on average and as the 99th percentile.
    itl_p99_ratio: the client's P99 of all gaps over that of the server's own writes.
    cpu: processor seconds of the client per second.
    """

    streams: int
    gap_s: float
    ttft_s: float
    ttft_p99_s: float
    itl_p99_ratio: float
    cpu: float

    def as_json(self) -> dict[str, float]:
        return {
            "streams": self.streams,
            "gap_ms": self.gap_s * 1000,
            "ttft_error_mean_ms": self.ttft_s * 1000,
            "ttft_error_p99_ms": self.ttft_p99_s * 1000,
            "itl_p99_ratio": self.itl_p99_ratio,
            "cpu": self.cpu,
        }


async def measure_client_error(streams: int, gap_s: float) -> ClientError | None:
    """Takes about two seconds; None if the server does not start, or an answer fails."""
    streams = max(1, min(streams, MOST_STREAMS))
    tokens = max(3, min(64, int((LONGEST_S - FIRST_S) / gap_s) if gap_s > 0 else 64))
    async with _server() as target:
        if target is None:
            return None
        connector = Connector(target, time.perf_counter, 5.0)
        idle = await open_idle(connector, streams)
        try:
            requests = [_request(target, index, tokens, gap_s, streams) for index in range(streams)]
            records: list[RequestRecord] = []
            with frozen_heap():
                cpu_s, origin_s = time.process_time(), time.perf_counter()
                await run_schedule(
                    requests,
                    ClosedLoop(streams),
                    idle,
                    connector,
                    RequestDeadlines(),
                    time.perf_counter,
                    origin_s,
                    records.append,
                )
                wall_s, cpu_s = time.perf_counter() - origin_s, time.process_time() - cpu_s
        finally:
            await close_idle(idle)
        answer = await fetch(target, target.get("/times"), timeout_s=10.0)
    if not all(record.ok for record in records) or not isinstance(answer.json, dict):
        return None
    return _compared(records, {int(name): rows for name, rows in answer.json.items()}, origin_s, gap_s, cpu_s / wall_s)


def _request(target: Target, index: int, tokens: int, gap_s: float, streams: int) -> LoadRequest:
    """First tokens spread over one gap, as the requests of a running server are."""
    first_s = FIRST_S + gap_s * index / streams
    body = orjson.dumps({"id": index, "tokens": tokens, "first_s": first_s, "gap_s": gap_s})
    return LoadRequest(index, target.post("/v1/chat/completions", body), 1, tokens)


def _compared(
    records: Sequence[RequestRecord], written: Mapping[int, Sequence[float]], origin_s: float, gap_s: float, cpu: float
) -> ClientError | None:
    late: list[float] = []
    seen_gaps: list[float] = []
    true_gaps: list[float] = []
    for record in records:
        truth = written.get(record.index, ())
        if len(truth) != len(record.token_times_s):
            return None
        late.append(record.token_times_s[0] + origin_s - truth[0])
        seen_gaps += record.itl_s
        true_gaps += [later - earlier for earlier, later in pairwise(truth)]
    if not true_gaps:
        return None
    late.sort()
    true_p99_s = percentile(sorted(true_gaps), 99.0)
    return ClientError(
        streams=len(records),
        gap_s=gap_s,
        ttft_s=sum(late) / len(late),
        ttft_p99_s=percentile(late, 99.0),
        itl_p99_ratio=percentile(sorted(seen_gaps), 99.0) / true_p99_s if true_p99_s > 0 else 1.0,
        cpu=cpu,
    )


@asynccontextmanager
async def _server() -> AsyncIterator[Target | None]:
    """The target while the block lasts; None if the server does not start."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "moonpad.load.reference_server",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin is not None  # noqa: S101 - it was asked for
    assert process.stdout is not None  # noqa: S101
    try:
        try:
            line = await asyncio.wait_for(process.stdout.readline(), START_S)
            yield target_of(Endpoint(f"http://127.0.0.1:{int(line)}/v1", "known"))
        except (TimeoutError, ValueError):
            yield None
    finally:
        process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), START_S)
        except TimeoutError:
            process.kill()
            await process.wait()
