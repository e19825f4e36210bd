"""Weights in formats that the devices do not compute, of models that are not planned."""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

ERROR, WARNING = Severity.ERROR, Severity.WARNING
SERVE = "vllm serve {} --tensor-parallel-size 2"
HOST = "python -m sglang.launch_server --model /models/{} --kt-method FP8 --kt-weight-path /models/w --tp 2"
SAID = ("compute FP8", "FP4 arithmetic")


def told(text: str, on: str = "", version: str = "") -> list[tuple[Severity, str]]:
    return [of_finding for judged in ask(text, on, version) for of_finding in _of(judged)]


def _of(judged: Judged) -> list[tuple[Severity, str]]:
    return [(finding.severity, finding.where) for finding in judged.findings if any(s in finding.message for s in SAID)]


@pytest.mark.parametrize(
    ("command", "on", "version", "expected"),
    [
        (SERVE.format("Qwen/Qwen3-32B-FP8"), "2xA100", "0.8.5", [(ERROR, "weights")]),
        (SERVE.format("/models/Qwen3-Coder-480B-A35B-Instruct-FP8"), "8xA100", "0.8.4", [(WARNING, "weights")]),
        (SERVE.format("Qwen_Qwen3-32B-FP8/"), "2xA100", "0.8.5", [(WARNING, "weights")]),
        (SERVE.format("Qwen/Qwen3-32B-FP8"), "2xA100", "0.9.0", []),
        (SERVE.format("Qwen/Qwen3-32B-FP8"), "2xA100", "", []),
        (SERVE.format("Qwen/Qwen3-32B-FP8"), "2xH100", "0.8.5", []),
        (SERVE.format("Qwen/Qwen3-32B"), "2xA100", "0.8.5", []),
        (SERVE.format("someone/Qwen3-32B-FP8"), "2xA100", "0.8.5", []),
        (
            SERVE.format("Qwen/Qwen3-235B-A22B-FP8") + " --moe-backend triton",
            "2xA100",
            "",
            [(WARNING, "--moe-backend")],
        ),
        (SERVE.format("Qwen/Qwen3-235B-A22B-FP8") + " --moe-backend marlin", "2xA100", "", []),
        ("sglang serve --model-path Qwen/Qwen3-235B-A22B-FP8 --tp 8", "8xA100", "0.5.5", [(WARNING, "weights")]),
        ("sglang serve --model-path Qwen/Qwen3-32B-FP8 --tp 8", "8xA100", "0.5.5", []),
        ("sglang serve --model-path Qwen/Qwen3-235B-A22B-FP8 --tp 8", "8xH100", "0.5.5", []),
        (HOST.format("Qwen3.5-122B-A10B-FP8"), "2xRTX3090", "0.5.3", [(WARNING, "weights")]),
        (HOST.format("Qwen3.5-122B-A10B-FP8"), "2xRTX4090", "0.5.3", []),
    ],
)
def test_blocks_of_fp8(command: str, on: str, version: str, expected: list[tuple[Severity, str]]) -> None:
    assert told(command, on, version) == expected


def test_the_devices_may_be_told_by_their_name_alone() -> None:
    text = "vLLM 0.8.5 on two RTX A6000:\n\n```\n" + SERVE.format("Qwen/Qwen3-32B-FP8") + "\n```\n"
    assert told(text) == [(WARNING, "weights")]


def test_an_error_tells_that_the_devices_are_too_old() -> None:
    command = SERVE.format("Qwen/Qwen3-30B-A3B-FP8") + " --moe-backend triton\n"
    error = (
        "# ValueError(\"type fp8e4nv not supported in this architecture. The supported fp8 dtypes are ('fp8e5')\")\n"
    )
    assert told(command + error) == [(WARNING, "--moe-backend")]
    assert not told(command)


@pytest.mark.parametrize(
    ("command", "on", "version", "expected"),
    [
        ("trtllm-serve nvidia/Qwen3-235B-A22B-FP4 --tp_size 8", "8xH100", "", 1),
        ("trtllm-serve nvidia/Qwen3-235B-A22B-NVFP4 --tp_size 8", "8xB200", "", 0),
        ("trtllm-serve nvidia/Qwen3-235B-A22B-FP8 --tp_size 8", "8xH100", "", 0),
        (SERVE.format("nvidia/Qwen3-32B-NVFP4"), "2xH100", "0.8.5", 1),
        (SERVE.format("nvidia/Qwen3-32B-NVFP4"), "2xH100", "0.10.2", 0),
        (SERVE.format("nvidia/Qwen3-32B-NVFP4"), "2xH100", "", 0),
        (SERVE.format("amd/Qwen3-32B-MXFP4"), "2xH100", "0.8.5", 0),
        ("sglang serve --model-path nvidia/Qwen3-32B-FP4 --tp 2", "2xH100", "0.5.10", 1),
        ("sglang serve --model-path nvidia/Qwen3-32B-FP4 --tp 2", "2xH100", "0.5.13", 0),
    ],
)
def test_nvfp4_before_blackwell(command: str, on: str, version: str, expected: int) -> None:
    assert len(told(command, on, version)) == expected
