"""`-mla` of ik_llama.cpp with a model that has no latent attention."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask


def told(model: str, more: str = "") -> bool:
    text = f"With ik_llama.cpp:\n```\n./llama-server -m {model} -mla 2 -fa -ngl 65\n```\n{more}\n"
    return any("latent attention" in each.message for judged in ask(text) for each in judged.findings)


@pytest.mark.parametrize(
    ("model", "more"),
    [
        ("/m/Deepseek-32B-IQ4_KS_R4.gguf", ""),
        ("/m/DeepSeek-R1-Distill-Llama-70B-Q4_K_M.gguf", ""),
        ("/m/Qwen3-30B-A3B-Q4_K_M.gguf", ""),
        ("/m/some-Q4_K_M.gguf", "```\nlayer 63: n_embd_head_qk_rope = 128, kv_lora_rank = 0\n```"),
    ],
)
def test_a_model_that_has_none(model: str, more: str) -> None:
    assert told(model, more)


@pytest.mark.parametrize(
    "model", ["/m/DeepSeek-V3-0324-IQ4_K_R4-00001-of-00010.gguf", "/m/Kimi-K2-Instruct-IQ4_KS.gguf", "/m/some.gguf"]
)
def test_a_model_that_has_it_or_may(model: str) -> None:
    assert not told(model)
