"""A corrected command has room for its weights: ranks that are taken out of it were devices."""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged

from .judging import ask

SERVE = "vllm serve {model} --tensor-parallel-size {tp} --prefill-context-parallel-size {ways} --enable-expert-parallel"
GIGABYTES = {"vllm-ascend/DeepSeek-R1-0528-W8A8": 671, "moonshotai/Kimi-K2.6": 595}
"""Of their weights, at the least, by their cards."""
DIE = 64
"""GB of one of the two of an Ascend 910C."""


def judged(model: str, tp: int, ways: int, on: str = "") -> Judged:
    serve = SERVE.format(model=model, tp=tp, ways=ways)
    return ask(f"{serve} --quantization ascend --max-model-len 8192\n", on)[0]


@pytest.mark.parametrize("model", GIGABYTES)
@pytest.mark.parametrize("on", ["", "16xA3"])
def test_half_of_the_devices_does_not_hold_the_weights(model: str, on: str) -> None:
    assert GIGABYTES[model] > 8 * DIE
    assert not judged(model, 8, 2, on).corrected


def test_the_ranks_that_are_left_hold_them() -> None:
    model = "moonshotai/Kimi-K2.6"
    assert GIGABYTES[model] < 16 * DIE * 0.9
    serve = SERVE.format(model=model, tp=16, ways=2)
    (one,) = ask(f"{serve} --max-model-len 8192\n", "16xA3")
    assert one.corrected
    assert "--prefill-context-parallel-size" not in one.corrected[0].argv


def test_the_remedy_says_where_its_devices_go() -> None:
    (remedy,) = [each.remedy for each in judged("a/b", 8, 2).findings if "no prefill context" in each.message]
    assert "--tensor-parallel-size" in remedy
