"""No engine is named outside of engines, catalogue and tests: what is true of one stands with it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import moonpad
from moonpad.engines import ENGINES
from tests.unit.explain.test_engine_facts import names, strings

SOURCE = Path(moonpad.__file__).parent
FOLDERS = (
    *(
        "plan",
        "explain",
        "verify",
        "report",
        "bench",
        "cli",
        "render",
        "spec",
        "environments",
        "facts",
        "observe",
        "load",
    ),
    *("store", "stats", "checkpoints"),
)
TITLES = {engine.facts.title for engine in ENGINES.values()}
FILES = sorted(path for folder in FOLDERS for path in (SOURCE / folder).rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_engine_is_named(path: Path) -> None:
    words = "|".join(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])" for name in names() | TITLES)
    assert [text for text in strings(path) if re.search(words, text, re.IGNORECASE)] == []


def test_a_named_engine_would_be_found(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text('"""vLLM in a docstring."""\nA = "take vLLM or sglang-cpu"\n')
    assert list(strings(path)) == ["take vLLM or sglang-cpu"]
