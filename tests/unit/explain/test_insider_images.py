"""Images that not everybody can pull."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

START = "docker run --gpus all {} python3 -m dynamo.vllm --model Qwen/Qwen3-32B"


def said(image: str, comment: str = "") -> int:
    text = comment + START.format(image)
    return sum("(access denied)" in each.message for judged in ask(text) for each in judged.findings)


@pytest.mark.parametrize(
    "image",
    [
        "nvcr.io/nvstaging/ai-dynamo/vllm-runtime:1.3.0-glm-5.2-dev.1",
        "nvcr.io/nvidian/dynamo-dev/someone:7e499b5c-39500608-vllm-amd64",
        "gitlab-master.nvidia.com:5005/dl/ai-dynamo/dynamo-ci:abc",
    ],
)
def test_a_folder_of_its_owner(image: str) -> None:
    assert said(image) == 1


@pytest.mark.parametrize("image", ["nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.3.0", "example.org/nvstaging/a:1"])
def test_a_public_one(image: str) -> None:
    assert said(image) == 0


def test_a_comment_is_none() -> None:
    assert (
        said("nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.3.0", "# was nvcr.io/nvstaging/ai-dynamo/vllm-runtime:1\n") == 0
    )
