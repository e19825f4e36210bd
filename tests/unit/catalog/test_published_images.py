"""The release of an engine that an image of another publisher holds."""

from __future__ import annotations

import re

import pytest

from moonpad.catalog.image_releases import REFERENCE, UNKNOWN_TAG, held_release, listed_tags, worded_tags
from moonpad.engines import ENGINES
from moonpad.values.versions import parse


@pytest.mark.parametrize(
    ("image", "engine", "version"),
    [
        ("nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.3.1", "vllm", "0.23.0"),
        ("nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.3.1-efa", "vllm", "0.23.0"),
        ("nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.1.0-efa-amd64", "vllm", "0.19.0"),
        ("nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.3.0-dev.1-cuda13", "vllm", "0.22.0"),
        ("mirror.example:5000/nvidia/ai-dynamo/sglang-runtime:0.7.0", "sglang", "0.5.4.post3"),
        ("nvcr.io/nvidia/ai-dynamo/tensorrtllm-runtime:1.0.2@sha256:0123", "tensorrt-llm", "1.3.0rc5.post1"),
        ("nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.5.0-kimi-k3-dev.1", "vllm", "0.28.0"),
        ("nvcr.io/nvidia/vllm:25.10-py3", "vllm", "0.10.2"),
        ("nvcr.io#nvidia/vllm:26.05-py3", "vllm", "0.20.1"),
        ("docker://nvcr.io/nvidia/tritonserver:26.07-vllm-python-py3", "vllm", "0.24.0"),
        ("nvcr.io/nvidia/tritonserver:26.07-trtllm-python-py3", "tensorrt-llm", "1.2.1"),
        ("ghcr.io/llm-d/llm-d-aws:v0.9.0", "vllm", "0.26.0"),
        ("gpustack/runner:cuda12.8-vllm0.13.0", "vllm", "0.13.0"),
        ("gpustack/runner:rocm7.0-sglang0.5.8.post1", "sglang", "0.5.8.post1"),
        ("rocm/vllm-dev:rocm7.2_navi_ubuntu22.04_py3.10_pytorch_2.9_vllm_0.14.0rc0", "vllm", "0.14.0rc0"),
    ],
)
def test_a_listed_image(image: str, engine: str, version: str) -> None:
    held = held_release(image)
    assert held is not None
    assert (held.engine, held.version) == (engine, version)


@pytest.mark.parametrize(
    "image",
    [
        "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.4.0-kimi-k3-dev.1",
        "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.3.0-kimi-k2.6-dev.1-rc.0-cuda13",
        "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.3",
        "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.4.0-rc.4",
        "nvcr.io/nvidia/ai-dynamo/vllm-runtime:my-tag",
        "nvcr.io/nvidia/ai-dynamo/vllm-runtime:-efa",
        "nvcr.io/nvidia/ai-dynamo/tensorrtllm-runtime:0.8.1.post1",
        "nvcr.io/nvidia/vllm:26.05.post1-py3",
        "nvcr.io/nvidia/vllm:99.01-py3",
        "nvcr.io/nvidia/tritonserver:26.07-py3",
        "ghcr.io/llm-d/llm-d-cuda:v0.5.1",
        "gpustack/runner:cann9.0-910b-vllm0.20.2",
        "rocm/vllm-dev:nightly_main_20251119",
    ],
)
def test_a_tag_that_is_not_listed_is_unknown(image: str) -> None:
    assert held_release(image) == UNKNOWN_TAG


@pytest.mark.parametrize(
    "image",
    [
        *("vllm/vllm-openai:v0.11.0", "lmsysorg/sglang:v0.5.9", "acme/vllm-runtime:1.3.1", "nvidia/vllm", "vllm:25.10"),
        *("", ":", "a/b/", "ghcr.io/llm-d/llm-d-rocm:v0.9.0"),
    ],
)
def test_images_of_others_are_not_spoken_of(image: str) -> None:
    assert held_release(image) is None


def test_every_row_can_be_found() -> None:
    for listed in listed_tags():
        assert listed.engine in ENGINES
        assert listed.tags
        for name in listed.names:
            assert name.count("/") == 1
            for tag, version in listed.tags.items():
                assert parse(version) is not None
                for variant in ("", *listed.variants):
                    held = held_release(f"registry.example/{name}:{tag}{variant}")
                    assert held is not None
                    assert (held.engine, held.version) == (listed.engine, version)
    for worded in worded_tags():
        assert worded.engine in ENGINES
        assert worded.tag.count("{version}") == 1
        assert all(name.count("/") == 1 for name in worded.names)


def test_no_tag_is_listed_twice() -> None:
    tags = [(name, tag) for row in listed_tags() for name in row.names for tag in row.tags]
    assert len(tags) == len(set(tags))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("image: nvcr.io/nvidia/vllm:25.10-py3", ["nvcr.io/nvidia/vllm:25.10-py3"]),
        ("x=docker://a.example:5000/b/c:1.0", ["a.example:5000/b/c:1.0"]),
        ("a/b/c and d", []),
    ],
)
def test_references_in_a_text(text: str, found: list[str]) -> None:
    assert [match[0] for match in REFERENCE.finditer(text)] == found


def test_a_long_word_costs_little() -> None:
    assert REFERENCE.search("a." * 100_000 + "/" * 1000) is None
    assert not re.search(REFERENCE, "/".join(["ab"] * 50_000))
