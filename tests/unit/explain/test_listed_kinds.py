"""A line that counts devices of several makers says nothing of the one that a command is for."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

COMMAND = "\n\n```\nsglang serve --model-path zai-org/GLM-4.6 --tp 8\n```\n"


@pytest.mark.parametrize(
    ("line", "devices"),
    [
        ("Tried on: NVIDIA H200 (8x), AMD MI300X (8x), AMD MI325X (8x)", ""),
        ("Tried on: NVIDIA H200 (8x)", "8xH200"),
        ("Hardware: 8x NVIDIA H200", "8xH200"),
    ],
)
def test_a_list_of_makers_leaves_the_devices_open(line: str, devices: str) -> None:
    (judged,) = ask(f"# GLM-4.6\n\n{line}{COMMAND}")
    assert (judged.cluster.name if judged.cluster else "") == devices
