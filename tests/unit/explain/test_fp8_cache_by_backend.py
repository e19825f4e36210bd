"""An FP8 cache of latents is proposed in SGLang where its documentation lists one for the backend in use alone.

https://docs.sglang.io/advanced_features/attention_backend.html, the table "MLA Backends": FlashMLA, CUTLASS MLA and
TRTLLM MLA have one; FlashInfer MLA, FA3 and Triton have none.
"""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask_one

SERVE = "python -m sglang.launch_server --model-path moonshotai/Kimi-K2-Thinking --tp 8 --trust-remote-code"


def offers_fp8(options: str, devices: str, program: str = SERVE) -> bool:
    judged = ask_one(f"{program} {options}", devices)
    told = [finding.remedy + finding.message for finding in judged.findings]
    offered = any(name == "kv_cache_dtype" for better in judged.better for name, _ in better.changes)
    assert offered or not any("FP8 KV cache" in text for text in told)
    return offered


@pytest.mark.parametrize(
    ("options", "devices"),
    [
        ("--attention-backend flashmla", "8xH200"),
        ("--prefill-attention-backend flashmla --decode-attention-backend flashmla", "8xH200"),
        ("", "8xB200"),
        ("--attention-backend trtllm_mla", "8xB200"),
    ],
)
def test_listed(options: str, devices: str) -> None:
    assert offers_fp8(options, devices)


@pytest.mark.parametrize(
    ("options", "devices"),
    [
        ("", "8xH200"),
        ("--attention-backend fa3", "8xH200"),
        ("--attention-backend flashinfer", "8xH200"),
        ("--attention-backend triton", "8xMI355X"),
        ("--prefill-attention-backend fa3 --decode-attention-backend flashmla", "8xH200"),
        ("--decode-attention-backend flashmla", "8xH200"),
        ("--attention-backend triton", "8xB200"),
    ],
)
def test_not_listed(options: str, devices: str) -> None:
    assert not offers_fp8(options, devices)


def test_another_engine_has_a_table_of_its_own() -> None:
    program = "vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8"
    assert offers_fp8("--max-model-len 32768 -dcp 8", "8xH200", program)
