"""What stands where the draft of a speculation is to be named."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

VLLM, SGLANG = "vllm serve moonshotai/Kimi-K2.5", "python -m sglang.launch_server --model-path moonshotai/Kimi-K2.5"


def said(text: str) -> bool:
    return any("is a method, and here the draft" in finding.message for one in ask(text) for finding in one.findings)


@pytest.mark.parametrize(
    "text",
    [
        f"{VLLM} --speculative-model eagle3",
        f'{VLLM} --speculative-config \'{{"model": "eagle3", "num_speculative_tokens": 3}}\'',
        f"{SGLANG} --speculative-draft-model-path EAGLE3",
    ],
)
def test_a_method_in_its_place(text: str) -> None:
    assert said(text)


@pytest.mark.parametrize(
    "text",
    [
        f'{VLLM} --speculative-config \'{{"method": "mtp", "num_speculative_tokens": 1}}\'',
        f'{VLLM} --speculative-config \'{{"model": "[ngram]", "num_speculative_tokens": 1}}\'',
        f"{SGLANG} --speculative-algorithm EAGLE3 --speculative-draft-model-path org/kimi-k2.5-eagle3",
    ],
)
def test_a_model_or_a_method_where_it_belongs(text: str) -> None:
    assert not said(text)


@pytest.mark.parametrize(
    "option", ["--speculative-algo EAGLE", "--speculative-algo=EAGLE", "--speculative-algorithm EAGLE"]
)
def test_name_and_value_of_one_option_are_both_corrected(option: str) -> None:
    text = (
        f"python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.6 --tp-size 8 --trust-remote-code {option} "
    )
    text += "--speculative-draft-model-path /m/kimi-k2.6-eagle3-mla --speculative-num-steps 3 "
    text += "--speculative-eagle-topk 1 --speculative-num-draft-tokens 4"
    (judged,) = ask(text, "8xH200")
    words = list(judged.corrected[0].argv)
    assert words[words.index("--speculative-algorithm") + 1] == "EAGLE3"


def alone(text: str) -> bool:
    return any("cannot be served alone" in finding.message for one in ask(text) for finding in one.findings)


@pytest.mark.parametrize(
    "text",
    [
        "vllm serve org/Kimi-K2.6-DFlash",
        "python -m sglang.launch_server --model-path /data/kimi-k2.5-eagle3-mla --tp 1",
        'M="${ROOT}/models/kimi-k2.5-eagle3"\nsglang serve --model-path "${M}" --tp 1',
        "vllm serve /w/Kimi-K3-DSpark -tp 2",
    ],
)
def test_a_draft_that_is_served_alone_is_not_taken_for_its_model(text: str) -> None:
    assert alone(text)
    assert all(one.checkpoint is None for one in ask(text))
    assert not any("fit" in finding.code for one in ask(text) for finding in one.findings)


@pytest.mark.parametrize(
    "text",
    [
        f"{SGLANG} --speculative-algorithm EAGLE3 --speculative-draft-model-path org/kimi-k2.5-eagle3",
        "vllm serve RedHatAI/Kimi-K3-speculator.dspark",
        "vllm serve deepseek-ai/DeepSeek-V4-Flash-DSpark",
        "vllm serve org/Qwen3.6-27B-MTP",
        "vllm serve zai-org/GLM-4.7-Flash",
        "vllm serve NVEagle/Eagle-X5-7B",
        "vllm serve /models/kimi-k3-w4a8-dspark",
        "vllm serve /models/dgx-spark/Kimi-K2.5",
    ],
)
def test_what_holds_the_model_too_or_stands_beside_it(text: str) -> None:
    assert not alone(text)
