"""Devices that a text counts in words, and those of a group of pods, against the layout."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding
from tests.unit.explain.judging import ask
from tests.unit.explain.test_kubernetes_slips import GROUP

GUIDE = "# Kimi-Linear on {}, vLLM 0.15.1\n\n```bash\nvllm serve moonshotai/Kimi-Linear-48B-A3B-Instruct -tp {}\n```\n"


def found(text: str) -> list[Finding]:
    words = (" ranks, and line ", " ranks, and the group")
    return [each for one in ask(text) for each in one.findings if any(word in each.message for word in words)]


@pytest.mark.parametrize(
    "text",
    [
        GUIDE.format("four H100 80GB", 8),
        GUIDE.format("4x H100", 8),
        GUIDE.format("my server with 4 NVIDIA H100 80GB", 8),
        GUIDE.format("two H200", 4),
        GUIDE.format("1x H100", 2),
        GROUP.replace("size 16", "size 8"),
        GROUP.replace("size: 2", "size: 4"),
        GROUP.replace("size 16", "size 32"),
    ],
)
def test_more_or_fewer_ranks(text: str) -> None:
    assert [each.where for each in found(text)] == ["--tensor-parallel-size"]


@pytest.mark.parametrize(
    "text",
    [
        GUIDE.format("four H100 80GB", 4),
        GUIDE.format("4x H100", 4),
        GUIDE.format("2 nodes with 4x H100 each", 8),
        GUIDE.format("4x H100 or 8x H200", 8),
        GUIDE.format("8x A3", 16),
        GUIDE.format("4x H100", 8) + "\nThere are two machines.\n",
        GUIDE.format("eight H100", 4),
        GUIDE.format("two machines with four H100 each", 8),
        GUIDE.format("four H100 or eight H200", 8),
        GUIDE.format("one MI300X box", 4),
        GUIDE.format("a single GB300 tray", 4),
        GUIDE.format("one GB300 tray", 4),
        GUIDE.format("my H200 server", 8),
        GUIDE.format("one RTX PRO 6000 Blackwell node", 8),
        GUIDE.format("one H200 SXM5 machine", 8),
        GUIDE.format("a single RTX PRO 6000 Blackwell Server Edition box", 8),
        GROUP,
    ],
)
def test_as_many_ranks(text: str) -> None:
    assert found(text) == []
