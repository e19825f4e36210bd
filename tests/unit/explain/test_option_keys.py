"""Options of an engine as keys below its name, with no command."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask_one

INTRO = "SGLang 0.5.10, 2 nodes of 8 H200, deepseek-ai/DeepSeek-V3.1; server args:\n\n"
KEYS = (
    "tensor-parallel-size: 16\ndata-parallel-size: 4\nenable-dp-attention: true\n# no a2a backend\nquantization: fp8\n"
)


@pytest.mark.parametrize("text", [INTRO + KEYS, f"{INTRO}```\n{KEYS}```\n", f"{INTRO}```yaml\n{KEYS}```\n"])
def test_they_are_the_engine_s(text: str) -> None:
    judged = ask_one(text)
    assert (judged.engine, judged.version) == ("sglang", "0.5.10")
    assert judged.layout is not None
    assert (judged.layout.tp, judged.layout.dp) == (4, 4)  # 16 devices, shared among 4 ranks of attention


@pytest.mark.parametrize(
    "text",
    [
        "SGLang\n\nname: moonpad\nport: 8000\nhost: here\n",
        "vLLM 0.11.0\n\nlearning-rate: 1\nbatch-size: 2\nepochs: 3\ntensor-parallel-size: 8\nwarmup: 4\nseed: 1\n",
        "vLLM 0.11.0\n\ntensor-parallel-size: 8\n",
    ],
)
def test_others_are_left_alone(text: str) -> None:
    assert not [command for command in read_script(text).commands if command.program not in ("other", "docker")]
