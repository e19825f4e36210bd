"""Faults 46, 47 and 50: what the client must say of itself, of a server that pauses, and of its own limits."""

from __future__ import annotations

import asyncio
import resource
import subprocess
from pathlib import Path

import orjson
import pytest

from moonpad.bench.config import BenchConfig
from moonpad.bench.result import BenchResult, as_json
from moonpad.bench.run import measure
from moonpad.load.arrivals import Arrivals
from moonpad.load.event_loop import run_in_loop
from tests.faults.streaming_server import (
    DONE,
    FINISH,
    HEAD,
    Script,
    delta,
    streaming_server,
    usage,
)
from tests.unit.bench.test_run import command, in_thread

OK: Script = [HEAD, delta(content="a"), delta(content="b"), FINISH + usage(9, 2) + DONE]


async def paused(rate: float, count: int, pause_at: int, pause_s: float) -> BenchResult:
    """A server that answers at once, and stands still for a while: whoever comes meanwhile waits for its end."""
    until: list[float] = []

    def script_of(number: int) -> Script:
        now_s = asyncio.get_running_loop().time()
        if number == pause_at:
            until.append(now_s + pause_s)
        wait_s = max(0.0, until[0] - now_s) if until else 0.0
        return [wait_s, *OK]

    async with streaming_server(script_of) as server:
        config = BenchConfig(
            requests=count, concurrency=None, arrivals=Arrivals(rate, "constant"), warmup=0, measure_client=False
        )
        return await measure(server.endpoint, config)


def check_pause(rate: float, seconds: float, pause_s: float) -> None:
    """Of requests at an even rate, those that come in the pause wait for its end, the first of them the longest."""
    result = run_in_loop(paused(rate, round(rate * seconds), round(rate * 1), pause_s))
    assert result.metrics.completed == round(rate * seconds)
    assert result.metrics.e2el_s is not None
    assert result.metrics.e2el_s.percentile(99.0) >= 0.9 * pause_s
    late = sum(record.e2el_s >= pause_s / 2 for record in result.records)
    assert late == pytest.approx(rate * pause_s / 2, rel=0.2)


def test_who_comes_in_a_pause_has_waited_from_its_own_instant() -> None:
    """Fault 47, ten times as fast as the fault says it: one second at 100 a second."""
    check_pause(rate=100.0, seconds=4.0, pause_s=1.0)


@pytest.mark.slow
def test_a_pause_of_ten_seconds_at_ten_a_second() -> None:
    """Fault 47 as it stands: P99 is at least 9 s."""
    check_pause(rate=10.0, seconds=40.0, pause_s=10.0)


def test_a_cap_does_not_hide_the_pause() -> None:
    """With two slots the requests behind the pause are sent late; their latency counts from when they came."""

    async def main() -> BenchResult:
        first = iter([True])

        def script_of(number: int) -> Script:
            return [0.5 if next(first, False) or number == 1 else 0.0, *OK]

        async with streaming_server(script_of) as server:
            config = BenchConfig(
                requests=30, concurrency=2, arrivals=Arrivals(100.0, "constant"), warmup=0, measure_client=False
            )
            return await measure(server.endpoint, config)

    result = run_in_loop(main())
    waited = [record for record in result.records if record.queued_s > 0.1]
    assert len(waited) >= 20
    assert all(record.e2el_s >= record.queued_s for record in waited)
    assert as_json(result)["moonpad"]["p99_queued_ms"] > 100.0


@pytest.mark.slow
def test_a_client_that_cannot_take_what_comes_says_so(tmp_path: Path) -> None:
    """Fault 46: tens of thousands of events a write, from a server that does nothing but write them."""
    flood: Script = [HEAD, *[delta(content="a") * 20_000] * 10, FINISH + usage(9, 200_000) + DONE]
    with in_thread(lambda number: flood) as server:
        argv = ("--url", server.endpoint.base_url, "--concurrency", "4", "--requests", "16", "--warmup", "0")
        argv += ("--output-tokens", "200000")
        done = subprocess.run(command(*argv, "--no-calibrate", "--json"), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    document = orjson.loads(done.stdout)
    assert document["total_output_tokens"] == 16 * 200_000
    assert document["moonpad"]["client"]["client_bound"] is True
    assert b"client-bound" in done.stderr


def few_files() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))


def test_too_few_descriptors_are_refused_before_anything_is_sent(tmp_path: Path) -> None:
    """Fault 50: 1000 streams with 256 descriptors."""
    with in_thread(lambda number: OK) as server:
        argv = ("--url", server.endpoint.base_url, "--concurrency", "1000", "--requests", "2000")
        done = subprocess.run(
            command(*argv, "--out", str(tmp_path / "run")), capture_output=True, preexec_fn=few_files, check=False
        )
        few = subprocess.run(
            command(*argv[:2], "--concurrency", "100", "--requests", "100", "--no-calibrate", "--json"),
            capture_output=True, preexec_fn=few_files, check=False,
        )  # fmt: skip
        heads = len(server.heads)
    assert done.returncode == 3
    assert b"1000 connections need 1064 file descriptors; the limit of this process is 256" in done.stderr
    assert b"ulimit -n 1064, or use --concurrency 192" in done.stderr
    assert not (tmp_path / "run").exists()
    assert few.returncode == 0, few.stderr
    assert orjson.loads(few.stdout)["completed"] == 100
    assert heads > 100  # all of them the second run's


def test_an_open_loop_that_uses_all_descriptors_up_has_its_result(tmp_path: Path) -> None:
    """Fault 50, where nobody can know before how many it will be: who found none has failed, and says so."""
    long: Script = [HEAD, 0.5, delta(content="a"), FINISH + usage(9, 1) + DONE]
    with in_thread(lambda number: long) as server:
        argv = ("--url", server.endpoint.base_url, "--rate", "2000", "--requests", "400", "--warmup", "0")
        done = subprocess.run(
            command(*argv, "--no-calibrate", "--json", "--out", str(tmp_path / "run")),
            capture_output=True, preexec_fn=few_files, check=False,
        )  # fmt: skip
    assert b"Traceback" not in done.stderr
    document = orjson.loads(done.stdout)
    assert document["completed"] > 100
    assert document["completed"] + document["failed"] == 400
    assert document["moonpad"]["failures"] == {"connect-failed": document["failed"]}
    assert len((tmp_path / "run" / "requests.jsonl").read_bytes().splitlines()) == 400
