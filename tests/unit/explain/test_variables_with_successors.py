"""Variables that nothing reads any more, whose remedy names what took their place."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask_one

K2 = "vllm serve moonshotai/Kimi-K2-Instruct --trust-remote-code -tp 8"


@pytest.mark.parametrize(
    ("variable", "version", "remedy"),
    [
        ("VLLM_USE_FLASHINFER_MOE_FP8=0", "0.33.0", "--moe-backend"),
        ("VLLM_USE_FLASHINFER_MOE_FP8=1", "0.24.0", "--moe-backend"),
        ("VLLM_USE_FLASHINFER_MOE_FP8=0", "0.23.0", ""),
        ("VLLM_TORCH_COMPILE_CACHE=/nvme/cache", "0.19.1", "VLLM_CACHE_ROOT"),
        ("VLLM_CACHE_ROOT=/nvme/cache", "0.19.1", ""),
    ],
)
def test_the_remedy_names_it(variable: str, version: str, remedy: str) -> None:
    judged = ask_one(f"export {variable}\n{K2}\n", version=version)
    found = [each.remedy for each in judged.findings if each.where == variable.partition("=")[0]]
    assert [remedy in each for each in found] == [True] * bool(remedy)
