"""A later section for AMD's devices says nothing of the devices of a start above it."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask, devices

SERVE = (
    "```bash\nvllm serve moonshotai/Kimi-Linear-48B-A3B-Instruct --tensor-parallel-size {} --trust-remote-code\n```\n"
)
ABOVE = f"# Kimi-Linear\n\nOn a single node.\n\n{SERVE.format(4)}\n"


@pytest.mark.parametrize("title", ["## AMD GPU Support", "## ROCm", "### Step 5: AMD MI300X"])
def test_a_section_for_amd(title: str) -> None:
    judged = ask(f"{ABOVE}{title}\n\nSteps to run it on AMD MI300X GPU.\n\n{SERVE.format(8)}")
    assert [devices(each) for each in judged] == ["", "8xMI300X"]


@pytest.mark.parametrize("title", ["## Hardware", "## Usage"])
def test_a_section_that_is_for_all(title: str) -> None:
    judged = ask(f"{ABOVE}{title}\n\nIt was run on MI300X.\n\n{SERVE.format(8)}")
    assert [devices(each) for each in judged] == ["4xMI300X", "8xMI300X"]


def test_devices_named_above() -> None:
    judged = ask(f"# Kimi-Linear on AMD\n\nWe have MI300X.\n\n## Start\n\n{SERVE.format(4)}\n## AMD details\n\nMI300X.")
    assert [devices(each) for each in judged] == ["4xMI300X"]
