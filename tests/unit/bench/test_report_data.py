"""What a folder gives for its page, whole or as a kill has left it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from moonpad.bench.config import BenchConfig
from moonpad.bench.report_data import RunData, SweepData, read_report
from moonpad.cli.command_line import run
from moonpad.facts.device import DeviceUse
from moonpad.values.errors import UsageError
from tests.unit.bench.records import record
from tests.unit.report.runs import point, sample, write_run, write_sweep


def records(count: int) -> list:  # type: ignore[type-arg]
    return [record(index, scheduled_s=index, tokens_at_s=(index + 0.5, index + 1.0)) for index in range(count)]


def test_a_whole_run(tmp_path: Path) -> None:
    document = write_run(tmp_path / "a", records(5), samples=[sample(1.0, 2, None, 0.5), sample(0.5, 1, 0, 0.25)])
    data = read_report(tmp_path / "a")
    assert isinstance(data, RunData)
    assert data.document == document
    assert data.requests is not None
    assert data.requests.count == 5
    assert data.requests.latencies_ms["ttft"] == [(500.0, 5)]
    assert [dict(sample) for sample in data.samples] == [
        {"at_s": 0.5, "running": 1, "waiting": 0, "kv_usage": 0.25},
        {"at_s": 1.0, "running": 2, "kv_usage": 0.5},
    ]
    assert not data.killed


def test_a_killed_run_is_computed_from_what_it_kept(tmp_path: Path) -> None:
    whole = write_run(tmp_path / "whole", records(5), config=BenchConfig(requests=5))
    write_run(tmp_path / "a", records(5), config=BenchConfig(requests=12), killed=True)
    file = tmp_path / "a" / "requests.jsonl"
    file.write_bytes(file.read_bytes() + file.read_bytes().splitlines()[0][:90])
    data = read_report(tmp_path / "a")
    assert isinstance(data, RunData)
    assert data.killed
    assert data.document["moonpad"]["partial"] is True
    assert data.document["moonpad"]["client"] is None
    assert (data.document["completed"], data.document["num_prompts"]) == (5, 12)
    for name in ("output_throughput", "mean_ttft_ms", "p99_e2el_ms", "median_itl_ms"):
        assert data.document[name] == pytest.approx(whole[name])
    assert data.samples == ()


def test_what_was_seen_beside_the_requests_of_a_killed_run_is_there(tmp_path: Path) -> None:
    uses = (DeviceUse(0, 300.0, 0.5, 10), DeviceUse(1, 500.0, None, 30))
    seen = [sample(1.0, 2, 0, 0.5), sample(2.0, 4, 0, 0.25)]
    write_run(tmp_path / "a", records(2), killed=True, samples=seen, uses=[(3.0, uses), (1.0, uses[:1])])
    data = read_report(tmp_path / "a")
    assert isinstance(data, RunData)
    assert data.document["moonpad"]["server"]["running"] == {"median": 3.0, "max": 4.0}
    assert data.devices == (
        {"at_s": 1.0, "power_w": 300.0, "busy": 0.5},
        {"at_s": 3.0, "power_w": 800.0, "busy": 0.5},
    )


def test_torn_samples_are_left_out(tmp_path: Path) -> None:
    write_run(tmp_path / "a", records(2), samples=[sample(1.0, 2, 0, 0.5)])
    with (tmp_path / "a" / "server.jsonl").open("a") as file:
        file.write('[]\n{"at_s": "x"}\n{"at_s": 2.0, "run')
    (tmp_path / "a" / "devices.jsonl").write_text('1\n{"at_s": 1, "devices": 3}\n{"at_s": 2, "devices": [4]}\n{"at')
    data = read_report(tmp_path / "a")
    assert isinstance(data, RunData)
    assert [sample["at_s"] for sample in data.samples] == [1.0]
    assert data.devices == ({"at_s": 2.0},)


def test_a_broken_run_json_costs_the_configuration_alone(tmp_path: Path) -> None:
    write_run(tmp_path / "a", records(2))
    (tmp_path / "a" / "run.json").write_text("{")
    data = read_report(tmp_path / "a")
    assert isinstance(data, RunData)
    assert data.config is None


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", "null", '{"output_throughput": 1', '\x00{"output_throughput": 1}']
)
def test_a_result_that_is_none_is_said(tmp_path: Path, text: str) -> None:
    write_run(tmp_path / "a", records(2))
    (tmp_path / "a" / "result.json").write_text(text)
    with pytest.raises(UsageError, match=r"result\.json is not a benchmark result"):
        read_report(tmp_path / "a")


@pytest.mark.parametrize(("name", "value"), [("ended_s", "x"), ("ended_s", 1e300), ("output_tokens", None)])
def test_a_row_that_is_no_request_is_said(tmp_path: Path, name: str, value: object) -> None:
    write_run(tmp_path / "a", records(2))
    file = tmp_path / "a" / "requests.jsonl"
    row = json.loads(file.read_text().splitlines()[0])
    file.write_text(json.dumps({**row, name: value}) + "\n")
    with pytest.raises(UsageError, match="not a request"):
        read_report(tmp_path / "a")


def test_what_is_neither_a_run_nor_a_sweep(tmp_path: Path) -> None:
    for path, why in ((tmp_path, "neither"), (tmp_path / "none", "does not exist"), (Path(__file__), "is a file")):
        with pytest.raises(UsageError, match=why):
            read_report(path)


def test_a_sweep(tmp_path: Path) -> None:
    write_sweep(tmp_path / "s", [point(2, 50.0, 1.0, 1.0), point(1, 30.0, 1.0, 1.0)])
    data = read_report(tmp_path / "s")
    assert isinstance(data, SweepData)
    assert [point.load for point in data.points] == [1, 2]
    assert not data.cut


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"over": "concurrency", "points": []}',
        '{"over": "concurrency", "points": [{"load": 1}]}',
        '{"over": "concurrency", "points": [{"load": 0, "output_throughput": 1}]}',
        '{"over": "concurrency", "points": [3]}',
        '{"over": 1, "points": [{"load": 1, "output_throughput": 1}]}',
        '{"over": "concurrency", "points": [{"load": 1, "output_throughput": 1}, '
        '{"load": 2, "output_throughput": 1, "mean_ttft_ms": "x", "moonpad": 3}]}',
    ],
)
def test_a_sweep_that_is_none_is_said(tmp_path: Path, text: str) -> None:
    (tmp_path / "sweep.json").write_text(text)
    with pytest.raises(UsageError):
        read_report(tmp_path)


def test_a_sweep_that_was_cut_has_the_points_that_are_whole(tmp_path: Path) -> None:
    for load in (1, 2, 4):
        write_run(tmp_path / f"concurrency-{load}", records(3), killed=load == 4)
    data = read_report(tmp_path)
    assert isinstance(data, SweepData)
    assert data.cut
    assert [point.load for point in data.points] == [1, 2]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(tmp_path / "a", records(3))
    write_sweep(tmp_path / "s", [point(1, 30.0, 1.0, 1.0), point(2, 50.0, 1.0, 1.0)])
    assert run(["report", str(tmp_path / "a")]) == 0
    page = tmp_path / "a" / "report.html"
    assert page.read_text().startswith("<!doctype html>")
    assert page.stat().st_mode & 0o777 == 0o644
    assert f"Next: moonpad compare {tmp_path / 'a'}" in capsys.readouterr().err
    other = tmp_path / "new" / "x.html"
    assert run(["report", str(tmp_path / "s"), "--out", str(other), "--devices", "8", "--json"]) == 0
    output = capsys.readouterr()
    assert json.loads(output.out) == {"written": str(other)}
    assert "8 devices are assumed" in other.read_text()
    assert f"{tmp_path / 's'}/concurrency-1 {tmp_path / 's'}/concurrency-2" in output.err
    write_run(tmp_path / "cut" / "concurrency-1", records(3))
    assert run(["report", str(tmp_path / "cut")]) == 0
    assert "it measures the loads that are missing" in capsys.readouterr().err


@pytest.mark.parametrize(
    "argv", [["report", "none"], ["report", "a", "--devices", "0"], ["report", "a", "--out", "a"], ["report"]]
)
def test_bad_input_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], argv: list[str]
) -> None:
    write_run(tmp_path / "a", records(1))
    monkeypatch.chdir(tmp_path)
    assert run(argv) == 2
    assert "Traceback" not in capsys.readouterr().err
    assert not (tmp_path / "a" / "report.html").exists()
