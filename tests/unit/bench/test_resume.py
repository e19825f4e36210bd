"""Fault 38: a client that is killed at any time keeps every request that ended, and the rest is sent once."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import orjson
import pytest

from moonpad.bench.config import BenchConfig, Slo
from moonpad.bench.run_files import RunFiles
from moonpad.bench.run_header import RunPlan, read_plan
from moonpad.load.arrivals import Arrivals
from moonpad.load.failure import FailureKind, RequestFailure
from moonpad.load.lengths import parse_lengths
from moonpad.load.prompt_calibration import PromptCalibration
from moonpad.values.errors import UsageError
from moonpad.values.estimate import Estimate, Planned
from tests.faults.streaming_server import DONE, FINISH, HEAD, Script, delta, usage
from tests.unit.bench.records import read_records, record
from tests.unit.bench.test_run import command, in_thread

REQUESTS = 60
SLOW: Script = [HEAD, 0.01, delta(content="a"), 0.005, delta(content="b"), FINISH + usage(9, 2) + DONE]


@pytest.mark.parametrize(
    "config",
    [
        BenchConfig(),
        BenchConfig(concurrency=None, arrivals=Arrivals(4.0, "gamma", 0.5), slo=Slo(ttft_s=0.5), temperature=0.0),
        BenchConfig(concurrency=8, arrivals=Arrivals(math.inf)),
        BenchConfig(parse_lengths("64..128"), parse_lengths("@x", ["5", "7"])),
    ],
)
def test_a_plan_comes_back_as_it_was(tmp_path: Path, config: BenchConfig) -> None:
    planned = (Planned("kv_tokens", Estimate(100, 90, 120, "whole blocks"), 101.0), Planned("x", Estimate.exact(1, "")))
    plan = RunPlan(config, "kimi-k2", PromptCalibration(90, 128, "usage"), "http://127.0.0.1:1/v1", planned)
    files = RunFiles(tmp_path)
    files.begin(plan.as_json())
    files.close()
    assert read_plan(tmp_path) == plan


def test_records_come_back_without_the_torn_line(tmp_path: Path) -> None:
    records = (record(0), record(1, tokens_at_s=(), failure=RequestFailure(FailureKind.HTTP_STATUS, "busy", 503)))
    files = RunFiles(tmp_path)
    for entry in reversed(records):
        files.append(entry)
    files.close()
    with (tmp_path / "requests.jsonl").open("ab") as lines:
        lines.write(b'{"index": 2, "sch')
    assert read_records(tmp_path) == records
    again = RunFiles(tmp_path, resume=True)
    again.append(record(2))
    again.close()
    lines_ = (tmp_path / "requests.jsonl").read_bytes().splitlines()
    assert [orjson.loads(line)["index"] for line in lines_] == [1, 0, 2]


@pytest.mark.parametrize("text", [None, "", "{}", '{"config": {"speed": 1}, "model": "m", "calibration": {}}'])
def test_what_is_no_run(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "run.json").write_text(text)
    with pytest.raises(UsageError):
        read_plan(tmp_path)


@pytest.mark.parametrize("rate", [(), ("--rate", "400")], ids=["closed", "open"])
@pytest.mark.parametrize("trial", [0, *(pytest.param(trial, marks=pytest.mark.slow) for trial in range(1, 10))])
def test_killed_at_any_time(tmp_path: Path, trial: int, rate: tuple[str, ...]) -> None:
    """Twenty kills in all: after a number of requests, and a moment, that are drawn."""
    dice = Random(f"kill {trial} {rate}")
    kill_at, reached, requested = dice.randrange(8, REQUESTS - 10), threading.Event(), 0

    def script_of(number: int) -> Script:
        nonlocal requested
        requested += 1
        if requested == kill_at:
            reached.set()
        return SLOW

    folder = tmp_path / "run"
    with in_thread(script_of) as server:
        at = ("--url", server.endpoint.base_url, "--no-calibrate")
        more = ("--requests", str(REQUESTS), "--warmup", "0", "--out", str(folder), *rate)
        with subprocess.Popen(command(*at, *more), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
            assert reached.wait(30)
            threading.Event().wait(dice.uniform(0.0, 0.02))  # anywhere in a request
            os.kill(process.pid, signal.SIGKILL)
        saved = read_records(folder)
        before = requested
        done = subprocess.run(
            command(*at, "--resume", str(folder), "--json"), capture_output=True, timeout=60, check=False
        )
    assert done.returncode == 0, done.stderr
    assert not (folder / "result.json.part").exists()
    document = orjson.loads(done.stdout)
    assert requested - before == REQUESTS - len(saved)
    assert (document["completed"], document["moonpad"]["partial"]) == (REQUESTS, False)
    whole = read_records(folder)
    assert [entry.index for entry in whole] == list(range(REQUESTS))

    assert {entry.index: entry for entry in whole} | {entry.index: entry for entry in saved} == {
        entry.index: entry for entry in whole
    }
    later = [entry for entry in whole if entry.index not in {other.index for other in saved}]
    end_s = max((entry.closed_s for entry in saved), default=0.0)
    assert all(entry.scheduled_s >= end_s - 1e-6 for entry in later)


def begun_and_resumed(url: str, folder: Path) -> Iterator[dict[str, Any]]:
    """What five requests give, and then their `--resume`."""
    for words in (("--requests", "5", "--out", str(folder)), ("--resume", str(folder))):
        argv = command("--url", url, "--no-calibrate", *words, "--json")
        done = subprocess.run(argv, capture_output=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        yield orjson.loads(done.stdout)


def test_killed_between_its_last_request_and_its_result_a_run_has_lasted_as_long(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with in_thread(lambda number: SLOW) as server:
        documents = []
        for actual in begun_and_resumed(server.endpoint.base_url, folder):
            documents.append(actual)
            (folder / "result.json").unlink()
    document = documents[-1]
    assert document["duration"] == max(entry.closed_s for entry in read_records(folder))
    assert document["output_throughput"] > 0


def test_another_endpoint_does_not_end_a_run(tmp_path: Path) -> None:
    folder = tmp_path / "r"
    with in_thread(lambda number: SLOW) as first, in_thread(lambda number: SLOW) as second:
        begun = command("--url", first.endpoint.base_url, "--no-calibrate", "--requests", "3", "--out", str(folder))
        subprocess.run(begun, capture_output=True, timeout=60, check=True)
        on = command("--url", second.endpoint.base_url, "--resume", str(folder))
        refused = subprocess.run(on, capture_output=True, timeout=60, check=False)
    assert refused.returncode == 2
    assert first.endpoint.base_url in refused.stderr.decode()
    assert second.chats == 0


def test_nothing_is_left_to_send(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with in_thread(lambda number: SLOW) as server:
        at = server.endpoint.base_url
        assert [document["completed"] for document in begun_and_resumed(at, folder)] == [5, 5]
        both = command("--url", at, "--resume", str(folder), "--out", str(tmp_path))
        wrong = subprocess.run(both, capture_output=True, timeout=60, check=False)
    assert wrong.returncode == 2
