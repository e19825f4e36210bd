"""SGLang starts all ranks on the machine of the command, unless it is told of others."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

K2 = "sglang serve --model-path moonshotai/Kimi-K2-Instruct --trust-remote-code"


def told(text: str, on: str = "") -> list[str]:
    findings = [finding for judged in ask(text, on) for finding in judged.findings]
    return [finding.message for finding in findings if "all of them start on this one" in finding.message]


@pytest.mark.parametrize(
    "text",
    [
        f"# two nodes of 8x H200\n{K2} --tp 16\n",
        f"# GB300, 2x4\n{K2.replace('Instruct', 'Thinking')} --tp-size 8\n",
        f"# 16x H100\n{K2} --tp 8 --pp-size 2\n",
    ],
)
def test_more_ranks_than_one_machine_has(text: str) -> None:
    (message,) = told(text)
    assert "no --nnodes" in message


@pytest.mark.parametrize(
    "text",
    [
        f"# 8x H200\n{K2} --tp 8\n",
        f"# two nodes of 8x H200\n{K2} --tp 16 --nnodes 2 --node-rank 0 --dist-init-addr 10.0.0.1:5000\n",
        f"# two nodes of 8x H200; each adds --nnodes and its rank\n{K2} --tp 16\n",
        f"# 16x H200 in one machine\n{K2} --tp 16\n",
        f'# 2x8 H200\n{K2} --tp 16 "$@"\n',
        f"{K2} --tp 16\n",
        "# two nodes of 8x H200\nvllm serve moonshotai/Kimi-K2-Instruct -tp 16 --nnodes 2\n",
        f"srun -N 2 {K2} --tp 16  # 8x H200 each\n",
    ],
)
def test_what_says_how_they_are_joined_or_needs_no_more(text: str) -> None:
    assert told(text) == []


def test_nothing_better_is_built_upon_ranks_that_find_no_device() -> None:
    (judged,) = ask(f"# two nodes of 8x H200\n{K2} --tp 16 --mem-fraction-static 0.8\n")
    assert judged.better == ()
    assert any(each.stops for each in judged.remarks)
