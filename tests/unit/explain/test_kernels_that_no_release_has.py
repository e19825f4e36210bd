"""Attention that a release has no kernel for: asked for by the variable of older releases, or on such devices."""

from __future__ import annotations

import pytest

from moonpad.report.explain_verdict import verdict
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

VARIABLE = "VLLM_ATTENTION_BACKEND"


def of_variable(model: str, backend: str, version: str) -> list[Severity]:
    (judged,) = ask(f"8x H200\n\n{VARIABLE}={backend} vllm serve {model} -tp 8\n", version=version)
    return [each.severity for each in judged.findings if "the start ends" in each.message and each.where == VARIABLE]


@pytest.mark.parametrize(
    ("model", "backend", "version", "refused"),
    [
        ("deepseek-ai/DeepSeek-V3.2", "FLASH_ATTN_MLA", "0.12.0", True),
        ("deepseek-ai/DeepSeek-V3.2", "FLASHMLA_SPARSE", "0.12.0", False),
        ("deepseek-ai/DeepSeek-V3.2", "FLASH_ATTN_MLA", "0.16.0", False),  # which does not read it
        ("deepseek-ai/DeepSeek-V3.1", "FLASH_ATTN_MLA", "0.12.0", False),
        ("openai/gpt-oss-120b", "TRITON_MLA", "0.13.0", True),
        ("MiniMaxAI/MiniMax-M2", "FLASHMLA", "0.12.0", True),
        ("MiniMaxAI/MiniMax-M2", "FLASH_ATTN", "0.12.0", False),
    ],
)
def test_a_backend_by_its_variable(model: str, backend: str, version: str, refused: bool) -> None:
    assert of_variable(model, backend, version) == [Severity.ERROR] * refused


@pytest.mark.parametrize(
    ("devices", "model", "version", "known"),
    [
        ("8x L20", "deepseek-ai/DeepSeek-V4-Flash", "0.24.0", True),
        ("8x RTX PRO 6000", "deepseek-ai/DeepSeek-V3.2", "0.14.1", True),
        ("8x RTX PRO 6000", "deepseek-ai/DeepSeek-V3.2", "0.25.0", False),
        ("8x H200", "deepseek-ai/DeepSeek-V3.2", "0.14.1", False),
    ],
)
def test_devices_without_one_are_the_first_that_is_said(devices: str, model: str, version: str, known: bool) -> None:
    (judged,) = ask(f"{devices}, vllm {version}\n\nvllm serve {model} -tp 8 --kv-cache-dtype fp8 --port 8123\n")
    assert verdict(judged)[0].startswith("Known fault (engine): ") == known
