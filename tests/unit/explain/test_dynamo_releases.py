"""Forms in which texts say which release of Dynamo they use."""

from __future__ import annotations

import pytest

from moonpad.engines.dynamo_names import NEWEST, named_release
from tests.unit.explain.judging import ask

WORKER = "python -m dynamo.vllm --model moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8 --connector none\n"
FORMS = [
    "vllm-runtime:{}",
    "image: nvcr.io/nvidia/ai-dynamo/vllm-runtime:{}",
    "registry.example.com/team/sglang-runtime:{}",
    "pip install ai-dynamo[vllm]=={}",
    "ai-dynamo                                {}",
    "ai-dynamo-runtime  {}",
    "Dynamo {}",
    "Dynamo vLLM Runtime v{}",
    "dynamo version: {}",
    "- **Dynamo version**: `v{}`",
]


@pytest.mark.parametrize("form", FORMS)
def test_a_release_is_read(form: str) -> None:
    assert named_release([form.format("0.6.1")]) == "0.6.1"
    assert "has no --connector" not in str(ask(f"{form.format('0.6.1')}\n{WORKER}"))
    assert "Dynamo 1.0.1 has no --connector" in str(ask(f"{form.format('1.0.1')}\n{WORKER}"))


@pytest.mark.parametrize(
    "text", ["vllm 0.16.0", "my-vllm-runtimes:0.6.1", "dynamo-platform chart 0.6.1", "dynamodb 1.2.3"]
)
def test_another_number_is_none(text: str) -> None:
    assert named_release([text]) == NEWEST
