"""Headings that speak of more devices than the command under them uses."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question

SERVE = "vllm serve moonshotai/Kimi-K2-Thinking -tp 8 --trust-remote-code"


def said(heading: str, command: str = SERVE, above: str = "") -> list[str]:
    text = f"# Guide\n\n## {heading}\n\n{above}```bash\n{command}\n```\n"
    findings = [finding for each in judge(read_script(text), Question()) for finding in each.findings]
    return [f"{each.message} {each.remedy}" for each in findings if "uses no others" in each.message]


@pytest.mark.parametrize(
    ("heading", "count"),
    [("Large (32 GPUs, 4 nodes)", 4), ("64 NPUs", 8), ("生产（16 卡，2 节点）", 2), ("16x GPU", 2)],
)
def test_more_devices_than_ranks(heading: str, count: int) -> None:
    (only,) = said(heading)
    assert f"--data-parallel-size {count}" in only


@pytest.mark.parametrize(
    ("heading", "command"),
    [
        ("One machine (8 GPUs)", SERVE),
        ("Two machines (16 GPUs)", f"{SERVE} -pp 2"),
        ("Four machines (32 GPUs)", f"{SERVE} --data-parallel-size 4"),
        ("16 or 32 GPUs", SERVE),
        ("Prefill, 32 GPUs in all", SERVE),
        ("Two replicas, 16 GPUs", SERVE),
        ("12 GPUs", SERVE),
        ("16 GPUs", f"{SERVE}\n{SERVE} --port 8001"),
        ("16 GPUs", f"for h in a b; do\n{SERVE}\ndone"),
        ("16 GPUs", f"{SERVE} $MORE"),
        ("16 GPUs", f"{SERVE} --nnodes 2 --node-rank 0"),
        ("16 GPUs", f'{SERVE} --kv-transfer-config \'{{"kv_role": "kv_producer"}}\''),
    ],
)
def test_as_many_or_not_known(heading: str, command: str) -> None:
    assert said(heading, command) == []
