"""What stands in the place of a file of weights, or of a repository that has some."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

PARTS = (
    "projector",
    "no GGUF file",
    "a folder, where",
    "this option reads a file",
    "invalid HF repo format",
    "holds saf",
    "not of a file",
)


def told(text: str) -> list[str]:
    findings = [finding for judged in ask(text) for finding in judged.findings]
    found = [finding for finding in findings if any(part in finding.message for part in PARTS)]
    return [f"{finding.message} => {finding.remedy}" for finding in found]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("llama-server -m /m/mmproj-F16.gguf", "behind --mmproj"),
        ("llama-server --model models/llava-v1.6-mistral-7b.Q5_K_M.mmproj-f16.gguf", "behind --mmproj"),
        ("llama-server -m /m/model-00001-of-00004.safetensors", "invalid magic"),
        ("llama-server -m /m/DeepSeek-R1-GGUF/", "name the file"),
        ("llama-server -m Qwen/Qwen3-8B", "is a repository"),
        ("llama-server -hf https://huggingface.co/unsloth/Qwen3-8B-GGUF", "write -hf unsloth/Qwen3-8B-GGUF"),
        (
            "llama-server -hf unsloth/Qwen3-8B-GGUF/Qwen3-8B-Q4_K_M.gguf",
            "write -hf unsloth/Qwen3-8B-GGUF --hf-file Qwen3-8B-Q4_K_M.gguf",
        ),
        ("llama-server -hf gpt-oss-20b-GGUF", "write user/model"),
        ("llama-server -hf Qwen/Qwen3-8B", "holds safetensors"),
        ("llama-server -m Qwen3-8B-Q4_K_M -c 8192", "OWNER/NAME-GGUF:TYPE"),
        ("llama-cli --model Kimi-K2.5-UD-Q2_K_XL --jinja", "or --hf-repo unsloth/Kimi-K2.5-GGUF:UD-Q2_K_XL"),
        ("llama-server -m /m/Kimi-K2-GGUF/UD-IQ2_XXS", "the path of the .gguf file"),
        ("llama-server -m unsloth/Qwen3-30B-A3B-GGUF:UD-Q4_K_XL", "the name of a model and a type"),
        ("llama-server -m /m/Kimi-K2.6-UD-Q2_K_XL-00001-of-00008", "not of a file"),
    ],
)
def test_no_weights(text: str, part: str) -> None:
    (only,) = told(text)
    assert part in only


@pytest.mark.parametrize(
    "text",
    [
        "llama-server -m /m/Qwen3-VL-8B-Q4_K_M.gguf --mmproj /m/mmproj-F16.gguf",
        "llama-server -m /m/model",
        "llama-server -m /m/Q4_K_M/model",
        "llama-server -hf unsloth/Qwen3-8B-GGUF -m /cache/Qwen3-8B-Q4_K_M",
        "llama-server -m /m/$NAME-Q4_K_M",
        "llama-server -m <path to your Q4_K_M>",
        "llama-server -m /m/Qwen3-8B-Q4_K_M*",
        "llama-server -m $MODEL/",
        "llama-server -m ./Qwen/Qwen3-8B.gguf",
        "llama-server -hf unsloth/Qwen3-8B-GGUF:Q4_K_M",
        "llama-server -hf ggml-org/gpt-oss-20b-GGUF --jinja",
        "llama-server -hf Qwen/Qwen3-8B-GGUF:Q8_0",
        "llama-server -hf someone/their-model",
        "llama-server -hf $REPO",
        "vllm serve Qwen/Qwen3-8B",
    ],
)
def test_weights(text: str) -> None:
    assert told(text) == []
