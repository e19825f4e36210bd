"""Drafts of another model, repositories under another owner, and values written over a model's config."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding
from tests.unit.explain.judging import ask

SERVE = "# {release}, 8x B200\nvllm serve {model} --tensor-parallel-size 8 --trust-remote-code {options}\n"
KIMI = "nvidia/Kimi-K2.5-NVFP4"
WORDS = (
    *("hidden states of the model that", "is the model that is served", "Target and draft model", "has no repository"),
    *("the owner of that model", "written over it", "an object of keys is wanted", "no config has a key"),
    *("is none: no class", "names no rope_type", "a text: the engine"),
)


def serve(options: str, model: str = KIMI, release: str = "vLLM 0.19.0") -> str:
    return SERVE.format(options=options, model=model, release=release)


def drafted(draft: str, method: str = "eagle3") -> str:
    return f'--speculative-config \'{{"method": "{method}", "model": "{draft}", "num_speculative_tokens": 3}}\''


def over(value: str) -> str:
    return f"--hf-overrides '{value}'"


def found(text: str) -> list[Finding]:
    return [each for one in ask(text) for each in one.findings if any(words in each.message for words in WORDS)]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (serve(drafted("yuhuili/EAGLE3-LLaMA3.1-Instruct-8B")), "--speculative-config"),
        (serve(drafted("Qwen/Qwen3-0.6B")), "--speculative-config"),
        (serve(drafted(KIMI)), "--speculative-config"),
        (serve(drafted("Qwen/Qwen3-0.6B", "draft_model")), "--speculative-config"),
        (serve(drafted("moonshotai/kimi-k2.5-eagle3-mla")), "moonshotai/kimi-k2.5-eagle3-mla"),
        (serve("", "deepseek-ai/Kimi-K2-Thinking"), "deepseek-ai/Kimi-K2-Thinking"),
        (serve("", "zai-org/DeepSeek-V3.1"), "zai-org/DeepSeek-V3.1"),
        (serve("", "z.ai/GLM-5-FP8"), "z.ai/GLM-5-FP8"),
        (serve("", "nvidia/Kimi-K2.5"), "nvidia/Kimi-K2.5"),
        (serve(over('{"max_position_embeddings": "262144"}')), "--hf-overrides.max_position_embeddings"),
        (serve(over('{"num_experts_per_tok": 8.0}')), "--hf-overrides.num_experts_per_tok"),
        (serve(over('{"architectures": "DeepseekV3ForCausalLM"}')), "--hf-overrides.architectures"),
        (serve(over('{"rope_scaling": "yarn"}')), "--hf-overrides.rope_scaling"),
        (serve(over('{"rope_parameters": {"factor": 4.0}}')), "--hf-overrides.rope_parameters"),
        (serve(over('{"rope_scaling": {"rope_type": "yarn", "factor": "4"}}')), "--hf-overrides.rope_scaling.factor"),
        (serve(over('{"max_position_embedding": 262144}')), "--hf-overrides.max_position_embedding"),
        (serve(over('["max_position_embeddings", 262144]')), "--hf-overrides"),
    ],
)
def test_it_is_of_another(text: str, where: str) -> None:
    assert [each.where for each in found(text)] == [where]


@pytest.mark.parametrize(
    "text",
    [
        serve(drafted("lightseekorg/kimi-k2.5-eagle3-mla")),
        serve(drafted("lightseekorg/kimi-k2.6-eagle3-mla")),
        serve(drafted("/models/draft")),
        serve(drafted("$DRAFT")),
        serve(drafted("deepseek-ai/DeepSeek-V3.1", "mtp"), "deepseek-ai/DeepSeek-V3.1"),
        serve(drafted("org/DeepSeek-R1-Distill-Llama-8B-eagle3")),
        serve("", "unsloth/Kimi-K2.5"),
        serve("", "deepseek-ai/DeepSeek-R1-Distill-Qwen-32B"),
        serve(over('{"max_position_embeddings": 262144, "num_nextn_predict_layers": 0}')),
        serve(over('{"rope_parameters": {"rope_type": "yarn", "factor": 4.0, "rope_theta": 50000}}')),
        serve(over('{"architectures": ["DeepseekV3ForCausalLM"], "use_index_cache": true}')),
        serve(over('{"rope_scaling": null}')),
    ],
)
def test_it_is_of_the_model(text: str) -> None:
    assert found(text) == []
