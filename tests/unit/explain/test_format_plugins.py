"""Weights of a format that the release reads by a plugin alone."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

FILE = "vllm serve /models/Qwen3-8B-Q4_K_M.gguf --tokenizer Qwen/Qwen3-8B"


@pytest.mark.parametrize(
    ("text", "version", "told"),
    [
        (FILE, "", True),
        (FILE, "0.24.0", True),
        (FILE, "0.33.0", True),
        (FILE, "0.23.0", False),
        (FILE, "0.14.1", False),
        ("vllm serve unsloth/Qwen3-0.6B-GGUF:IQ1_S", "0.27.1", True),
        ("vllm serve Qwen/Qwen3-8B-FP8", "0.27.1", False),
        (f"pip install vllm-gguf-plugin\n{FILE}", "0.27.1", False),
        (f"RUN uv pip install vllm_gguf_plugin\n{FILE}", "0.27.1", False),
        ("llama-server -m /models/Qwen3-8B-Q4_K_M.gguf", "", False),
    ],
)
def test_files_of_a_plugin(text: str, version: str, told: bool) -> None:
    findings = [each for one in ask(text, "", version) for each in one.findings if "by a plugin alone" in each.message]
    assert [each.severity for each in findings] == [Severity.WARNING] * told
