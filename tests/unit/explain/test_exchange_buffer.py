"""HCCL_BUFFSIZE against what the exchange of experts' tokens takes on Atlas A3."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

MODEL = "/w/Qwen3-235B-A22B-w8a8"
START = "vllm serve {model} --data-parallel-size 32 --tensor-parallel-size 1 --quantization ascend {more}"
EXPERTS = "--enable-expert-parallel --max-num-seqs 128"


def told(size: str, more: str, model: str = MODEL, on: str = "32xA3", version: str = "0.23.0") -> list[str]:
    text = f"HCCL_BUFFSIZE={size} {START.format(model=model, more=more)}"
    judged = ask(text, on, version)
    return [each.message for one in judged for each in one.findings if each.message.startswith("HCCL_BUFFSIZE")]


def test_too_small() -> None:
    (message,) = told("100", EXPERTS)
    assert message.startswith("HCCL_BUFFSIZE 100: 128 experts with 128 tokens a rank take at least 136 MB")


@pytest.mark.parametrize(
    "more",
    [
        f'{EXPERTS} --speculative-config \'{{"method": "eagle3", "num_speculative_tokens": 1}}\'',
        "--enable-expert-parallel --max-num-seqs 4096",
    ],
)
def test_drafts_and_the_most(more: str) -> None:
    assert len(told("200", more)) == 1


@pytest.mark.parametrize(
    ("size", "more", "model", "on", "version"),
    [
        ("200", EXPERTS, MODEL, "32xA3", "0.23.0"),
        ("100", "--max-num-seqs 128", MODEL, "32xA3", "0.23.0"),
        ("100", "--enable-expert-parallel", MODEL, "32xA3", "0.23.0"),
        ("100", EXPERTS, "/w/Mine-w8a8", "32xA3", "0.23.0"),
        ("100", EXPERTS, MODEL, "32xA2", "0.23.0"),
        ("100", EXPERTS, MODEL, "32xA3", "0.11.0"),
        ("100", f"{EXPERTS} --additional-config '{{\"enable_fused_mc2\": 1}}'", MODEL, "32xA3", "0.23.0"),
        ("100", f'{EXPERTS} --kv-transfer-config \'{{"kv_role": "kv_producer"}}\'', MODEL, "32xA3", "0.23.0"),
        (
            "100",
            f"{EXPERTS} --compilation-config '{{\"cudagraph_capture_sizes\": [8, 64]}}'",
            MODEL,
            "32xA3",
            "0.23.0",
        ),
    ],
)
def test_enough_or_not_known(size: str, more: str, model: str, on: str, version: str) -> None:
    assert told(size, more, model, on, version) == []


def test_keys_of_eight_bits_in_the_name() -> None:
    more = f'{EXPERTS} --speculative-config \'{{"method": "mtp", "num_speculative_tokens": 3}}\''
    (message,) = told("256", more, "/w/GLM-5.3-w8a8c8", "32xA3", "0.26.0rc1")
    assert message.startswith("HCCL_BUFFSIZE 256: 256 experts")


def test_no_release_named() -> None:
    assert len(told("100", EXPERTS, version="")) == 1
