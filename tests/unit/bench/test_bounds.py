"""Numbers beyond any measurement are refused before they cost memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from moonpad.bench.config import BenchConfig
from moonpad.bench.saved_records import BAD_LINES, SavedRecords
from moonpad.bench.sweep import parse_sweep
from moonpad.load.arrivals import Arrivals
from moonpad.load.workloads.workload import Workload
from moonpad.values.errors import UsageError


@pytest.mark.parametrize(
    ("make", "field", "value"),
    [
        (BenchConfig, "requests", 2**63),
        pytest.param(BenchConfig, "requests", 10**5000, id="digits"),
        (BenchConfig, "workers", 10**6),
        (BenchConfig, "concurrency", 10**9),
        (BenchConfig, "warmup", 10**12),
        (BenchConfig, "seed", 2**64),
        (BenchConfig, "temperature", float("nan")),
        (BenchConfig, "temperature", float("inf")),
        (BenchConfig, "temperature", -1.0),
        (Workload, "prefix_tokens", 2**40),
        (Workload, "prefixes", 2**40),
        (Workload, "speed", 1e-300),
        (Arrivals, "rate", 1e-300),
        (Arrivals, "rate", float("nan")),
    ],
)
def test_a_number_beyond_its_bounds(make: Callable[..., Any], field: str, value: float) -> None:
    arguments = {field: value} if make is not Arrivals else {"rate": value}
    with pytest.raises(UsageError, match=f"--{field.replace('_', '-')} must be") as refused:
        make(**arguments)
    assert len(refused.value.message) < 200


@pytest.mark.parametrize("text", ["requests=" + "9" * 5000, "concurrency=1,99999999", "requests=\u0663"])
def test_a_load_beyond_its_bounds(text: str) -> None:
    with pytest.raises(UsageError, match="is not a list of loads"):
        parse_sweep(text, 10)


def test_a_file_of_something_else_is_not_read_to_its_end(tmp_path: Path) -> None:
    file = tmp_path / "requests.jsonl"
    file.write_bytes(b"x\n" * BAD_LINES)
    assert len(SavedRecords(file)) == 0
    file.write_bytes(b"x\n" * (BAD_LINES + 1))
    with pytest.raises(UsageError, match="is not a list of requests"):
        SavedRecords(file)
