"""A task that may get one of several kinds of machines: each has to take the weights."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

TASK = """\
name: r1
resources:
  accelerators: {kinds}
num_nodes: 2
setup: |
  pip install "sglang[all]==0.4.6.post5"
run: |
  python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1 --tp-size 16 --nnodes 2 \\
    --node-rank ${{SKYPILOT_NODE_RANK}} --dist-init-addr 192.0.2.1:5000
"""


@pytest.mark.parametrize(
    ("kinds", "told"),
    [
        ("{H200: 8, A100-80GB: 8}", "2x8xA100"),
        ("{H100: 8, H200: 8, A100-80GB: 8}", "2x8xA100"),
        ("{H200: 8, B200: 8}", ""),
        ("{H200: 8}", ""),
    ],
)
def test_the_others_of_the_list(kinds: str, told: str) -> None:
    findings = [finding for judged in ask(TASK.format(kinds=kinds)) for finding in judged.findings]
    found = [finding for finding in findings if finding.where == "accelerators"]
    assert bool(found) == bool(told)
    assert all(told in finding.message for finding in found)


def test_devices_that_are_asked_for_go_before_the_list() -> None:
    text = TASK.format(kinds="{H200: 8, A100-80GB: 8}")
    assert not [each for judged in ask(text, on="2x8xH200") for each in judged.findings if each.where == "accelerators"]
