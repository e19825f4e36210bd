"""Single letters that are missing or too many, and a download that is told to stay offline."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

IMAGE = "lmsysorg/sglang:v0.5.9 "
SGL = "python3 -m sglang.launch_server --model-path {} --tp 8 --trust-remote-code"
K25 = SGL.format("moonshotai/Kimi-K2.5")
GET = "huggingface-cli download moonshotai/Kimi-K2.5\n"


def told(text: str, words: str) -> bool:
    return any(words in finding.message for judged in ask("#!/bin/bash\n" + text) for finding in judged.findings)


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        (f"docker run -rm --gpus all {IMAGE}{K25}", "options of one letter", True),
        (f"docker run --rm -it --gpus all {IMAGE}{K25}", "options of one letter", False),
        (f"docker run --gpus all -p 30000 {IMAGE}{K25}", "any free port of the host", True),
        (f"docker run --gpus all -p 30000:30000 {IMAGE}{K25}", "any free port of the host", False),
        (f"docker run --gpus all -v /m {IMAGE}{SGL.format('/m/Kimi-K2.5')}", "a new and empty volume", True),
        (f"docker run --gpus all -v /m:/m {IMAGE}{SGL.format('/m/Kimi-K2.5')}", "a new and empty volume", False),
        (f"docker run --gpus all -v /tmp/c {IMAGE}{K25}", "a new and empty volume", False),
        (K25.replace(" -m", ""), "without -m Python", True),
        (K25, "without -m Python", False),
        (f"pip install sglang=0.5.9\n{K25}", "is no requirement", True),
        (f"pip install sglang==0.5.9\n{K25}", "is no requirement", False),
        (f"pip install 'sglang>=0.5.9' --timeout=60\n{K25}", "is no requirement", False),
        (f"HF_HUB_OFFLINE=1 {GET}{K25}", "HF_HUB_OFFLINE is on", True),
        (f"export HF_HUB_OFFLINE=1\n{GET}{K25}", "HF_HUB_OFFLINE is on", True),
        (f"export HF_HUB_OFFLINE=0\n{GET}{K25}", "HF_HUB_OFFLINE is on", False),
        (f"{GET}HF_HUB_OFFLINE=1 {K25}", "HF_HUB_OFFLINE is on", False),
        (f"export HF_HUB_OFFLINE=1\nHF_HUB_OFFLINE=0 {GET}{K25}", "HF_HUB_OFFLINE is on", False),
        (f"CUDA_VISIBLE_DEVICES='0 1 2 3 4 5 6 7' {K25}", "with commas between", True),
        (f"CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,6 {K25}", "is named twice", True),
        (f"CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 {K25}", "is named twice", False),
        (f"NCCL_SOCKET_IFNAME=mlx5_0 {K25}", "is an RDMA device, and", True),
        (f"NCCL_SOCKET_IFNAME=eth0 {K25}", "is an RDMA device, and", False),
        (f"NCCL_IB_HCA=eth0 {K25}", "is a network interface, and", True),
        (f"NCCL_IB_HCA=mlx5_0 {K25}", "is a network interface, and", False),
    ],
)
def test_slips(text: str, words: str, *, expected: bool) -> None:
    assert told(text, words) == expected
