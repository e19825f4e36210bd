"""A command to which one of a machine's devices is left runs on that one, and leaves the others to somebody else."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask_one

LINEAR = "moonshotai/Kimi-Linear-48B-A3B-Instruct --max-model-len 32768 --trust-remote-code"
VLLM = f"vllm serve {LINEAR}"
SGLANG = "python -m sglang.launch_server --model-path moonshotai/Kimi-Linear-48B-A3B-Instruct --trust-remote-code"
IMAGE = f"--ipc host vllm/vllm-openai:v0.20.0 --model {LINEAR}"


def idle(text: str, on: str = "") -> tuple[str, list[str]]:
    judged = ask_one(text, on=on)
    assert judged.cluster is not None
    return judged.cluster.name, [each.message for each in judged.findings if "stay idle" in each.message]


@pytest.mark.parametrize(
    ("text", "devices"),
    [
        (f"# 8 x H200\nCUDA_VISIBLE_DEVICES=5 {VLLM}\n", "1xH200"),
        (f"# 8 x H200\nexport CUDA_VISIBLE_DEVICES=4,5\n{VLLM} -tp 2\n", "2xH200"),
        (f"# 8 x H200\nCUDA_VISIBLE_DEVICES=GPU-0a1b2c3d-0001 {VLLM}\n", "1xH200"),
        (f"# 8 x MI300X\nHIP_VISIBLE_DEVICES=2,3 {VLLM} -tp 2\n", "2xMI300X"),
        (f"# 8 x MI300X\nROCR_VISIBLE_DEVICES=2,3 {VLLM} -tp 2\n", "2xMI300X"),
        (f"# 8 x H200\nCUDA_VISIBLE_DEVICES=0,1,2,3 {SGLANG} --tp-size 4\n", "4xH200"),
        (f"# 8 x H200\ndocker run --gpus '\"device=0,1\"' {IMAGE} -tp 2\n", "2xH200"),
        (f"# 8 x H200\ndocker run --runtime nvidia -e NVIDIA_VISIBLE_DEVICES=3 {IMAGE}\n", "1xH200"),
    ],
)
def test_the_devices_that_it_sees_are_counted(text: str, devices: str) -> None:
    assert idle(text) == (devices, [])


@pytest.mark.parametrize(
    ("name", "devices"), [("ASCEND_RT_VISIBLE_DEVICES", "1xA3"), ("CUDA_VISIBLE_DEVICES", "16xA3")]
)
def test_ascend_reads_a_variable_of_its_own(name: str, devices: str) -> None:
    assert idle(f"# 16x A3\nexport HCCL_BUFFSIZE=1024\n{name}=3 {VLLM}\n")[0] == devices


@pytest.mark.parametrize(
    ("text", "devices", "left"),
    [
        (f"# 8 x H200\n{VLLM}\n", "8xH200", "7 stay idle"),
        (f"# 8 x H200\nCUDA_VISIBLE_DEVICES=$GPU {VLLM}\n", "8xH200", "7 stay idle"),
        (f"# 8 x H200\nCUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 {VLLM}\n", "8xH200", "7 stay idle"),
        (f"# 8 x H200\nCUDA_VISIBLE_DEVICES=0,1 {VLLM}\n", "2xH200", "1 stay idle"),
    ],
)
def test_what_it_sees_and_does_not_use_stays_idle(text: str, devices: str, left: str) -> None:
    cluster, (message,) = idle(text)
    assert cluster == devices
    assert message.endswith(left)


def test_devices_that_were_asked_for_stay_and_are_not_called_idle() -> None:
    assert idle(f"CUDA_VISIBLE_DEVICES=5 {VLLM}\n", on="8xH200") == ("8xH200", [])


def test_weights_too_large_for_what_it_sees_do_not_fit() -> None:
    judged = ask_one("# 8 x H200\nCUDA_VISIBLE_DEVICES=5 vllm serve moonshotai/Kimi-K2.5 --trust-remote-code\n", on="")
    assert judged.memory is not None
    assert not judged.memory.fits
