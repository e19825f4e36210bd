"""A machine that a guide names for its model, without a command for it."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

COMMAND = "```bash\nvllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 16\n```\n"


def named(text: str) -> list[str]:
    return [
        finding.where for one in ask(text) for finding in one.findings if " GiB: the weights of " in finding.message
    ]


def test_the_smaller_of_two_machines() -> None:
    text = f"## Start\n\n{COMMAND}\n## Machines\n\n**128K**: 16x H200 or 16x H20\n\n**32K**: 8x H100 (80GB each)\n"
    assert named(text) == ["8xH100"]


@pytest.mark.parametrize(
    "text",
    [
        f"16x H200 or 16x H20\n\n{COMMAND}",
        f"16x H200, or with GGUF 2x H100\n\n16x H20\n\n{COMMAND}",
        f"16x H200 or 16x H20; 8x H100 cannot hold it\n\n{COMMAND}",
        f"16x H200 or 8x H100\n\n{COMMAND}\n```bash\nvllm serve moonshotai/Kimi-Linear-48B-A3B-Instruct\n```\n",
    ],
)
def test_machines_that_are_enough_or_for_something_else(text: str) -> None:
    assert not named(text)
