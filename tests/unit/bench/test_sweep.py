"""A sweep: which requests at each load, what is not measured again, what a killed point leaves, and its table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import orjson
import pytest

from moonpad.bench.config import BenchConfig
from moonpad.bench.run_header import RunPlan
from moonpad.bench.sweep import Point, SweepResult, parse_sweep, run_sweep
from moonpad.cli.command_line import run
from moonpad.load.prompt_calibration import PromptCalibration
from moonpad.report.bench_tables import knee_notes, sweep_table
from moonpad.store.result_folders import benches_folder
from moonpad.values.errors import UsageError
from moonpad.values.records import replace
from tests.faults.streaming_server import answer, streaming_server
from tests.threaded import served_by_thread
from tests.unit.bench.test_run import in_thread

CONFIG = BenchConfig(seed=3)
URL = "http://127.0.0.1:8000/v1"


def document(config: BenchConfig, *, partial: bool = False) -> dict[str, Any]:
    ours = {
        "seed": config.seed,
        "partial": partial,
        "input_tokens": {"requested": config.input_tokens},
        "output_tokens": {"requested": config.output_tokens},
    }
    figures = {"output_throughput": 10.0, "completed": config.requests, "duration": 2.0}
    return {"num_prompts": config.requests, "max_concurrency": config.concurrency, **figures, "moonpad": ours}


class Measured:
    """Writes a result as a run does, and counts."""

    def __init__(self) -> None:
        self.loads: list[tuple[int | None, int]] = []
        self.resumed: list[bool] = []

    def __call__(self, config: BenchConfig, place: Path | None, *, resume: bool) -> dict[str, Any]:
        assert place is not None
        self.loads.append((config.concurrency, config.requests))
        folder, actual = place, document(config)
        self.resumed.append(resume)
        folder.mkdir(parents=True, exist_ok=resume)
        plan = RunPlan(config, "kimi-k2", PromptCalibration(90, 128, "usage"), URL)
        (folder / "run.json").write_bytes(orjson.dumps(plan.as_json()))
        (folder / "result.json").write_text(json.dumps(actual))
        return actual


def test_requests_of_each_load(tmp_path: Path) -> None:
    measured = Measured()
    list(run_sweep(parse_sweep("concurrency=4,1,2", 10), CONFIG, URL, tmp_path / "a", measured))
    list(run_sweep(parse_sweep("requests=1,16", 10), CONFIG, URL, tmp_path / "b", measured))
    assert measured.loads == [(1, 10), (2, 20), (4, 40), (1, 1), (16, 16)]


def test_what_was_measured_is_read(tmp_path: Path) -> None:
    sweep, measured = parse_sweep("concurrency=1,2,4", 2), Measured()
    list(run_sweep(sweep, CONFIG, URL, tmp_path, measured))
    (tmp_path / "concurrency-2" / "result.json").write_text(json.dumps(document(CONFIG, partial=True)))
    (tmp_path / "concurrency-4" / "result.json").write_text("{")
    points = list(run_sweep(sweep, CONFIG, URL, tmp_path, measured))
    assert [(point.load, point.read) for point in points] == [(1, True), (2, False), (4, False)]
    assert measured.resumed == [False] * 3 + [True] * 2
    assert {path.name for path in tmp_path.iterdir()} == {f"concurrency-{load}" for load in (1, 2, 4)}
    quietly = replace(CONFIG, measure_client=False)
    assert all(point.read for point in run_sweep(sweep, quietly, URL, tmp_path, measured))


def test_what_is_of_another_configuration_is_kept_aside(tmp_path: Path) -> None:
    sweep, measured = parse_sweep("concurrency=1,2", 2), Measured()
    list(run_sweep(sweep, CONFIG, URL, tmp_path, measured))
    (tmp_path / "concurrency-2" / "run.json").unlink()
    other = BenchConfig(seed=4)
    assert not any(point.read for point in run_sweep(sweep, other, URL, tmp_path, measured))
    assert measured.resumed == [False] * 4
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"concurrency-1", "concurrency-2", "concurrency-1.before-1", "concurrency-2.before-1"}


def test_what_was_measured_at_another_endpoint_is_kept_aside(tmp_path: Path) -> None:
    sweep, measured = parse_sweep("concurrency=1,2", 2), Measured()
    list(run_sweep(sweep, CONFIG, URL, tmp_path, measured))
    assert not any(point.read for point in run_sweep(sweep, CONFIG, "http://other:8000/v1", tmp_path, measured))
    assert {path.name for path in tmp_path.glob("*.before-1")} == {"concurrency-1.before-1", "concurrency-2.before-1"}


def test_without_a_folder_all_is_measured_and_nothing_read() -> None:
    places: list[Path | None] = []

    def measure(config: BenchConfig, place: Path | None, *, resume: bool) -> dict[str, Any]:
        places.append(place)
        assert not resume
        return document(config)

    points = list(run_sweep(parse_sweep("concurrency=1,2", 2), CONFIG, URL, None, measure))
    assert places == [None, None]
    assert [(point.load, point.read) for point in points] == [(1, False), (2, False)]


def test_a_point_that_was_cut_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of the second point three requests are left, and no result: the server is asked for the other three."""
    with in_thread(lambda number: answer(3)) as server:
        argv = ["bench", "--url", server.endpoint.base_url, "--sweep", "concurrency=1,2", "--requests-per-stream", "3"]
        options = ["--out", str(tmp_path), "--no-calibrate", "--warmup", "0"]
        assert run([*argv, *options]) == 0
        point = tmp_path / "concurrency-2"
        lines = (point / "requests.jsonl").read_bytes().splitlines(keepends=True)
        (point / "requests.jsonl").write_bytes(b"".join(lines[:3]) + lines[3][:20])
        (point / "result.json").unlink()
        before = server.chats
        assert run([*argv, *options]) == 0
        assert server.chats - before == 3
    assert "6 requests, resumed" in capsys.readouterr().err
    assert json.loads((point / "result.json").read_text())["completed"] == 6


@pytest.mark.parametrize(
    "text", ["", "concurrency", "concurrency=", "concurrency=0", "concurrency=1,x", "concurrency=1,1", "speed=1"]
)
def test_what_is_no_sweep(text: str) -> None:
    with pytest.raises(UsageError):
        parse_sweep(text, 10)


def test_the_table_has_seed_2s_columns() -> None:
    figures = {
        "duration": 595.07,
        "request_throughput": 0.02,
        "output_throughput": 17.21,
        "total_token_throughput": 34.8,
    }
    row = {"num_prompts": 10, "completed": 10, **figures, "mean_ttft_ms": 473.71, "p99_ttft_ms": 712.49}
    lines = sweep_table(SweepResult(parse_sweep("concurrency=1", 10), (Point(1, row, read=True),))).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert cells[0] == [
        "max concurrency", "prompts", "success", "duration (s)", "request throughput (req/s)",
        "output throughput (tok/s)", "total throughput (tok/s)", "mean TTFT (ms)", "P99 TTFT (ms)", "mean TPOT (ms)",
    ]  # fmt: skip
    assert cells[2] == ["1", "10", "10 / 10", "595.07", "0.02", "17.21", "34.80", "473.71", "712.49", "not reported"]


def test_no_knee_is_said() -> None:
    assert knee_notes(None, (1, 8)) == ["no knee up to 8: each step still pays; try higher loads"]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with served_by_thread(lambda: streaming_server(lambda number: answer(3))) as url:
        argv = ["bench", "--url", url, "--sweep", "concurrency=1,2", "--requests-per-stream", "3"]
        assert run([*argv, "--out", str(tmp_path / "s"), "--no-calibrate"]) == 0
        first = capsys.readouterr()
        assert run([*argv, "--out", str(tmp_path / "s"), "--no-calibrate", "--json"]) == 0
        again = capsys.readouterr()
        assert run([*argv, "--no-calibrate"]) == 0
        elsewhere = capsys.readouterr()
    assert "max concurrency" in first.out
    assert "3 / 3" in first.out
    assert "6 / 6" in first.out
    assert again.err.count("already measured") == 2
    assert elsewhere.err.count("already measured") == 0
    assert f"written: {benches_folder()}" in elsewhere.err
    actual = json.loads(again.out)
    assert [point["completed"] for point in actual["points"]] == [3, 6]
    assert json.loads((tmp_path / "s" / "sweep.json").read_text()) == actual
    assert (tmp_path / "s" / "sweep.md").read_text().startswith("| max concurrency |")
