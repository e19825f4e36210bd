"""Devices that an item of a list names for another model are not those of the command."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

LINEAR = "`vllm serve moonshotai/Kimi-Linear-48B-A3B-Instruct --tensor-parallel-size 4 --trust-remote-code`"
K25 = "`vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --trust-remote-code`"


def devices_of(text: str) -> str:
    judged = ask(f"# Models\n\n{text}\n")[-1]
    return judged.cluster.name if judged.cluster is not None else ""


@pytest.mark.parametrize(
    "text",
    [
        f"- K2.6 takes 8×H200.\n- Kimi-Linear: {LINEAR}",
        f"| K3 | 8x B300 |\n|---|---|\n| K2.5 | 8x H200 |\n\n- Kimi-Linear: {LINEAR}",
        f"1. Qwen3 on 4x H100\n2. Kimi-Linear: {LINEAR}",
        f"- Kimi-K2.5 (8×H200)\n- Linear: {LINEAR}",
    ],
)
def test_they_are_lent_to_no_other(text: str) -> None:
    assert devices_of(text) == ""


@pytest.mark.parametrize(
    ("text", "devices"),
    [
        (f"- Kimi-Linear on 4x H100: {LINEAR}", "4xH100"),
        (f"- Kimi-Linear and Qwen3 on 4x H100\n- Linear: {LINEAR}", "4xH100"),
        (f"We have 4x H100 for Qwen3.\n\n- Linear: {LINEAR}", "4xH100"),
        (f"- 4x H100\n- Linear: {LINEAR}", "4xH100"),
        (f"- K2.6 on 8x H200\n- K2.5: {K25}", "8xH200"),
    ],
)
def test_its_own_and_those_of_all_are_kept(text: str, devices: str) -> None:
    assert devices_of(text) == devices
