"""Pages of the KV cache that follow from the attention backends of two pools, and pools of models that are not
planned."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

BASE = "sglang serve --model-path {} --tp-size 4 --disaggregation-mode {} {}"
MODEL = "Qwen/Qwen3-32B"
ERROR, WARNING = Severity.ERROR, Severity.WARNING


def said(
    prefill: str, decode: str, version: str, words: str, models: tuple[str, str] = (MODEL, MODEL)
) -> list[Severity]:
    text = f"{BASE.format(models[0], 'prefill', prefill)}\n\n{BASE.format(models[1], 'decode', decode)}\n"
    judged = ask(text, "", version)
    assert [each.kind for each in judged] == ["prefill", "decode"]
    return [finding.severity for finding in judged[1].findings if words in finding.message]


@pytest.mark.parametrize(
    ("prefill", "decode", "version", "expected"),
    [
        ("--attention-backend trtllm_mha", "--attention-backend fa3", "0.5.9", [ERROR]),
        ("--attention-backend trtllm_mha", "--attention-backend fa3", "0.5.7", [WARNING]),
        ("--attention-backend trtllm_mha", "--attention-backend fa3 --page-size 64", "0.5.9", []),
        ("--attention-backend trtllm_mha --page-size 16", "--attention-backend fa3 --page-size 16", "0.5.9", []),
        ("--attention-backend trtllm_mha", "--attention-backend trtllm_mha", "0.5.9", []),
        ("--attention-backend fa3", "--attention-backend triton", "0.5.9", []),
        ("--attention-backend fa3", "", "0.5.9", []),
        ("--decode-attention-backend trtllm_mha", "--attention-backend fa3", "0.5.9", []),
        ("--attention-backend $A", "--attention-backend fa3", "0.5.9", []),
        ("--attention-backend trtllm_mha --page-size $P", "--attention-backend fa3", "0.5.9", []),
        ("--attention-backend trtllm_mha --page-size 128", "--attention-backend fa3 --page-size 128", "0.5.20", []),
        ("--attention-backend fa4", "--attention-backend fa3", "0.5.9", []),
    ],
)
def test_pages_of_two_backends(prefill: str, decode: str, version: str, expected: list[Severity]) -> None:
    assert said(prefill, decode, version, "pages of the KV cache have") == expected


def test_latent_attention_has_backends_of_its_own() -> None:
    models = ("deepseek-ai/DeepSeek-V3.1", "deepseek-ai/DeepSeek-V3.1")
    both = "--attention-backend cutlass_mla", "--attention-backend flashmla"
    assert said(*both, "0.5.9", "pages of the KV cache have", models) == [ERROR]
    sparse = ("deepseek-ai/DeepSeek-V3.2", "deepseek-ai/DeepSeek-V3.2")
    assert not said(*both, "0.5.9", "pages of the KV cache have", sparse)


@pytest.mark.parametrize(
    ("models", "expected"),
    [
        ((MODEL, "Qwen/Qwen3-14B"), [ERROR]),
        ((MODEL, "/models/Qwen3-32B"), []),
        ((MODEL, "/models/model"), []),
        ((MODEL, "$MODEL"), []),
    ],
)
def test_both_pools_serve_one_model(models: tuple[str, str], expected: list[Severity]) -> None:
    assert said("", "", "0.5.9", "prefill serves", models) == expected


@pytest.mark.parametrize(
    ("prefill", "decode", "models", "expected"),
    [
        ("--kv-cache-dtype fp8_e4m3", "", (MODEL, MODEL), [ERROR]),
        ("--kv-cache-dtype fp8_e4m3", "--kv-cache-dtype fp8_e4m3", (MODEL, MODEL), []),
        ("--kv-cache-dtype bf16", "", (MODEL, MODEL), []),
        ("--kv-cache-dtype fp8_e4m3", "", ("nvidia/Qwen3-32B-NVFP4",) * 2, []),
        ("--kv-cache-dtype fp8_e4m3", "", ("deepseek-ai/DeepSeek-V3.2",) * 2, []),
    ],
)
def test_the_cache_of_plain_models(
    prefill: str, decode: str, models: tuple[str, str], expected: list[Severity]
) -> None:
    assert said(prefill, decode, "0.5.12", "the KV cache is", models) == expected
