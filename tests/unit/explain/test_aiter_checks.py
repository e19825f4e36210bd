"""AITER by release: blocks, heads a rank, experts; and MXFP4 on the device that it is made for."""

from __future__ import annotations

import pytest

from moonpad.catalog.clusters import parse_cluster
from moonpad.explain.judge import judge
from moonpad.explain.results import Judged
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question
from moonpad.values.finding import Code

ON = "VLLM_ROCM_USE_AITER=1 "
K2 = "vllm serve moonshotai/Kimi-K2-Thinking --trust-remote-code"
SGLANG = "sglang serve --model-path amd/Kimi-K2.5-MXFP4 --tp-size 8"
MXFP4 = "vllm serve amd/Kimi-K2.5-MXFP4 --trust-remote-code -tp 4"


def judged(command: str, on: str = "8xMI300X", version: str = "") -> Judged:
    (only,) = judge(read_script(command), Question(cluster=parse_cluster(on) if on else None, version=version))
    return only


def of(one: Judged, where: str) -> list[str]:
    return [str(f.severity) for f in one.findings if (f.where, f.code) == (where, Code.CONFLICT)]


@pytest.mark.parametrize(
    ("command", "version", "expected"),
    [
        (f"{ON}{K2} -tp 4", "0.11.0", ["error"]),
        (f"{ON}{K2} -tp 4 --block-size 16", "0.11.0", ["error"]),
        (f"{ON}{K2} -tp 4", "0.11.2", ["warning"]),
        (f"{ON}{K2} -tp 4 --block-size 1", "0.11.0", []),
        (f"{ON}{K2} -tp 4 --block-size 16", "0.12.0", []),
        (f"{ON}{K2} -tp 8 --block-size 16", "0.33.0", []),
        (f"{ON}VLLM_ROCM_USE_AITER_MLA=0 {K2} -tp 8", "0.11.0", []),
        (f"{K2} -tp 8", "0.11.0", []),
        (f"{K2} -tp 8 --block-size 1", "0.17.1", ["error"]),
        (f"{K2} -tp 4 --block-size 1", "0.17.1", []),
        (f"{K2} -tp 8 --block-size 1", "0.18.0", []),
        (f"{K2} -tp 8 --block-size 1 --attention-backend TRITON_MLA", "0.16.0", ["error"]),
        (f"{K2} -tp 8 --block-size 1 --attention-backend TRITON_MLA", "0.19.1", []),
    ],
)
def test_blocks(command: str, version: str, expected: list[str]) -> None:
    assert of(judged(command, version=version), "--block-size") == expected


@pytest.mark.parametrize(
    ("on", "tp", "version", "fails"),
    [
        ("8xMI300X", 8, "0.27.1", True),
        ("8xMI325X", 8, "0.27.0", True),
        ("8xMI355X", 8, "0.27.1", False),
        ("8xMI300X", 4, "0.27.1", False),
        ("8xMI300X", 8, "0.28.0", False),
        ("8xMI300X", 8, "0.25.1", False),
        ("8xMI300X", 8, "0.16.0", True),
        ("8xMI300X", 4, "0.16.0", False),
    ],
)
def test_heads_of_a_rank(on: str, tp: int, version: str, fails: bool) -> None:
    one = judged(f"{ON}{K2} -tp {tp}", on, version)
    assert bool(of(one, "VLLM_ROCM_USE_AITER")) is fails


@pytest.mark.parametrize(
    ("options", "version", "on", "expected"),
    [
        ("--chunked-prefill-size 131072", "0.5.9", "8xMI355X", ["warning"]),
        ("--chunked-prefill-size -1", "0.5.9", "8xMI355X", ["warning"]),
        ("--chunked-prefill-size -1 --context-length 32768", "0.5.9", "8xMI355X", []),
        ("--chunked-prefill-size 131072", "0.5.10", "8xMI355X", []),
        ("--chunked-prefill-size 60000", "0.5.9", "8xMI300X", []),
        ("--chunked-prefill-size 131072 --dp-size 8 --enable-dp-attention", "0.5.9", "8xMI355X", []),
        ("", "0.5.9", "8xMI355X", []),
    ],
)
def test_experts_that_are_no_power_of_two(options: str, version: str, on: str, expected: list[str]) -> None:
    assert of(judged(f"{SGLANG} {options}", on, version), "--chunked-prefill-size") == expected


def test_an_fp8_cache_with_few_heads() -> None:
    command = f"{ON}vllm serve amd/Kimi-K2.5-MXFP4 -tp 8 --kv-cache-dtype fp8"
    assert of(judged(command, "8xMI355X", "0.27.1"), "--kv-cache-dtype") == ["warning"]
    assert of(judged(command, "8xMI355X", "0.28.0"), "--kv-cache-dtype") == []
    assert of(judged(command, "8xMI355X"), "--kv-cache-dtype") == []


def test_an_fp8_cache_with_heads_that_do_not_divide_sixteen() -> None:
    command = "vllm serve moonshotai/Kimi-K3 -tp 8 --kv-cache-dtype fp8"
    assert of(judged(f"{ON}{command}", "8xMI355X", "0.27.1"), "--kv-cache-dtype") == ["warning"]
    assert of(judged(f"{ON}{command}", "8xMI355X"), "--kv-cache-dtype") == ["note"]
    assert of(judged(f"# with fp8 answers repeat\n{ON}{command}", "8xMI355X"), "--kv-cache-dtype") == ["warning"]
    assert of(judged(f"{ON}{command}", "8xMI355X", "0.28.0"), "--kv-cache-dtype") == []
    assert of(judged(command, "8xMI355X"), "--kv-cache-dtype") == []
    assert of(judged(f"{ON}{command}", "8xB300"), "--kv-cache-dtype") == []


@pytest.mark.parametrize(
    "text",
    [
        "# on MI355X.",
        "# AMD MI355X against H200",
        "# 8xH200 and 8xMI355X, 8xMI300X",
        "# AMD Instinct mi355x, mi300x",
        "# MI300X or MI355X",
        "# 4 x MI350X",
    ],
)
def test_mxfp4_is_judged_on_the_device_that_it_is_made_for(text: str) -> None:
    one = judged(f"{text}\n{MXFP4}", on="")
    assert one.cluster is not None
    assert one.cluster.device.capability == "gfx950"
    assert not [finding for finding in one.findings if finding.where == "quantization"]


def test_mxfp4_alone_on_another_device_stays_there() -> None:
    one = judged(f"# MI300X\n{MXFP4}", on="")
    assert one.cluster is not None
    assert one.cluster.device.capability == "gfx942"
    assert [finding.code for finding in one.findings if finding.where == "--quantization"] == [Code.SUBOPTIMAL]
