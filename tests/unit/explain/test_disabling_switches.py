"""A switch of NCCL whose name ends in DISABLE, and words beside it that say the contrary of its value."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVER = "vllm serve Qwen/Qwen3-32B --tensor-parallel-size 8 --port 8222\n"


def told(text: str) -> list[str]:
    return [each.message for one in ask(text) for each in one.findings if "1 disables, and 0 is" in each.message]


@pytest.mark.parametrize(
    "line",
    [
        "export NCCL_IB_DISABLE=0   # disable InfiniBand",
        "export NCCL_P2P_DISABLE=0 # disables P2P between the cards",
        "export NCCL_IB_DISABLE=1 # enable RDMA",
        "# Disable InfiniBand on this cluster\nexport NCCL_IB_DISABLE=0",
        "# Turn off shared memory\nexport NCCL_SHM_DISABLE=0",
    ],
)
def test_a_comment_that_says_the_contrary(line: str) -> None:
    assert len(told(f"{line}\n{SERVER}")) == 1


@pytest.mark.parametrize(
    "sentence",
    [
        "As our machines have Ethernet alone, we set NCCL_IB_DISABLE: 0 to disable IB.",
        "We have no fabric: `NCCL_IB_DISABLE=0` to turn off InfiniBand was needed.",
        "You can disable InfiniBand by setting NCCL_IB_DISABLE=0 on both machines.",
    ],
)
def test_a_sentence_that_says_the_contrary(sentence: str) -> None:
    assert len(told(f"# Two machines\n\n{sentence}\n\n```bash\n{SERVER}```\n")) == 1


@pytest.mark.parametrize(
    "line",
    [
        "export NCCL_IB_DISABLE=1   # disable InfiniBand",
        "export NCCL_IB_DISABLE=0  # enable InfiniBand (set to 1 to disable)",
        "export NCCL_IB_DISABLE=0  # do not disable InfiniBand",
        "export NCCL_IB_DISABLE=0  # disable IB: 1, use IB: 0",
        "export NCCL_IB_DISABLE=0  # disable IB?",
        "# export NCCL_IB_DISABLE=0 # disables InfiniBand",
        "# Disable InfiniBand (1) or not (0)\nexport NCCL_IB_DISABLE=0",
        "export NCCL_IB_DISABLE=1  # enable/disable InfiniBand as you need it",
        "# To disable IB set NCCL_IB_DISABLE=1, NCCL_IB_DISABLE=0 is what holds without it",
        "export NCCL_IB_DISABLE=0\nexport NCCL_P2P_DISABLE=1 # disable P2P",
        "# Disable InfiniBand\n# export NCCL_IB_DISABLE=1\nexport NCCL_IB_DISABLE=0",
    ],
)
def test_what_agrees_or_says_both(line: str) -> None:
    assert ask(f"{line}\n{SERVER}")
    assert not told(f"{line}\n{SERVER}")
