"""Forms of options that a parser of its own kind does not read."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask


def remedies(text: str) -> list[str]:
    findings = [finding for judged in ask(text) for finding in judged.findings]
    parts = ("behind a blank alone", "names no place", "no device is called")
    return [finding.remedy for finding in findings if any(part in finding.message for part in parts)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("llama-server -m a.gguf --port=8080", ["write --port 8080"]),
        ("llama-server --model=a.gguf -ngl=99", ["write --model a.gguf", "write -ngl 99"]),
        ('llama-server -m a.gguf -ot "exps"', ["write pattern=CPU, or =CUDA0"]),
        ('llama-server -m a.gguf -ot "blk.1.*=cuda0,exps=CPU"', ["write =CUDA0"]),
        ("llama-server -m a.gguf --override-tensor .ffn_.*_exps.=cpu", ["write =CPU"]),
        ("llama-server -m a.gguf -ot exps=GPU1", ["write =CUDA1"]),
    ],
)
def test_a_form_that_is_not_read(text: str, expected: list[str]) -> None:
    assert remedies(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "llama-server -m a.gguf --port 8080 -ot .ffn_.*_exps.=CPU",
        'llama-server -m a.gguf -ot "a=CUDA1,b=RPC[10.0.0.1:50052],c=CUDA_Host,d=Vulkan0"',
        "llama-server -m a.gguf -ot $PLACES",
        'llama-server -m a.gguf --chat-template-kwargs \'{"a": "b=c"}\'',
        "llama-server -m /m/x=y.gguf",
        "vllm serve Qwen/Qwen3-8B --port=8080",
        "python -m sglang.launch_server --model-path=Qwen/Qwen3-8B",
    ],
)
def test_a_form_that_is_read(text: str) -> None:
    assert remedies(text) == []
