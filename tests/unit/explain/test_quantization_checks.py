"""`--quantization` against releases and weights."""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask_one

ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE


def said(one: Judged, where: str = "--quantization") -> list[Severity]:
    found = [finding.severity for finding in one.findings if finding.where == where]
    return found if where == "weights" else [severity for severity in found if severity is not NOTE]


@pytest.mark.parametrize(
    ("command", "version", "expected"),
    [
        ("vllm serve moonshotai/Kimi-K2.5 -tp 8 --quantization int4", "0.32.0", [ERROR]),
        ("vllm serve moonshotai/Kimi-K2.5 -tp 8 -q w4a16", "", [ERROR]),
        ("vllm serve moonshotai/Kimi-K2.5 -tp 8 --quantization compressed-tensors", "0.32.0", []),
        ("vllm serve moonshotai/Kimi-K2.5 -tp 8 --quantization a_plugin", "0.32.0", []),
        ("vllm serve moonshotai/Kimi-K2.5 -tp 8 --quantization $Q", "0.32.0", []),
        ("vllm serve moonshotai/Kimi-K2.5 -tp 8 --quantization awq", "0.32.0", [ERROR]),
        ("vllm serve /models/Kimi-K2.5 -tp 8 --quantization awq", "0.32.0", [WARNING]),
        ("vllm serve /models/Kimi-K2.5-AWQ -tp 8 --quantization awq", "0.32.0", []),
        ("vllm serve deepseek-ai/DeepSeek-R1 -tp 8 --quantization fp8", "0.32.0", []),
        ("vllm serve deepseek-ai/DeepSeek-R1 -tp 8 --quantization awq", "0.32.0", [ERROR]),
        ("vllm serve nvidia/Kimi-K2.5-NVFP4 -tp 8 --quantization modelopt_fp4", "0.32.0", []),
        ("vllm serve nvidia/Kimi-K2.5-NVFP4 -tp 8 --quantization fp8", "0.32.0", []),  # its own method wins
        ("vllm serve unsloth/DeepSeek-R1-BF16 -tp 16 --quantization fp8", "0.32.0", []),
        ("vllm serve some/Qwen -tp 8 --quantization deepspeedfp", "0.32.0", [WARNING]),
        ("vllm serve some/Qwen -tp 8 --quantization deepspeedfp", "0.10.0", []),
    ],
)
def test_methods(command: str, version: str, expected: list[Severity]) -> None:
    assert said(ask_one(command, "", version)) == expected


def test_a_method_that_is_none_is_left_out() -> None:
    one = ask_one("vllm serve moonshotai/Kimi-K2.5 -tp 8 --quantization int4 --max-model-len 32768")
    assert "--quantization" not in one.corrected[0].argv


@pytest.mark.parametrize(
    ("command", "where", "expected"),
    [
        ("vllm serve DeepSeek-V3 -tp 8 --quantization ascend", "--quantization", [WARNING]),
        ("vllm serve moonshotai/Kimi-K2.5 -tp 8 --quantization ascend", "--quantization", [WARNING]),
        ("vllm serve Eco-Tech/Kimi-K2.5-W4A8 -tp 8 --quantization ascend", "--quantization", []),
        ("vllm serve /data/DeepSeek-V3-W8A8 -tp 8 --quantization ascend", "--quantization", []),
        ("vllm serve /data/DeepSeek-V3 -tp 8", "weights", [WARNING]),
        ("vllm serve /data/DeepSeek-V3-bf16 -tp 8", "weights", []),
        ("vllm serve /data/DeepSeek-V3 -tp 8 # converted to BF16", "weights", []),
        ("vllm serve /data/models -tp 8 --served-model-name deepseek_r1", "weights", [NOTE]),
        ("vllm serve /data/models -tp 8", "weights", []),
    ],
)
def test_weights_on_ascend(command: str, where: str, expected: list[Severity]) -> None:
    assert said(ask_one(command, "8xA2"), where) == expected
