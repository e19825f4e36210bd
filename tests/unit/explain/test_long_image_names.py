"""Copies of an engine's image whose names go on with what was built in, and whose tags begin with its release."""

import pytest

from tests.unit.explain.judging import ask_one


@pytest.mark.parametrize(
    "image",
    [
        "registry.example.com/acme/vllm-openai-kvstore-ucx:v0.10.2-ucx-1.19.0",
        "acme/vllm-openai-cache-rdma-cu128:v0.10.2",
    ],
)
def test_release_is_that_of_the_tag(image: str) -> None:
    text = (
        f"docker run --gpus all -e VLLM_USE_V1=1 {image} --model moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8"
    )
    judged = ask_one(text)
    assert judged.version == "0.10.2"
    assert not [each for each in judged.findings if "VLLM_USE_V1" in each.message]
