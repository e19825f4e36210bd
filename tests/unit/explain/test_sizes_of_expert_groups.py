"""`--expert-parallel-size` of vLLM, which has a switch for it: corrected to what was meant, the devices kept."""

from __future__ import annotations

import pytest

from moonpad.values.plan import Layout
from tests.unit.explain.judging import ask_one

SERVE = "vllm serve moonshotai/Kimi-K2.5 --trust-remote-code --max-model-len 8192"
SWITCH = "--enable-expert-parallel"
SIZE = "--expert-parallel-size"


@pytest.mark.parametrize(
    ("options", "corrected"),
    [
        (f"-tp 8 {SIZE} 8", f"-tp 8 {SWITCH}"),
        (f"-tp 8 {SIZE}=8", f"-tp 8 {SWITCH}"),
        (f"-tp 4 -dp 2 {SIZE} 8", f"-tp 4 -dp 2 {SWITCH}"),
        (f"-tp 8 {SWITCH} {SIZE} 8", f"-tp 8 {SWITCH}"),
        (f"-tp 8 {SWITCH} {SIZE} 4", f"-tp 8 {SWITCH}"),
        (f"-tp 8 {SWITCH} {SIZE} $EP", f"-tp 8 {SWITCH}"),
        (f"-tp 8 {SIZE} 1", "-tp 8"),
        (f"-tp 8 {SIZE} 4", "-tp 8"),
    ],
)
def test_the_corrected_command(options: str, corrected: str) -> None:
    judged = ask_one(f"{SERVE} {options}\n")
    (line,) = judged.corrected
    text = " ".join(line.argv)
    assert SIZE not in text
    assert f" {corrected} " in f"{text} "
    again = ask_one(text)
    assert again.layout is not None
    assert again.layout.world_size == 8
    assert not [each for each in again.findings if each.where in (SIZE, SWITCH)]


def test_a_size_that_is_not_known_is_left_to_the_person() -> None:
    assert ask_one(f"{SERVE} -tp 8 {SIZE} $EP\n").corrected == ()


def test_sglang_has_the_option() -> None:
    judged = ask_one(f"python -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --tp-size 8 {SIZE} 8\n")
    assert judged.layout == Layout(tp=8, ep=8)
