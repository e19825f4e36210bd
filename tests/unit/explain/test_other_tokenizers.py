"""Tokenizers and configurations of other models: which are told, and which may be meant so."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

TOLD = [
    "vllm serve /models/DeepSeek-R1-AWQ --tokenizer hf-internal-testing/llama-tokenizer -tp 8",
    "vllm serve moonshotai/Kimi-K2-Instruct --tokenizer Qwen/Qwen3-8B -tp 16",
    "python -m sglang.launch_server --model-path zai-org/GLM-4.6 --tokenizer-path meta-llama/Llama-3.1-8B --tp-size 8",
]
QUIET = [
    "vllm serve deepseek-ai/DeepSeek-R1-Distill-Qwen-7B --tokenizer Qwen/Qwen2.5-7B",
    "vllm serve ./Qwen3-8B-Q4_K_M.gguf --tokenizer Qwen/Qwen3-8B",
    "vllm serve moonshotai/Kimi-Dev-72B --tokenizer Qwen/Qwen2.5-72B -tp 8",
    "vllm serve nvidia/Llama-3_3-Nemotron-Super-49B-v1 --tokenizer meta-llama/Llama-3.3-70B-Instruct -tp 2",
    "vllm serve /models/mine --tokenizer Qwen/Qwen3-8B",
]
AWQ = "OPEA/Mistral-Small-3.1-24B-Instruct-2503-int4-AutoRound-awq-sym"


def places(text: str, option: str) -> list[str]:
    return [each.message for one in ask(text) for each in one.findings if each.where == option]


@pytest.mark.parametrize("text", TOLD)
def test_another_family_is_told(text: str) -> None:
    option = "--tokenizer-path" if "--tokenizer-path" in text else "--tokenizer"
    assert any("another family" in message for message in places(text, option))


@pytest.mark.parametrize("text", QUIET)
def test_the_same_family_is_not(text: str) -> None:
    assert not any("another family" in message for message in places(text, "--tokenizer"))


@pytest.mark.parametrize(
    ("configuration", "told"),
    [("mistralai/Mistral-Small-3.1-24B-Instruct-2503", True), (AWQ, False), ("/models/config", False)],
)
def test_the_configuration_of_whole_weights(configuration: str, told: bool) -> None:
    messages = places(f"vllm serve {AWQ} --hf-config-path {configuration}", "--hf-config-path")
    assert any("is quantised" in message for message in messages) is told
