"""Images for the devices of one maker on those of another, and what NPUs are opened through."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding
from tests.unit.explain.judging import ask

ROCM = "docker run --device /dev/kfd --device /dev/dri --group-add video --ipc host"
SERVE = "--model moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8 --trust-remote-code"
CARDS = " ".join(f"--device /dev/davinci{number}" for number in range(8))
ASCEND = f"docker run --shm-size 16g {CARDS} -v /usr/local/Ascend/driver:/usr/local/Ascend/driver"


def found(text: str, words: str) -> list[Finding]:
    return [finding for each in ask(text) for finding in each.findings if words in finding.message]


@pytest.mark.parametrize("options", [ROCM, "docker run --gpus all --ipc host", "docker run --ipc host"])
def test_an_image_for_cuda_on_devices_of_amd(options: str) -> None:
    text = f"# 8x MI300X\n{options} vllm/vllm-openai:v0.20.0 {SERVE}"
    (finding,) = found(text, "is built for CUDA")
    assert "vllm/vllm-openai-rocm" in finding.remedy
    assert not found(text, "the container gets no GPU")


def test_an_image_for_rocm_on_devices_of_nvidia() -> None:
    text = "docker run --gpus all --ipc host lmsysorg/sglang:v0.5.9-rocm700-mi30x python3 -m sglang.launch_server"
    text = f"# 8x H200\n{text} --model-path moonshotai/Kimi-K2-Thinking --tp 8 --trust-remote-code"
    (finding,) = found(text, "is built for ROCm")
    assert "without rocm" in finding.remedy
    assert not found(text, "for AMD (/dev/kfd")


@pytest.mark.parametrize(
    "text",
    [
        f"# 8x MI300X\n{ROCM} vllm/vllm-openai-rocm:v0.20.0 {SERVE}",
        f"# 8x H200\ndocker run --gpus all --ipc host vllm/vllm-openai:v0.20.0 {SERVE}",
        f"docker run --gpus all --ipc host vllm/vllm-openai:v0.20.0 {SERVE}",
        f"# 8x H200, and the same with 8x MI300X later\ndocker run --gpus all vllm/vllm-openai:v0.20.0 {SERVE}",
    ],
)
def test_images_of_the_own_maker(text: str) -> None:
    assert not found(text, "is built for")


def test_npus_are_opened_through_three_more_devices() -> None:
    text = "quay.io/ascend/vllm-ascend:v0.17.0 vllm serve /w/Kimi-K2.5-W4A8 -tp 8 --quantization ascend"
    (finding,) = found(f"{ASCEND} {text}", "/dev/davinci_manager")
    assert all(name in finding.remedy for name in ("davinci_manager", "devmm_svm", "hisi_hdc"))
    (finding,) = found(f"{ASCEND} --device /dev/davinci_manager {text}", "/dev/devmm_svm")
    assert "--device /dev/hisi_hdc" in finding.remedy
    whole = f"{ASCEND} --device /dev/davinci_manager --device /dev/devmm_svm --device /dev/hisi_hdc"
    assert not found(f"{whole} {text}", "the container is not given")


def test_no_device_of_amd_in_a_log() -> None:
    text = f"{ROCM} vllm/vllm-openai-rocm:v0.20.0 {SERVE}\nRuntimeError: No HIP GPUs are available"
    (finding,) = found(text, "the engine stopped")
    assert "/dev/kfd" in finding.remedy
    assert "nvidia-smi" not in finding.remedy


@pytest.mark.parametrize("digest", ["", f"@sha256:{'5a' * 32}"])
@pytest.mark.parametrize("image", ["vllm/vllm-openai-rocm:kimi-k3", "vllm/vllm-openai:kimi-k3"])
def test_an_image_for_a_model_with_its_digest(image: str, digest: str) -> None:
    """vLLM 0.27.0 is the first release that has Kimi-K3 (https://github.com/vllm-project/vllm/releases)."""
    (judged,) = ask(f"docker run --ipc host {image}{digest} moonshotai/Kimi-K3 --tensor-parallel-size 8\n")
    assert "from before 0.27.0" in judged.version_because
