"""Weights in the host's RAM: what is counted, and what is said of it."""

from __future__ import annotations

import pytest

from moonpad.catalog.clusters import parse_cluster
from moonpad.explain.judge import judge
from moonpad.explain.results import Judged
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question
from moonpad.values.finding import Code, Severity
from moonpad.values.units import GIB

VLLM = "vllm serve moonshotai/Kimi-K2-Thinking --trust-remote-code --max-model-len 32768 -tp 8"
SGLANG = "sglang serve --model-path moonshotai/Kimi-K2-Thinking --context-length 32768 --tp-size 8"


def judged(command: str, on: str = "8xH100", version: str = "0.32.0") -> Judged:
    (only,) = judge(read_script(command), Question(cluster=parse_cluster(on), version=version))
    return only


def codes(one: Judged) -> list[Code]:
    return [finding.code for finding in one.findings if finding.where == "--cpu-offload-gb"]


def test_the_offload_is_counted_on_device_and_host() -> None:
    plain, moved = judged(VLLM), judged(f"{VLLM} --cpu-offload-gb 20")
    assert plain.memory is not None
    assert moved.memory is not None
    assert plain.memory.weights_bytes - moved.memory.weights_bytes == 20 * GIB
    assert moved.memory.host is not None
    assert moved.memory.host.needed_bytes == 8 * 20 * GIB
    assert not plain.fits
    assert moved.fits


@pytest.mark.parametrize(
    ("options", "on", "version", "expected"),
    [
        ("--cpu-offload-gb 20", "8xH100", "0.32.0", [Code.SUBOPTIMAL]),
        ("--cpu-offload-gb 10", "8xH200", "0.32.0", [Code.SUBOPTIMAL]),
        ("--cpu-offload-gb 400", "8xH100", "0.32.0", [Code.SUBOPTIMAL, Code.INVALID_VALUE]),
        ("--cpu-offload-gb 0", "8xH100", "0.32.0", []),
        ("--cpu-offload-gb $GB", "8xH100", "0.32.0", []),
        ("", "8xH100", "0.32.0", []),
    ],
)
def test_what_is_said(options: str, on: str, version: str, expected: list[Code]) -> None:
    assert codes(judged(f"{VLLM} {options}", on, version)) == expected


def test_where_the_weights_fit_without_it_is_left_out() -> None:
    one = judged(f"{VLLM} --cpu-offload-gb 10", "8xH200")
    assert "--cpu-offload-gb" not in one.corrected[0].argv
    needed = judged(f"{VLLM} --cpu-offload-gb 20", "8xH100")
    assert "--cpu-offload-gb" in needed.corrected[0].argv


@pytest.mark.parametrize(
    ("command", "version", "ignored"),
    [
        (f"VLLM_USE_V2_MODEL_RUNNER=1 {VLLM} --cpu-offload-gb 20", "0.25.1", True),
        (f"VLLM_USE_V2_MODEL_RUNNER=1 {VLLM} --cpu-offload-gb 20", "0.28.0", False),
        (f"VLLM_USE_V2_MODEL_RUNNER=0 {VLLM} --cpu-offload-gb 20", "0.25.1", False),
        (f"{VLLM} --cpu-offload-gb 20", "0.25.1", False),
    ],
)
def test_a_runner_that_moves_nothing(command: str, version: str, ignored: bool) -> None:
    """The weights are then counted where they stay."""
    one = judged(command, version=version)
    assert (Code.REDUNDANT_FLAG in codes(one)) is ignored
    assert one.fits is not ignored


def test_k3_had_that_runner_without_being_asked() -> None:
    k3 = "vllm serve moonshotai/Kimi-K3 --trust-remote-code -tp 8 --cpu-offload-gb 40"
    assert Code.REDUNDANT_FLAG in codes(judged(k3, "8xB300", "0.27.1"))
    assert Code.REDUNDANT_FLAG not in codes(judged(k3, "8xMI355X", "0.27.1"))
    assert Code.REDUNDANT_FLAG not in codes(judged(k3, "8xB300", "0.28.0"))


def test_latent_attention_in_sglang() -> None:
    one = judged(f"{SGLANG} --cpu-offload-gb 30", version="0.5.23")
    assert codes(one) == [Code.CONFLICT, Code.SUBOPTIMAL]
    assert all(finding.severity is not Severity.ERROR for finding in one.findings if "offload" in finding.where)


def test_one_device_and_too_little_in_ram() -> None:
    (one,) = judge(read_script("vllm serve moonshotai/Kimi-K2-Instruct --cpu-offload-gb 10"), Question())
    assert ("--tensor-parallel-size", Code.DOES_NOT_FIT) in [(finding.where, finding.code) for finding in one.findings]


@pytest.mark.parametrize("command", [VLLM, SGLANG])
def test_layers_that_lie_in_the_host_by_turns(command: str) -> None:
    """Four of five layers of eight devices that hold none of it otherwise."""
    groups = f"{command} --offload-group-size 5 --offload-num-in-group 4"
    assert judged(command, "8xA100-40G").fits is False
    offloaded = judged(groups, "8xA100-40G", "0.33.0" if command is VLLM else "0.5.23")
    assert offloaded.fits is None
    assert "--offload-group-size leaves some layers" in offloaded.unjudged
    assert judged(f"{command} --offload-group-size 0", "8xA100-40G").fits is False
