"""Errors in a text: those that an engine had are named with their cause; what a guide says of errors is none."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question
from moonpad.values.finding import Code

SERVE = "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --pipeline-parallel-size 2 --trust-remote-code"
PIPELINE = "KeyError: 'language_model.model.layers.30.self_attn.attn' [repeated 49x across cluster]"
REPORTS = [
    f"```bash\n{SERVE}\n```\n\nIt fails with **{PIPELINE}** after loading.\n",
    f"```bash\n{SERVE}\n```\n\n报错：{PIPELINE}\n",
    f"{SERVE}\n{PIPELINE}\n",
    f"# [Bug]: {PIPELINE}\n\n```\n{SERVE}\n```\n",
    f"I run\n```\n{SERVE}\n```\nI can see:\n```\n(Worker pid=4) ERROR 03-24 15:39:40 [a.py:74] {PIPELINE}\n```\n",
    f'{SERVE}\nTraceback (most recent call last):\n  File "x.py", line 3, in f\n    raise KeyError(\n{PIPELINE}\n',
]
GUIDES = [
    f"```bash\n{SERVE}\n```\n\n## Troubleshooting\n\n```\n{PIPELINE}\n```\n",
    f"```bash\n{SERVE}\n```\n\nIf you see this error:\n\n```\n{PIPELINE}\n```\n\ntake another release.\n",
    f"```bash\n{SERVE}\n```\n\nYou may get `{PIPELINE}`.\n",
    f"```bash\n{SERVE}\n```\n\n- `{PIPELINE}`: take another release\n",
    f"```bash\n{SERVE}\n```\n\n| {PIPELINE} | take another release |\n",
    f'{SERVE} 2>&1 | tee log\nif grep -q "{PIPELINE}" log; then echo "{PIPELINE}"; fi\n',
    f"{SERVE}\n# {PIPELINE}\n",
]


def failures(text: str) -> list[list[str]]:
    judged = judge(read_script(text), Question())
    return [
        [finding.where for finding in each.findings if finding.code is Code.LOGGED_FAILURE]
        for each in judged
        if each.layout is not None
    ]


@pytest.mark.parametrize("text", REPORTS)
def test_a_reported_error_has_its_line_and_cause(text: str) -> None:
    number = next(number for number, line in enumerate(text.split("\n"), 1) if PIPELINE in line)
    assert failures(text) == [[f"line {number}"]]


@pytest.mark.parametrize("text", GUIDES)
def test_a_guide_has_not_had_the_error(text: str) -> None:
    assert failures(text) == [[]]


def test_an_error_is_that_of_the_command_above() -> None:
    other = "python -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp 8"
    assert failures(f"{other}\n{SERVE}\n{PIPELINE}\n") == [[], ["line 3"]]


def test_the_remedy_names_flags_of_the_engine() -> None:
    text = f"{SERVE}\nERROR 11-18 18:07:28 engine.py:366] ValueError: No available memory for the cache blocks.\n"
    (judged,) = judge(read_script(text), Question())
    remedy = next(finding.remedy for finding in judged.findings if finding.code is Code.LOGGED_FAILURE)
    assert remedy.startswith("raise --gpu-memory-utilization, lower --max-num-batched-tokens")


def test_many_error_lines_cost_no_more_than_a_second() -> None:
    line = "(Worker pid=4) ERROR 03-24 15:39:40 [core.py:74] RuntimeError: CUDA error: failed " + "x" * 200
    assert failures(SERVE + "\n" + "\n".join([line] * 3_000)) == [["line 2"]]
