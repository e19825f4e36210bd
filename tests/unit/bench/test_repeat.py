"""Several times the same: other prompts each time, and the figures by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from moonpad.bench.repeat import spreads_of
from moonpad.cli.command_line import run
from moonpad.report.bench_tables import repeat_table
from tests.faults.streaming_server import answer
from tests.unit.bench.test_run import in_thread


def test_the_middle_and_the_ends() -> None:
    documents = [
        {"output_throughput": value, "mean_ttft_ms": None, "p99_itl_ms": 0.0} for value in (90.0, 100.0, 115.0)
    ]
    rate, itl = spreads_of(documents)
    assert (rate.name, rate.median, rate.least, rate.most, rate.apart) == (
        "output_throughput",
        100.0,
        90.0,
        115.0,
        0.25,
    )
    assert (itl.name, itl.apart) == ("p99_itl_ms", None)
    lines = repeat_table([rate, itl]).splitlines()
    assert lines[2].split("|")[1:-1] == [" output_throughput ", " 100.00 ", " 90.00 ", " 115.00 ", " 25.0% "]
    assert len({len(line) for line in lines}) == 1


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with in_thread(lambda number: answer(3)) as server:
        argv = ["bench", "--url", server.endpoint.base_url, "--requests", "4", "--warmup", "0", "--no-calibrate"]
        assert run([*argv, "--repeat", "3", "--out", str(tmp_path / "r"), "--json"]) == 0
        actual = json.loads(capsys.readouterr().out)
        assert run([*argv, "--repeat", "1"]) == 2
        assert run([*argv, "--repeat", "2", "--sweep", "requests=1"]) == 2
        assert run([*argv, "--repeat", "2"]) == 0
    assert len({body["messages"][0]["content"] for body in server.bodies}) == 12  # two of its runs asked as before
    assert [entry["moonpad"]["seed"] for entry in actual["repeats"]] == [0, 1, 2]
    assert set(actual["spread"]) >= {"output_throughput", "p99_itl_ms"}
    assert sorted(path.name for path in (tmp_path / "r").iterdir()) == ["repeat.json", "run-1", "run-2", "run-3"]
    assert "| output_throughput" in capsys.readouterr().out
    assert run(["runs", str(tmp_path), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    assert (row["state"], row["completed"], row["num_prompts"]) == ("repeats", 12, 12)
    assert row["output_throughput"] == actual["spread"]["output_throughput"]["median"]
