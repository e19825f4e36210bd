"""Pretended tools of drivers: a shell script that prints a recording."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

RECORDED = Path(__file__).parent / "recorded"


@pytest.fixture
def fake_tool(tmp_path: Path) -> Callable[..., str]:
    """Writes the tool `name` that prints a recording and ends with `code`; its path."""

    def make(name: str, recording: str, code: int = 0) -> str:
        return _script(tmp_path / "bin" / name, f"cat {RECORDED / recording}; exit {code}")

    return make


@pytest.fixture
def hanging_tool(tmp_path: Path) -> Callable[[str], str]:
    def make(name: str) -> str:
        return _script(tmp_path / "bin" / name, "sleep 300")

    return make


def _script(path: Path, body: str) -> str:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)
