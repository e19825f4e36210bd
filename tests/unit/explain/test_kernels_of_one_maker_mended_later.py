"""AITER's kernels, by option or variable, are for AMD's devices: those are proposed, and no faults of others told."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask_one

SGLANG = "python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1-0528 --tp-size 8"
VLLM = "vllm serve deepseek-ai/DeepSeek-R1-0528 -tp 8"
OF_AMD = (
    *(f"{SGLANG} --attention-backend aiter", f"{SGLANG} --attention-backend=aiter", f"SGLANG_USE_AITER=1 {SGLANG}"),
    *(f"{SGLANG} --decode-attention-backend aiter", f"export SGLANG_USE_AITER=1\n{SGLANG}"),
    *(f"VLLM_ROCM_USE_AITER=1 {VLLM}", f"{VLLM} --attention-backend ROCM_AITER_MLA"),
    f"VLLM_ATTENTION_BACKEND=ROCM_AITER_MLA {VLLM}",
)
OTHERS = (SGLANG, VLLM, f"{SGLANG} --attention-backend fa3", f"VLLM_ATTENTION_BACKEND=FLASHMLA {VLLM}")


@pytest.mark.parametrize("text", OF_AMD)
def test_it_proposes_devices_of_amd(text: str) -> None:
    assert ask_one(text, on="").unjudged.endswith("8xMI300X")


@pytest.mark.parametrize("text", OTHERS)
def test_any_other_command_gets_the_usual_ones(text: str) -> None:
    assert ask_one(text, on="").unjudged.endswith("8xH200")


def of_others(text: str) -> list[str]:
    """What is told of NVIDIA's devices and of NPUs."""
    told = [finding.message for finding in ask_one(text, on="").findings]
    return [
        each for each in told if any(word in each for word in ("Blackwell", "on 10.0", "on cuda", "on ascend", "RTX"))
    ]


@pytest.mark.parametrize("text", OF_AMD)
def test_it_tells_no_faults_of_other_makers(text: str) -> None:
    assert of_others(text) == []


def test_without_them_such_faults_are_told() -> None:
    assert of_others(SGLANG)


def test_devices_that_the_text_names_are_kept() -> None:
    judged = ask_one(f"# 8x MI355X\n{SGLANG} --attention-backend aiter\n", on="")
    assert judged.cluster is not None
    assert judged.cluster.name == "8xMI355X"
