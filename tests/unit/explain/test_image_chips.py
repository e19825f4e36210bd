"""Images of one generation of Ascend, and texts that name the other."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVE = "python3 -m sglang.launch_server --model-path /data/Qwen3-32B --device npu --attention-backend ascend"
RUN = "docker run --rm --privileged lmsysorg/sglang:{} " + SERVE


def told(text: str, on: str = "") -> bool:
    messages = [finding.message for judgement in ask(text, on) for finding in judgement.findings]
    return any("its kernels do not run there" in message for message in messages)


@pytest.mark.parametrize(
    ("text", "on"),
    [
        (f"# Ascend 910B3\n{RUN.format('main-cann8.2.rc1-a3')}\n", ""),
        (f"{RUN.format('v0.5.9-cann8.5.0-a3')}\n", "8xA2"),
        (f"{RUN.format('v0.5.9-cann8.5.0-910b')}\n", "16xA3"),
    ],
)
def test_the_other_generation(text: str, on: str) -> None:
    assert told(text, on)


@pytest.mark.parametrize(
    ("text", "on"),
    [
        (f"{RUN.format('main-cann8.2.rc1-a3')}\n", ""),
        (f"# Ascend 910B3\n{RUN.format('main-cann8.2.rc1-910b')}\n", ""),
        (f"# Atlas 800 A3; for Ascend 910B3 take another tag\n{RUN.format('main-cann8.2.rc1-a3')}\n", ""),
        (f"{RUN.format('v0.5.9-cann8.5.0-a3')}\n", "16xA3"),
        (f"# Ascend 910B3\n{RUN.format('v0.5.9-qwen-a3')}\n", ""),
    ],
)
def test_the_same_or_both(text: str, on: str) -> None:
    assert not told(text, on)
