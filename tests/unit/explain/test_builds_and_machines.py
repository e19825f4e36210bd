"""The Ascend build by the devices that a text names, and machines as people count them."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.device_mentions import machines_of
from moonpad.explain.documents.machine_types import types_in
from moonpad.explain.input_limits import Budget

from .judging import ask, devices

SERVE = "vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8"


@pytest.mark.parametrize(
    "text",
    [
        "单机 8 卡 910B3，报错：",
        "Atlas 800 A3, 16 dies:",
        "on 8 NPUs:",
        "torch_npu 2.7.1 is installed:",
        "with mindie_turbo, on two machines:",
        "(NPURayWorkerWrapper pid=42471) ERROR worker_base.py:581",
        "昇腾 910C 上部署:",
    ],
)
def test_ascend_is_spoken_of(text: str) -> None:
    (judged,) = ask(f"{text}\n```\n{SERVE}\n```\n")
    assert judged.engine == "vllm-ascend"


@pytest.mark.parametrize(
    "text",
    [
        "8x H100 runs, 8x 910B3 does not:",
        "an NVIDIA machine, no NPU:",
        "CUDA_VISIBLE_DEVICES=0 on an NPU host:",
        "8 cards:",
    ],
)
def test_other_devices_leave_the_engine(text: str) -> None:
    (judged,) = ask(f"{text}\n```\n{SERVE}\n```\n")
    assert judged.engine == "vllm"


@pytest.mark.parametrize(
    ("text", "machine"),
    [
        ("四台 910B2，每台 8 卡", "4x8xA2"),
        ("两台服务器，每台 8 卡 H20", "2x8xH20"),
        ("8x H200 per node, 2 nodes", "2x8xH200"),
        ("16xH20, 2 nodes", "2x8xH20"),
        ("two nodes, each with 8x H20", "2x8xH20"),
        ("四张 48GB 的 4090", "4xRTX4090-48G"),
        ("4x 80GB A100", "4xA100"),
        ("8 GPU: NVIDIA H200 NVL", "8xH200"),
        ("Atlas 800 A2 8卡", "8xA2"),
        ("four Atlas 800 A3", "4x16xA3"),
        ("one spot A100", "1xA100"),
        ("H20*8*2", "2x8xH20"),
        ("MI300X x 8 (2 nodes)", "2x8xMI300X"),
        ("A100*8, port 30000", "8xA100"),
        ("8 H100, two hosts tried", "8xH100"),
    ],
)
def test_machines(text: str, machine: str) -> None:
    assert [found for _, found in machines_of(text, Budget())] == [machine]


def test_types_of_clouds() -> None:
    text = "instance: ml.p5e.48xlarge, or a3-highgpu-8g and Standard_ND96isr_H200_v5; v1.p5.48xlarge-like is none"
    assert [machine for _, machine in types_in(text)] == ["8xH200", "8xH100", "8xH200"]


def test_the_comment_above_goes_before_the_one_further_up() -> None:
    text = f"# for H200\n{SERVE} --port 1\n# for B200\n{SERVE} --port 2\n"
    assert [devices(judged) for judged in ask(text)] == ["8xH200", "8xB200"]


def test_what_a_program_asks_for_goes_before_its_words() -> None:
    text = (
        '"""Weights in BF16 want 8x H200; INT4 fits 8x H100."""\nimport modal, subprocess\n'
        f'@app.function(gpu="H100:8")\ndef serve():\n    subprocess.Popen("{SERVE}", shell=True)\n'
    )
    (judged,) = ask(text)
    assert devices(judged) == "8xH100"


def test_names_of_objects_only_where_nothing_else_names_devices() -> None:
    (judged,) = ask(f"job:\n  name: kimi-h200-agg\n  command: {SERVE}\n")
    assert devices(judged) == "8xH200"
    (judged,) = ask(f"# on 8x B200\njob:\n  name: kimi-h200-agg\n  command: {SERVE}\n")
    assert devices(judged) == "8xB200"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("two identical GPUs (RTX 4090 24 GB)", ["2xRTX4090"]),
        ("4 GPUs: H100, 128 cores", ["4xH100"]),
        ("2 GPUs: Nvidia 5090 and 5080", []),  # one of each
        ("2 GPUs: RTX 5090, RTX 4090", []),
        ("2 identical cards (Rtx 6000 Ada)", ["2xRTX-6000-Ada"]),
    ],
)
def test_cards_of_one_machine(text: str, found: list[str]) -> None:
    assert [machine for _, machine in machines_of(text, Budget())] == found


@pytest.mark.parametrize(
    "text",
    [
        "vllm                 0.19.1\nvllm_ascend          0.19.1rc1\n",
        "vllm 0.10.1.1, vllm-ascend 0.10.1rc1, 910B\n",
        "| Docker Image | `quay.io/ascend/vllm-ascend:v0.18.0-openeuler` |\n| vLLM Version | v0.18.0 |\n",
    ],
)
def test_the_plugin_beside_the_engine_beneath_it(text: str) -> None:
    (judged,) = ask(f"{text}\n```\n{SERVE}\n```\n")
    assert judged.engine == "vllm-ascend"


@pytest.mark.parametrize(
    "text",
    [
        "vllm 0.19.1 on H200 is the base line, vllm_ascend 0.19.1rc1 comes next\n",
        "vllm 0.19.1 here, vllm_ascend 0.18.0 there\n",
    ],
)
def test_the_plugin_of_another_comparison(text: str) -> None:
    (judged,) = ask(f"{text}\n```\n{SERVE}\n```\n")
    assert judged.engine == "vllm"
