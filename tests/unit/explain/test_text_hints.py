"""Releases and machines that a text names."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.text_hints import version_of_image
from moonpad.explain.script import read_script

VERSIONS = [
    ("pip install vllm==0.11.0", {"vllm": "0.11.0"}, {}),
    ('uv pip install "sglang[all]==0.5.3.post1"', {"sglang": "0.5.3.post1"}, {}),
    ("docker pull vllm/vllm-openai:v0.20.0", {"vllm": "0.20.0"}, {}),
    ("docker pull lmsysorg/sglang:v0.5.5-cu129-amd64", {"sglang": "0.5.5"}, {}),
    ("docker pull quay.io/ascend/vllm-ascend:v0.20.2rc1-a3", {"vllm-ascend": "0.20.2rc1"}, {}),
    ("nvcr.io/nvidia/tensorrt-llm/release:1.2.0rc1", {"tensorrt-llm": "1.2.0rc1"}, {}),
    ("vLLM nightly (v0.11.1rc6.dev211+g934a9c3b7)", {"vllm": "0.11.1rc6.dev211+g934a9c3b7"}, {}),
    ("vLLM version v0.10.0rc1 or later is required", {}, {"vllm": "0.10.0rc1"}),
    ("vLLM 0.8.5+ has it, SGLang 0.5 too", {"sglang": "0.5"}, {"vllm": "0.8.5"}),
    ("pip install 'vllm>=0.9.1'", {}, {"vllm": "0.9.1"}),
    ("tested with vLLM 0.9 in vllm/vllm-openai:v0.11.0", {"vllm": "0.11.0"}, {}),
    ("The vLLM wheel requires Python 3.12, ROCm 7.0, and glibc >= 2.35", {}, {}),
    ("vllm/vllm-openai:latest, vllm-ascend:|version|, sglang:dev", {}, {}),
]


@pytest.mark.parametrize(("text", "named", "least"), VERSIONS)
def test_versions(text: str, named: dict[str, str], least: dict[str, str]) -> None:
    script = read_script(text)
    assert dict(script.versions) == named
    assert dict(script.minimum_versions) == least


MACHINES = [
    ("on 8× NVIDIA H100 80GB GPUs", ("8xH100",)),
    ("16xH800, then 8*H200 and 8x H200/H20", ("16xH800", "8xH200", "8xH20")),
    ("two nodes: 2x8xH800", ("2x8xH800",)),
    ("8 x MI300X or 8xAMD Instinct MI325X", ("8xMI300X", "8xMI325X")),
    ("one Atlas 800 A3 (64G × 16) node", ("16xA3",)),
    ("2x RTX 4090 and 4x4090-48G", ("2xRTX4090", "4xRTX4090-48G")),
    ("a cluster with 16 GPUs of H200 or H20", ()),
    ("4P12D H200; TP8 on H100; 128x H1000; x8 H100", ()),
]


@pytest.mark.parametrize(("text", "machines"), MACHINES)
def test_machines(text: str, machines: tuple[str, ...]) -> None:
    assert tuple(machine for machine, _ in read_script(f"# {text}\n").placed_hints) == machines


def test_the_version_of_an_image() -> None:
    assert version_of_image("docker.io/vllm/vllm-openai:v0.11.0") == ("vllm", "0.11.0")
    assert version_of_image("vllm/vllm-openai-rocm:latest") is None
    script = read_script("I=vllm/vllm-openai:v0.1\nI=${I}2.3\ndocker run $I --model m\n")
    assert [command.container is not None for command in script.commands if command.program != "other"] == [True]
    assert dict(script.versions)["vllm"] in ("0.1", "0.12.3")
