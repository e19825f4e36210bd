"""What lines beside a command say of models that are not planned."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

VL = "vllm serve Qwen/Qwen3-VL-235B-A22B-Instruct --tensor-parallel-size 8 --max-model-len 65536"
FALLBACK = "INFO 09-25 10:53:35 [transformers.py:439] Using Transformers backend."
FULL = "ERROR 10-23 08:05:13 [core.py:708] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"
YARN = """--hf-overrides '{"rope_parameters": {"rope_type":"yarn","rope_theta":%s,"factor":4}}'"""
MXFP4 = "amd/MiniMax-M2.1-MXFP4"


def said(text: str, on: str = "", version: str = "") -> str:
    return " | ".join(f"{each.where}: {each.message}" for judged in ask(text, on, version) for each in judged.findings)


@pytest.mark.parametrize(
    ("text", "on", "version", "part"),
    [
        (f"{VL}\n\n```\n{FALLBACK}\n```\n", "8xH20", "", "no class for Qwen3-VL-235B-A22B, which came with 0.11.0"),
        (f"```\n{VL}\n```\n\n```\n{FULL}\n```\n", "8xA100", "0.11.0", "55 of 79 GiB on each device"),
        (f"vllm serve Qwen/Qwen3-235B-A22B -tp 8 {YARN % 1000}", "", "0.12.0", "has rope_theta 1000000"),
        (
            f"```\nvllm serve Qwen/Qwen3-30B-A3B -tp 2\n```\n\nFrom 0.12.0 on write `{YARN % 10000}`.\n",
            "",
            "",
            "has rope_theta 1000000",
        ),
        (f"VLLM_ROCM_USE_AITER=1 vllm serve {MXFP4} -tp 4", "4xMI355X", "0.16.0", "1536 over 4, 384 each"),
        (
            f"It is {MXFP4}, with `export VLLM_ROCM_USE_AITER=1`.\n\n```\nvllm serve $MODEL -tp 4\n```\n",
            "4xMI355X",
            "0.17.1",
            "1536 over 4, 384 each",
        ),
    ],
)
def test_a_sign_is_told(text: str, on: str, version: str, part: str) -> None:
    assert part in said(text, on, version)


@pytest.mark.parametrize(
    ("text", "on", "version", "part"),
    [
        (f"{VL}\n\n```\n{FALLBACK}\n```\n", "8xH20", "0.11.2", "no class"),
        (f"{VL} --model-impl transformers\n\n```\n{FALLBACK}\n```\n", "8xH20", "", "no class"),
        (VL, "8xH20", "", "no class"),
        (f"```\n{VL}\n```\n\n```\n{FULL}\n```\n", "8xH200", "0.11.0", "on each device"),
        (f"```\n{VL}\n```\n", "8xA100", "0.11.0", "on each device"),
        (f"vllm serve Qwen/Qwen3-235B-A22B -tp 8 {YARN % 1000000}", "", "0.12.0", "has rope_theta"),
        (f"vllm serve Qwen/Qwen3-235B-A22B -tp 8 {YARN % '1e6'}", "", "0.12.0", "has rope_theta"),
        (f"vllm serve ours/model -tp 8 {YARN % 1000}", "", "0.12.0", "has rope_theta"),
        (f"VLLM_ROCM_USE_AITER=1 vllm serve {MXFP4} -tp 2", "2xMI355X", "0.16.0", "1536 over"),
        (f"VLLM_ROCM_USE_AITER=1 vllm serve {MXFP4} -tp 4", "4xMI355X", "0.18.0", "1536 over"),
        (f"VLLM_ROCM_USE_AITER=0 vllm serve {MXFP4} -tp 4", "4xMI355X", "0.16.0", "1536 over"),
        (f"vllm serve {MXFP4} -tp 4", "4xMI355X", "0.16.0", "1536 over"),
    ],
)
def test_no_sign_is_seen_elsewhere(text: str, on: str, version: str, part: str) -> None:
    assert part not in said(text, on, version)
