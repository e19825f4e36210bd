from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from moonpad.cli import output
from tests.unit.evaluate.sums import COUNT


@pytest.fixture(autouse=True)
def _own_consoles() -> None:
    output.out.cache_clear()
    output.err.cache_clear()


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """The n-th asks for n + n: with an exact answer, and every fifth with a regex."""
    rows: list[dict[str, Any]] = []
    for number in range(COUNT):
        row: dict[str, Any] = {"question": f"What is {number} + {number}?"}
        rows.append({**row, "regex": rf"\b({2 * number})\b"} if number % 5 == 0 else {**row, "answer": str(2 * number)})
    path = tmp_path / "sums.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path
