"""--enable-dp-attention of the first releases, where the switch alone shared attention out over all ranks; and stages
of releases that have none yet."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask_one

SHARED = "python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1 --tp-size 16 --trust-remote-code"


@pytest.mark.parametrize(("version", "tp", "dp"), [("0.4.2.post4", 1, 16), ("0.4.3.post2", 1, 16), ("0.5.9", 16, 1)])
def test_switch_alone(version: str, tp: int, dp: int) -> None:
    judged = ask_one(f"{SHARED} --enable-dp-attention", on="2x8xH200", version=version)
    assert judged.layout is not None
    assert (judged.layout.tp, judged.layout.dp) == (tp, dp)
    idle = [each for each in judged.findings if "it does nothing without --dp-size" in each.message]
    assert bool(idle) is (dp == 1)


def test_models_without_latent_attention_slice_their_heads() -> None:
    text = (
        "python -m sglang.launch_server --model-path /m/DeepSeek-R1-Distill-Qwen-32B --tp-size 4 --enable-dp-attention"
    )
    judged = ask_one(text, on="4xRTX3090", version="0.4.2.post4")
    assert judged.layout is not None
    assert (judged.layout.tp, judged.layout.dp) == (4, 1)


def test_number_of_groups_is_not_read_before_it_counts() -> None:
    judged = ask_one(f"{SHARED} --enable-dp-attention --dp-size 4", on="2x8xH200", version="0.4.3")
    assert judged.layout is not None
    assert judged.layout.dp == 16


@pytest.mark.parametrize(("version", "later"), [("0.4.3", True), ("0.5.9", False)])
def test_stages_are_offered_where_they_are(version: str, later: bool) -> None:
    judged = ask_one(SHARED, on="2x8xH200", version=version)
    (told,) = [each for each in judged.findings if "reaches over machines" in each.message]
    assert told.remedy.startswith("take SGLang 0.5.1 or newer") is later
    assert "with pp for the machines" in told.remedy
