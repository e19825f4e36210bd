"""`python -m` with a package that has no `__main__.py`: the interpreter's own refusal is the oracle."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.explain.judging import ask

OPTIONS = "moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --trust-remote-code"


def _corrected(text: str) -> tuple[str, ...]:
    (one,) = ask(text)
    assert one.corrected is not None
    return one.corrected[0].argv


def _refusals(text: str) -> list[str]:
    return [str(each.severity) for one in ask(text) for each in one.findings if "__main__" in each.message]


def test_the_interpreter_refuses_such_a_package(tmp_path: Path) -> None:
    (tmp_path / "served").mkdir()
    (tmp_path / "served" / "__init__.py").write_text("")
    ended = subprocess.run(
        [sys.executable, "-m", "served", "serve"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert "cannot be directly executed" in ended.stderr


@pytest.mark.parametrize("python", ["python3", "nohup python3", "/opt/venv/bin/python3.12"])
def test_it_is_an_error(python: str) -> None:
    assert _refusals(f"{python} -m vllm serve {OPTIONS}") == ["error"]


def test_the_program_is_started_instead() -> None:
    assert _corrected(f"python3 -m vllm serve {OPTIONS}")[:3] == ("vllm", "serve", "moonshotai/Kimi-K2.5")


def test_the_python_of_an_environment_is_kept() -> None:
    argv = _corrected(f"/opt/venv/bin/python3.12 -m vllm serve {OPTIONS}")
    assert argv[:4] == ("/opt/venv/bin/python3.12", "-m", "vllm.entrypoints.cli.main", "serve")


def test_a_container_runs_the_module() -> None:
    argv = _corrected(f"docker run --gpus all --entrypoint python3 vllm/vllm-openai:v0.25.0 -m vllm serve {OPTIONS}")
    at = argv.index("vllm/vllm-openai:v0.25.0")
    assert argv[at + 1 : at + 4] == ("-m", "vllm.entrypoints.cli.main", "serve")


@pytest.mark.parametrize(
    "start",
    [
        f"vllm serve {OPTIONS}",
        f"python3 -m vllm.entrypoints.cli.main serve {OPTIONS}",
        f"python3 .venv/bin/vllm serve {OPTIONS}",
    ],
)
def test_other_starts_are_left_alone(start: str) -> None:
    assert _refusals(start) == []


def test_what_a_log_shows_to_run_is_left_alone() -> None:
    assert _refusals(f"The log:\n\n2026-07-01 INFO start: python -m vllm serve {OPTIONS}\n") == []
