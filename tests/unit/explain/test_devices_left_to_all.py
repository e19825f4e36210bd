"""A server that takes all devices takes those that a variable leaves to it."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVE = "llama-server -m /m/Kimi-K2-Instruct-UD-Q2_K_XL.gguf -c 4096 -ngl 99"


@pytest.mark.parametrize(
    ("before", "more", "devices"),
    [
        ('CUDA_VISIBLE_DEVICES="0,1" ', "", "2xRTX5090"),
        ("CUDA_VISIBLE_DEVICES=0,1,2 ", "", "3xRTX5090"),
        ("(base) me@box:~/llama.cpp$ CUDA_VISIBLE_DEVICES=0,1 ", "", "2xRTX5090"),
        ("", "", "1xRTX5090"),
        ("CUDA_VISIBLE_DEVICES=$GPUS ", "", "1xRTX5090"),
        ("CUDA_VISIBLE_DEVICES=0,1 ", " --split-mode none", "1xRTX5090"),
    ],
)
def test_as_many_as_it_sees(before: str, more: str, devices: str) -> None:
    (judged,) = ask(f"On the RTX 5090:\n\n```\n{before}{SERVE}{more}\n```\n")
    assert judged.cluster is not None
    assert judged.cluster.name == devices
