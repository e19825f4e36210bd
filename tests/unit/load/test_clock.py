"""Fault 45: the wall clock is for labels; what is measured is measured on one that never jumps."""

from __future__ import annotations

import ast
import itertools
import time
from pathlib import Path

import pytest

import moonpad
from moonpad.bench.config import BenchConfig
from moonpad.bench.run import measure
from moonpad.load.event_loop import run_in_loop
from tests.faults.streaming_server import answer, streaming_server

ROOT = Path(moonpad.__file__).parent
LABELS = {"datetime.now().astimezone().isoformat(timespec='seconds')"}
"""When a run began, for people."""


def wall_clocks(text: str) -> list[str]:
    """Calls that read the wall clock."""
    tree = ast.parse(text)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    actual = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("time.time", "datetime.now", "time.time_ns"):
            while isinstance(parents.get(node), ast.Attribute | ast.Call):
                node = parents[node]
            actual.append(ast.unparse(node))
    return actual


@pytest.mark.parametrize("folder", ["load", "bench", "observe", "stats"])
def test_no_module_reckons_with_the_wall_clock(folder: str) -> None:
    calls = {call for file in (ROOT / folder).rglob("*.py") for call in wall_clocks(file.read_text())}
    assert calls <= LABELS


def test_a_call_would_be_found() -> None:
    assert wall_clocks("import time\nbegun = time.time() - 5") == ["time.time()"]
    assert set(wall_clocks("x = datetime.now().astimezone().isoformat(timespec='seconds')")) == LABELS


def test_a_clock_that_jumps_by_an_hour_changes_no_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    real, jumps = time.time, itertools.cycle((3600.0, -3600.0, 0.0))
    monkeypatch.setattr(time, "time", lambda: real() + next(jumps))

    async def main() -> list[float]:
        async with streaming_server(lambda number: answer(5)) as server:
            config = BenchConfig(requests=20, concurrency=4, warmup=1, measure_client=False)
            result = await measure(server.endpoint, config)
            records = result.records
            return [
                result.metrics.duration_s,
                *(value for record in records for value in (record.e2el_s, record.slip_s)),
            ]

    values = run_in_loop(main())
    assert all(-0.01 <= value < 600.0 for value in values)  # a timer of the loop may be a millisecond early
