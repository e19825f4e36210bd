"""The command that `moonpad bench` ends with: the same measurement at twice the load, with this run's own options."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from moonpad.bench.config import BenchConfig, Slo
from moonpad.bench.run_files import RunFiles
from moonpad.bench.run_header import RunPlan
from moonpad.cli.bench_options import doubled, option_words
from moonpad.cli.command_line import run
from moonpad.load.arrivals import Arrivals
from moonpad.load.lengths import parse_lengths
from moonpad.load.prompt_calibration import PromptCalibration
from moonpad.load.workloads.workload import Workload
from moonpad.values.errors import ContactLost
from tests.faults.streaming_server import StreamingServer, answer
from tests.unit.bench.test_run import in_thread

CONFIGS = [
    BenchConfig(concurrency=3, requests=5, input_tokens=9, output_tokens=7, warmup=0, measure_client=False, seed=4),
    BenchConfig(concurrency=None, arrivals=Arrivals(4.5, "gamma", 0.5), slo=Slo(ttft_s=0.5, e2el_s=20.0), workers=2),
    BenchConfig(concurrency=8, arrivals=Arrivals(math.inf), temperature=0.0, ignore_eos=True),
    BenchConfig(parse_lengths("64..128"), parse_lengths("lognormal:512,0.6"), api="completions"),
    BenchConfig(workload=Workload("agent", turns=6, tool_tokens=32)),
    BenchConfig(workload=Workload("random", prefix_tokens=100, prefixes=3)),
]


@pytest.fixture
def server() -> Iterator[StreamingServer]:
    with in_thread(lambda number: answer(3)) as served:
        yield served


@pytest.mark.parametrize("config", CONFIGS)
def test_the_options_give_the_same_configuration_again(config: BenchConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[BenchConfig] = []

    def run_bench(endpoint: object, config: BenchConfig, **_: Any) -> None:
        given.append(config)
        raise ContactLost("the configuration is enough")

    monkeypatch.setattr("moonpad.cli.bench_run.run_bench", run_bench)
    assert run(["bench", "--url", "http://127.0.0.1:1/v1", *option_words(config)]) == 6
    assert given == [config]


def test_twice_the_load() -> None:
    assert option_words(doubled(BenchConfig())) == ["--concurrency", "8", "--requests", "64"]
    assert option_words(doubled(CONFIGS[1]))[:2] == ["--rate", "9"]
    trace = BenchConfig(output_tokens=None, workload=Workload("trace", file="/t.jsonl"), concurrency=None)
    assert option_words(doubled(trace))[:6] == ["--dataset", "trace:/t.jsonl", "--speed", "2", "--requests", "32"]


def test_a_resumed_run_names_its_own_options(
    server: StreamingServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url, folder = server.endpoint.base_url, tmp_path / "run"
    files = RunFiles(folder)
    files.begin(RunPlan(CONFIGS[0], "kimi-k2", PromptCalibration(9, 9, "usage"), url).as_json())
    files.close()
    assert run(["bench", "--url", url, "--resume", str(folder)]) == 0
    last = capsys.readouterr().err.splitlines()[-1]
    options = "--input-tokens 9 --output-tokens 7 --concurrency 6 --requests 10 --warmup 0 --seed 4 --no-calibrate"
    assert last == f"Next: moonpad bench --url {url} {options}"
