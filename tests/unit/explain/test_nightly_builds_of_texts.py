"""A text that installs or pulls a nightly build names no release, and says so much."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask_one

SERVE = "vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 16 --trust-remote-code"


def because(before: str, behind: str = "") -> str:
    return ask_one(f"```bash\n{before}\n{SERVE}\n```\n\n{behind}\n", on="2x8xH200").version_because


@pytest.mark.parametrize(
    "line",
    [
        "uv pip install -U vllm --extra-index-url https://wheels.vllm.ai/nightly --prerelease=allow",
        "docker pull rocm/vllm-dev:nightly",
        "docker pull vllm/vllm-openai:nightly",
    ],
)
def test_a_nightly_build(line: str) -> None:
    assert because(line) == "none is named, and the text takes nightly builds: judged by the newest"
    assert "nightly" not in because("true", f"Later: {line}")


@pytest.mark.parametrize("line", ["pip install torch --pre", "pip install -U vllm", "# nightly tests run here"])
def test_no_build_of_the_engine(line: str) -> None:
    assert because(line) == "none is named: judged by the newest"


def test_a_release_goes_before() -> None:
    assert because("docker pull vllm/vllm-openai:nightly\npip install vllm==0.20.0") == "the text names vllm 0.20.0"
