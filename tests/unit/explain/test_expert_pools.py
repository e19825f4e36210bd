"""Experts in host memory over the pools of threads."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask


def told(model: str, method: str, pools: int, weights: str = "--kt-weight-path /w/experts") -> list[str]:
    command = f"python -m sglang.launch_server --model-path {model} {weights} --kt-method {method} --kt-cpuinfer 64 "
    judged = ask(f"{command}--kt-threadpool-count {pools} --kt-num-gpu-experts 8\n")
    return [finding.remedy for each in judged for finding in each.findings if "pools that is" in finding.message]


@pytest.mark.parametrize(
    ("model", "method", "pools", "remedy"),
    [
        ("zai-org/GLM-4.5-Air", "AMXINT4", 2, "write --kt-threadpool-count 1, and convert the weights for as many"),
        ("Qwen/Qwen3-235B-A22B", "AMXINT4", 8, "write --kt-threadpool-count 6, and convert the weights for as many"),
        ("Qwen/Qwen3-30B-A3B", "AMXINT4", 4, "write --kt-threadpool-count 3, and convert the weights for as many"),
        ("deepseek-ai/DeepSeek-V3.1", "FP8", 3, "write --kt-threadpool-count 2"),
        ("Qwen/Qwen3-30B-A3B", "LLAMAFILE", 4, "write --kt-threadpool-count 3"),
    ],
)
def test_parts_that_are_no_whole_steps(model: str, method: str, pools: int, remedy: str) -> None:
    assert told(model, method, pools) == [remedy]


@pytest.mark.parametrize(
    ("model", "method", "pools"),
    [
        ("Qwen/Qwen3-235B-A22B", "AMXINT8", 8),
        ("Qwen/Qwen3-235B-A22B", "AMXINT4", 4),
        ("zai-org/GLM-4.5-Air", "AMXINT4", 1),
        ("zai-org/GLM-4.5-Air", "AMXINT8", 2),
        ("zai-org/GLM-4.5-Air", "LLAMAFILE", 2),
        ("deepseek-ai/DeepSeek-V3.1", "AMXINT4", 8),
        ("moonshotai/Kimi-K2-Instruct", "RAWINT4", 2),
        ("Qwen/Qwen3-30B-A3B", "$METHOD", 4),
        ("/w/unknown", "AMXINT4", 3),
    ],
)
def test_whole_steps(model: str, method: str, pools: int) -> None:
    assert told(model, method, pools) == []


def test_nothing_without_experts_in_host_memory() -> None:
    assert told("Qwen/Qwen3-30B-A3B", "AMXINT4", 4, weights="") == []
