"""Engines, devices and models that a text names beside its commands."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.results import Judged
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question

SERVE = "vllm serve moonshotai/Kimi-K2-Thinking --trust-remote-code"


def only(text: str) -> Judged:
    (judged,) = judge(read_script(text), Question())
    return judged


@pytest.mark.parametrize(
    ("text", "devices"),
    [
        (f"# 4 nodes × 8× H200\n{SERVE} -tp 8 -dp 4", "4x8xH200"),
        (f"# 2 machines of 8 x H100\n{SERVE} -tp 16", "2x8xH100"),
        (f"# H20x16\n{SERVE} -tp 8 -pp 2", "2x8xH20"),
        (f"# accelerators: H100:8\n{SERVE} -tp 8", "8xH100"),
        (f"#SBATCH --gres=gpu:h100:8\n{SERVE} -tp 8", "8xH100"),
        (f"# on MI355X.\n{SERVE} -tp 4", "4xMI355X"),
        (f"# nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3\n{SERVE} -tp 8", "8xH100"),
    ],
)
def test_devices(text: str, devices: str) -> None:
    judged = only(text)
    assert judged.cluster is not None
    assert judged.cluster.devices == eval_product(devices)
    assert judged.cluster.name.rpartition("x")[2] == devices.rpartition("x")[2]


def eval_product(devices: str) -> int:
    product = 1
    for count in devices.split("x")[:-1]:
        product *= int(count)
    return product


def test_one_device_is_not_made_of_a_kind() -> None:
    """The text names GB200, the command nothing: that the weights do not fit one of them proves nothing."""
    judged = only(f"# vLLM 0.33.0, GB200.\n{SERVE}")
    assert judged.cluster is None
    assert judged.memory is None


def test_the_only_build_that_is_named_is_meant() -> None:
    image = "export IMAGE=quay.io/ascend/vllm-ascend:v0.13.0-a3\n"
    assert only(f"{image}{SERVE} -tp 16").engine == "vllm-ascend"
    assert only(f"# vllm==0.33.0, or vllm-ascend==0.13.0\n{SERVE} -tp 16").engine == "vllm"
    with_image = f"{image}docker run --gpus all vllm/vllm-openai:v0.33.0 moonshotai/Kimi-K2-Thinking -tp 8"
    assert only(with_image).engine == "vllm"


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("# Kimi-K2-Thinking\nvllm serve /data/weights -tp 8", True),
        ("# Kimi-K2-Thinking\nvllm serve /data/Kimi-K2-Thinking-FP4/001 -tp 8", False),
        ("# Kimi-K2-Thinking\nvllm serve /data/k2-thinking-int4 -tp 8", True),
        ("# Kimi-K3\nvllm serve $MODEL_PATH --quantization ascend -tp 16", False),
        ("# Kimi-K2.5\n./llama-server -m /m/Kimi-K2.5-UD-Q9_X-00001-of-00005.gguf", False),
        ("# kimi-2.5\nvllm serve /data/weights -tp 8", True),
    ],
)
def test_weights_of_another_format_are_unknown(text: str, known: bool) -> None:
    assert (only(text).checkpoint is not None) is known
