"""Several client processes: the records of all are those of one run, and nothing of them outlives it."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections import Counter
from pathlib import Path

import orjson
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.bench.config import BenchConfig
from moonpad.bench.request_plan import Share, measured_requests
from moonpad.bench.run_header import RunPlan
from moonpad.bench.worker_pool import Job
from moonpad.load.arrivals import Arrivals
from moonpad.load.endpoint_url import target_of
from moonpad.load.lengths import parse_lengths
from moonpad.load.prompt_calibration import PromptCalibration
from moonpad.values.endpoint import Endpoint
from tests.faults.streaming_server import DONE, FINISH, HEAD, Script, answer, delta, usage
from tests.unit.bench.records import read_records
from tests.unit.bench.test_run import command, in_thread

TARGET = target_of(Endpoint("http://127.0.0.1:9/v1", "m"))


@given(st.integers(0, 100), st.integers(1, 9))
def test_shares_add_up_to_the_whole(count: int, of: int) -> None:
    shares = [Share(at, of) for at in range(of)]
    assert sum(share.part(count) for share in shares) == count
    assert all(sum(share.has(number) for share in shares) == 1 for number in range(count))


@pytest.mark.parametrize("of", [1, 2, 3])
def test_every_request_is_in_one_share_and_is_the_same_there(of: int) -> None:
    plan = RunPlan(
        BenchConfig(parse_lengths("20..90"), parse_lengths("5..9"), requests=17),
        "m",
        PromptCalibration(90, 128, "usage"),
    )
    whole = {request.index: request for request in measured_requests(plan, TARGET)}
    parts = [request for at in range(of) for request in measured_requests(plan, TARGET, Share(at, of))]
    assert len(parts) == len(whole) == 17
    assert {request.index: request for request in parts} == whole
    assert len({request.wire for request in parts}) == 17


def test_there_are_no_more_workers_than_work() -> None:
    def workers(**kwargs: int) -> int:
        config = BenchConfig(workers=4, arrivals=Arrivals(9.0), **{"concurrency": None, **kwargs})  # type: ignore[arg-type]
        return Job(RunPlan(config, "m", PromptCalibration(1, 1, "usage")), frozenset(range(2))).workers

    assert (workers(requests=50), workers(requests=50, concurrency=3), workers(requests=5)) == (4, 3, 3)
    assert workers(requests=2) == 1


@pytest.mark.parametrize("load", [("--concurrency", "6"), ("--rate", "300", "--concurrency", "4"), ("--rate", "200")])
def test_three_processes_make_one_run(tmp_path: Path, load: tuple[str, ...]) -> None:
    with in_thread(lambda number: answer(3)) as server:
        argv = ("--url", server.endpoint.base_url, "--requests", "40", "--workers", "3", "--warmup", "1", *load)
        done = subprocess.run(
            command(*argv, "--no-calibrate", "--out", str(tmp_path / "run"), "--json"),
            capture_output=True, timeout=120, check=False,
        )  # fmt: skip
        chats = server.chats
    assert done.returncode == 0, done.stderr
    document = orjson.loads(done.stdout)
    records = read_records(tmp_path / "run")
    assert [record.index for record in records] == list(range(40))
    assert (document["completed"], document["total_output_tokens"], chats) == (40, 120, 41)
    assert document["moonpad"]["client"]["workers"] == 3
    assert all(0.0 <= record.scheduled_s <= document["duration"] for record in records)
    if "--concurrency" in load:
        changes = sorted([(entry.started_s, 1) for entry in records] + [(entry.closed_s, -1) for entry in records])
        running = most = 0
        for _, change in changes:
            running += change
            most = max(most, running)
        assert most <= int(load[-1])
    if load == ("--rate", "200"):
        instants = Arrivals(200.0).instants_s(40, 0)
        assert [record.scheduled_s for record in records] == pytest.approx(instants, abs=1e-6)


def test_a_key_goes_to_the_workers_and_into_no_command_line(tmp_path: Path) -> None:
    """It is asked for while they run; a server that waits gives the time to look."""
    reached, seen, heads = threading.Event(), [], []
    slow: Script = [HEAD, 2.0, delta(content="a"), FINISH + usage(9, 1) + DONE]

    def script_of(number: int) -> Script:
        reached.set()
        return slow

    with in_thread(script_of) as server:
        heads = server.heads
        env = {**os.environ, "THE_KEY": "sk-secret"}
        argv = command("--url", server.endpoint.base_url, "--key-env", "THE_KEY", "--requests", "4", "--workers", "2")
        with subprocess.Popen(
            (*argv, "--warmup", "0", "--no-calibrate"), env=env, stdout=subprocess.DEVNULL
        ) as process:
            assert reached.wait(60)
            seen = [child.cmdline() for child in psutil.Process(process.pid).children(recursive=True)]
            assert process.wait(60) == 0
    assert len([line for line in seen if "moonpad.bench.worker" in line]) == 2
    assert "sk-secret" not in str(seen)
    assert Counter("Authorization: Bearer sk-secret" in head for head in heads)[True] >= 4


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_no_worker_outlives_the_run(how: signal.Signals) -> None:
    reached = threading.Event()

    def script_of(number: int) -> Script:
        reached.set()
        return [HEAD, 60.0]

    with in_thread(script_of) as server:
        argv = command("--url", server.endpoint.base_url, "--workers", "2", "--warmup", "0", "--no-calibrate")
        with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            assert reached.wait(60)
            workers = psutil.Process(process.pid).children()
            process.send_signal(how)
            process.wait(60)
        _, alive = psutil.wait_procs(workers, timeout=30)
    assert len(workers) == 2
    assert alive == []


def test_a_worker_that_dies_is_said_and_what_it_told_is_kept(tmp_path: Path) -> None:
    reached = threading.Event()

    def script_of(number: int) -> Script:
        if number < 10:
            return answer(2)
        reached.set()
        return [HEAD, 60.0]

    with in_thread(script_of) as server:
        argv = command(
            "--url", server.endpoint.base_url, "--workers", "2", "--warmup", "0", "--out", str(tmp_path / "run")
        )
        with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            assert reached.wait(60)
            while len((tmp_path / "run" / "requests.jsonl").read_bytes().splitlines()) < 10:
                pass
            victim = psutil.Process(process.pid).children()[0]
            victim.kill()
            _, stderr = process.communicate(timeout=60)
    assert process.returncode == 5
    assert b"a client process exited with code -9" in stderr
    assert b"Traceback" not in stderr
    assert len(read_records(tmp_path / "run")) == 10
