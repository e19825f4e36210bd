"""Containers that are started by hand, and the devices that they are given."""

from __future__ import annotations

import pytest

from moonpad.catalog.image_devices import image_devices
from tests.unit.explain.judging import ask

NPUS = "--device /dev/davinci0 --device /dev/davinci_manager --device /dev/devmm_svm --device /dev/hisi_hdc "
DRIVER = "-v /usr/local/Ascend/driver/lib64/:/usr/local/Ascend/driver/lib64/ "
DECODE = (
    "quay.io/ascend/vllm-ascend:v0.18.0 vllm serve Qwen/Qwen3-8B --kv-transfer-config "
    """'{"kv_connector": "MooncakeConnectorV1", "kv_role": "kv_consumer"}'"""
)


def told(text: str) -> list[str]:
    messages = {row.message: key for key, row in image_devices().items()}
    findings = [finding for judged in ask(text) for finding in judged.findings]
    return [messages[finding.message] for finding in findings if finding.message in messages]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("docker run --ipc=host vllm/vllm-openai:v0.20.1 --model Qwen/Qwen3-8B", "nvidia"),
        ("podman run lmsysorg/sglang:v0.5.9 python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B", "nvidia"),
        ("docker run ghcr.io/ggml-org/llama.cpp:server-cuda -m /models/a.gguf", "nvidia"),
        ("docker run --gpus all rocm/vllm:latest vllm serve Qwen/Qwen3-8B", "amd"),
        ("docker run lmsysorg/sglang:v0.5.9-rocm700-mi35x sglang serve --model-path Qwen/Qwen3-8B", "amd"),
        ("docker run --gpus all quay.io/ascend/vllm-ascend:v0.18.0 vllm serve Qwen/Qwen3-8B", "ascend"),
        (f"docker run {NPUS}quay.io/ascend/vllm-ascend:v0.18.0 vllm serve Qwen/Qwen3-8B", "ascend-driver"),
        (
            f"docker run {NPUS.replace('davinci_manager', 'dav_manager')}{DRIVER}quay.io/ascend/vllm-ascend:v0.18.0 "
            "vllm serve Qwen/Qwen3-8B",
            "ascend-manager",
        ),
        (f"docker run {NPUS}{DRIVER}{DECODE}", "ascend-network"),
        (
            "docker run -it -v /m:/m quay.io/ascend/vllm-ascend:v0.18.0 bash\n\nvllm serve /m/Qwen3-8B\n",
            "ascend",
        ),
    ],
)
def test_no_devices(text: str, key: str) -> None:
    assert told(text) == [key]


@pytest.mark.parametrize(
    "text",
    [
        "docker run --gpus all --ipc=host vllm/vllm-openai:v0.20.1 --model Qwen/Qwen3-8B",
        "docker run --runtime nvidia vllm/vllm-openai:v0.20.1 --model Qwen/Qwen3-8B",
        "docker run --runtime=nvidia vllm/vllm-openai:v0.20.1 --model Qwen/Qwen3-8B",
        "podman run --device nvidia.com/gpu=all vllm/vllm-openai:v0.20.1 --model Qwen/Qwen3-8B",
        "docker run $GPU_OPTIONS vllm/vllm-openai:v0.20.1 --model Qwen/Qwen3-8B",
        "docker run vllm/vllm-openai-cpu:v0.20.1 --model Qwen/Qwen3-8B",
        "docker run vllm/vllm-openai:v0.20.1-cpu --model Qwen/Qwen3-8B",
        "docker run lmsysorg/sglang:v0.5.9-xeon sglang serve --model-path Qwen/Qwen3-8B --device cpu",
        "docker run ghcr.io/ggml-org/llama.cpp:server -m /models/a.gguf",
        "docker run --device=/dev/kfd --device=/dev/dri rocm/vllm:latest vllm serve Qwen/Qwen3-8B",
        "docker run --runtime=amd -e AMD_VISIBLE_DEVICES=all rocm/vllm:latest vllm serve Qwen/Qwen3-8B",
        "docker run --privileged rocm/vllm:latest vllm serve Qwen/Qwen3-8B",
        f"docker run {NPUS}{DRIVER}quay.io/ascend/vllm-ascend:v0.18.0 vllm serve Qwen/Qwen3-8B",
        f"docker run {NPUS}{DRIVER}-v /etc/hccn.conf:/etc/hccn.conf {DECODE}",
        f"docker run --privileged {DRIVER}quay.io/ascend/vllm-ascend:v0.18.0 vllm serve Qwen/Qwen3-8B",
        "docker run -e ASCEND_VISIBLE_DEVICES=0-7 quay.io/ascend/vllm-ascend:v0.18.0 vllm serve Qwen/Qwen3-8B",
        "docker run my/own:1 vllm serve Qwen/Qwen3-8B",
        "vllm serve Qwen/Qwen3-8B",
        "services:\n  a:\n    image: vllm/vllm-openai:v0.20.1\n    command: --model Qwen/Qwen3-8B\n",
    ],
)
def test_devices(text: str) -> None:
    assert told(text) == []


def test_the_corrected_command_asks_for_no_devices_of_another_maker() -> None:
    text = "docker run --gpus all --ipc=host rocm/vllm:latest vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8"
    words = [word for judged in ask(text, on="8xMI355X") for line in judged.corrected for word in line.argv]
    assert "--device=/dev/kfd" in words
    assert "--gpus" not in words


@pytest.mark.parametrize(
    ("sizes", "written"),
    [("-tp 8 -pp 2", "--pipeline-parallel-size 1"), ("-tp 16", "--tensor-parallel-size 8"), ("-tp 5 -pp 3", "")],
)
def test_the_size_that_fits_a_machine(sizes: str, written: str) -> None:
    text = f"docker run --gpus 8 vllm/vllm-openai:v0.20.0 moonshotai/Kimi-K2-Instruct {sizes}\n"
    (judged,) = ask(text, "2x8xH200")
    (finding,) = [each for each in judged.findings if each.where == "--gpus" and "the containers get" in each.message]
    assert finding.remedy.endswith(f"start it on 2 machines{f', or write {written}' if written else ''}")
