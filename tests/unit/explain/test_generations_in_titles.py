"""A section whose title or first sentence names a generation of NVIDIA's devices."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask, devices

NVFP4 = "```bash\nvllm serve nvidia/Kimi-K2.5-NVFP4 -tp 4 --trust-remote-code\n```\n\n"


@pytest.mark.parametrize(
    "said",
    [
        "Use the weights on Blackwell-class GPUs (for example GB200):",
        "It targets **Blackwell** (for example GB200).",
        "For Blackwell GPUs (like GB200):",
    ],
)
def test_the_kind_that_stands_for_a_generation(said: str) -> None:
    assert [devices(each) for each in ask(f"# NVFP4\n\n{said}\n\n{NVFP4}")] == ["4xGB200"]


def test_an_example_of_nothing_stays_one() -> None:
    assert [devices(each) for each in ask(f"# NVFP4\n\nSmaller cards (for example GB200):\n\n{NVFP4}")] == [""]


@pytest.mark.parametrize(("title", "expected"), [("Blackwell", "4xB200"), ("Hopper", "4xH200"), ("All", "")])
def test_the_kinds_of_the_title_alone(title: str, expected: str) -> None:
    named = "## Machines\n\n- H200\n- B200\n\n"
    text = f"# Kimi\n\n{named}## NVFP4 weights ({title})\n\n{NVFP4}"
    assert [devices(each) for each in ask(text)] == [expected]
