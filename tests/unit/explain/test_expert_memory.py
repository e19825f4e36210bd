"""Experts on the devices, weights bound to one node of memory, files for folders, and layouts over several nodes."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask


def told(text: str, part: str, on: str = "", version: str = "") -> Severity | None:
    """How severe the finding is that says this; None where there is none."""
    findings = [finding for judged in ask(text, on, version) for finding in judged.findings]
    return next((each.severity for each in findings if part in f"{each.where} {each.message} {each.remedy}"), None)


KT = (
    "python -m sglang.launch_server --model {} --kt-weight-path /w/cpu --kt-cpuinfer 60 --kt-threadpool-count 2 "
    "--kt-method {} --kt-num-gpu-experts {} --tensor-parallel-size {}"
)


@pytest.mark.parametrize(
    ("model", "method", "count", "tp", "on"),
    [
        ("/w/DeepSeek-V3-0324-GPU-weight", "AMXINT4", 220, 8, "8xRTX4090"),
        ("/w/Qwen3-235B-A22B-Instruct-2507", "BF16", 40, 2, "2xRTX4090"),
        ("/w/MiniMax-M2.5", "FP8", 128, 4, "4xRTX4090"),
    ],
)
def test_more_experts_than_the_devices_hold(model: str, method: str, count: int, tp: int, on: str) -> None:
    assert told(KT.format(model, method, count, tp), "experts in each of", on) is Severity.WARNING


@pytest.mark.parametrize(
    ("model", "method", "count", "tp", "on"),
    [
        ("/w/DeepSeek-V3-0324-GPU-weight", "AMXINT4", 96, 8, "8xRTX4090"),
        ("/w/DeepSeek-V3-0324-GPU-weight", "AMXINT4", 200, 8, "8xL40S"),
        ("/w/MiniMax-M2.5", "FP8", 16, 4, "4xRTX4090"),
        ("/w/our-model", "AMXINT4", 220, 8, "8xRTX4090"),
    ],
)
def test_as_many_as_they_hold(model: str, method: str, count: int, tp: int, on: str) -> None:
    assert told(KT.format(model, method, count, tp), "experts in each of", on) is None


BOUND = (
    "The machine has two sockets and {}.\n\n```\nnumactl {} python -m ktransformers.local_chat --model_path "
    "deepseek-ai/DeepSeek-V3 --gguf_path /w/DeepSeek-V3-Q4_K_M --cpu_infer 30\n```\n"
)


@pytest.mark.parametrize(
    ("memory", "option"),
    [
        ("512GB RAM", "-N 1 -m 1"),
        ("512 GB of DDR5", "--cpunodebind=1 --membind=1"),
        ("内存：512G", "-m 1 -N 1"),
    ],
)
def test_one_node_that_does_not_hold_the_weights(memory: str, option: str) -> None:
    assert told(BOUND.format(memory, option), "binds the process to the memory of node 1") is Severity.WARNING


@pytest.mark.parametrize(
    ("memory", "option"),
    [
        ("1TB RAM", "-N 1 -m 1"),
        ("512GB RAM", "--interleave=all"),
        ("512GB RAM", "-N 0,1 -m 0,1"),
        ("512GB RAM in each socket", "-N 1 -m 1"),
        ("48G VRAM", "-N 1 -m 1"),
    ],
)
def test_one_that_does_or_may(memory: str, option: str) -> None:
    assert told(BOUND.format(memory, option), "binds the process") is None


FILE = "python -m ktransformers.local_chat --model_path deepseek-ai/DeepSeek-V2.5 --gguf_path {} --cpu_infer 30"


def test_a_file_for_the_folder() -> None:
    one = FILE.format("/w/v25/DeepSeek-V2.5-Q4_K_M-00001-of-00004.gguf")
    assert told(one, "give the folder, /w/v25", version="0.1.4") is Severity.WARNING
    assert told(one, "give the folder, /w/v25") is Severity.NOTE
    assert told(one, "give the folder", version="0.2.2") is None
    assert told(FILE.format("/w/v25"), "give the folder", version="0.1.4") is None


NODES = (
    "Two nodes of {}.\n\n```\npython -m sglang.launch_server --model-path {} --tp 16 --nnodes 2 --node-rank $RANK "
    "--dist-init-addr $HEAD:5000 $MORE\n```\n"
)


def test_weights_that_no_layout_over_all_nodes_holds() -> None:
    def short(devices: str, model: str) -> bool:
        findings = [finding for judged in ask(NODES.format(devices, model)) for finding in judged.findings]
        return any(each.code is Code.DOES_NOT_FIT and "over all of 2x8x" in each.message for each in findings)

    assert short("8xA100", "unsloth/DeepSeek-R1-BF16")
    assert short("8xA100", "/w/DeepSeek-R1-BF16")
    assert not short("8xH200", "unsloth/DeepSeek-R1-BF16")
    assert not short("8xA100", "/w/DeepSeek-R1")


ON_HOST = """\
The server has 2 H200 and {} RAM.

```
python -m sglang.launch_server --model {} --kt-weight-path {} --kt-method {} --kt-cpuinfer 96 --kt-threadpool-count 2 \\
  --kt-num-gpu-experts {} --tensor-parallel-size 2
```
"""
KIMI, GLM = "moonshotai/Kimi-K2-Instruct", "/code/GLM-5.1-FP8"


@pytest.mark.parametrize(
    ("ram", "model", "weights", "method", "on_devices", "told"),
    [
        ("386 GB", GLM, GLM, "FP8", 72, True),
        ("768 GB", GLM, GLM, "FP8", 72, False),
        ("386 GB", GLM, GLM, "FP8", 200, False),
        ("512 GB", KIMI, KIMI, "FP8", 0, True),
        ("1.5 TB", KIMI, KIMI, "FP8", 0, False),
        ("512 GB", KIMI, "/w/Kimi-K2-INT4-AMX", "AMXINT4", 0, False),
    ],
)
def test_experts_in_the_memory_that_the_text_speaks_of(
    ram: str, model: str, weights: str, method: str, on_devices: int, told: bool
) -> None:
    text = ON_HOST.format(ram, model, weights, method, on_devices)
    findings = [each.message for judged in ask(text) for each in judged.findings]
    assert any("the text speaks of" in message for message in findings) == told
