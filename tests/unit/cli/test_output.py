"""Tables in a pipe: each row is one line, however long its texts are."""

from __future__ import annotations

from pathlib import Path

import pytest

from moonpad.bench.run_listing import ListedRun
from moonpad.cli.command_line import run
from moonpad.cli.output import out
from moonpad.report.runs_table import runs_table

MODEL = "moonshotai/Kimi-K2-Thinking-" + "quantised-" * 20
LOAD = "4 users; " + "random " * 20


def test_a_row_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    row = ListedRun(Path("/runs/a"), "whole", "", MODEL, "", LOAD, 4, {"completed": 4.0} | dict.fromkeys(FIGURES, 1.0))
    out().print(runs_table([row]))
    head, line = capsys.readouterr().out.splitlines()
    assert head.split()[0] == "name"
    assert MODEL in line
    assert LOAD.strip() in line


FIGURES = ("failed", "duration", "output_throughput", "median_ttft_ms", "p99_ttft_ms", "mean_tpot_ms")


@pytest.mark.parametrize("part", ["models", "hardware", "engines", "calibrations"])
def test_the_catalogue_in_a_pipe_has_a_whole_row_on_each_line(part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["catalog", part]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert not [line for line in lines if line.startswith("     ")], "the rest of a cell on a line of its own"
