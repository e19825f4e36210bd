"""Cards that people call by their numbers alone."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code
from tests.unit.explain.judging import ask, ask_one

SERVE = "vllm serve moonshotai/Kimi-Linear-48B-A3B-Instruct --trust-remote-code --tensor-parallel-size"


@pytest.mark.parametrize(
    ("said", "ranks", "expected"),
    [
        ("I run this on a 5090 and it ends at once.", 1, "1xRTX5090"),
        ("the GPU is 4090", 1, "1xRTX4090"),
        ("我的显卡是 4090D 48G", 1, "1xRTX4090-48G"),
        ("GPU: 3090", 4, "4xRTX3090"),
        ("四卡 4090 跑不起来", 4, "4xRTX4090"),
    ],
)
def test_number_of_a_card(said: str, ranks: int, expected: str) -> None:
    cluster = ask_one(f"{said}\n\n```bash\n{SERVE} {ranks}\n```\n", "").cluster
    assert cluster is not None
    assert cluster.name == expected


@pytest.mark.parametrize(
    "said",
    [
        "on a 4090 token prompt",
        "with a 5090-token context",
        "see issue 4090",
        "using a 3090 MB buffer",
        "with a 4090 Hz timer",
        "it listens on the 4090 port",
    ],
)
def test_other_numbers(said: str) -> None:
    assert ask_one(f"{said}\n\n```bash\n{SERVE} 1\n```\n", "").cluster is None


def test_layout_of_one_that_is_written_says_how_many() -> None:
    short = [each for one in ask(f"The GPU is an A6000.\n\n```bash\n{SERVE} 1\n```\n") for each in one.findings]
    assert Code.DOES_NOT_FIT in {each.code for each in short}
    (one,) = ask(f"The GPU is an A6000.\n\n```bash\n{SERVE.replace('--tensor-parallel-size', '')}\n```\n")
    assert "does not say how many it uses" in one.unjudged
