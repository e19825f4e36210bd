"""`from tensorrt_llm._torch import LLM`: the class of 2025 raises an ImportError since the backend is the default."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

TEXT = 'from {module} import LLM\n\nllm = LLM(model="nvidia/DeepSeek-R1-0528-FP4", tensor_parallel_size=8)\n'


@pytest.mark.parametrize(
    ("module", "version", "told"),
    [
        ("tensorrt_llm._torch", "", True),
        ("tensorrt_llm._torch", "1.2.0", True),
        ("tensorrt_llm._torch", "0.20.0", False),
        ("tensorrt_llm", "", False),
    ],
)
def test_import_error(module: str, version: str, told: bool) -> None:
    judged = ask(TEXT.format(module=module), "8xB200", version)
    assert any("ImportError" in each.message for one in judged for each in one.findings) is told
