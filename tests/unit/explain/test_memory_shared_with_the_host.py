# ruff: noqa: E501 - lines of logs are as long as they are
"""Errors of memory on machines whose GPU takes its memory from the host's."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code, Finding
from tests.unit.explain.judging import ask

RAY = "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory."
START = "vllm serve moonshotai/Kimi-K2.5 -tp 16 --distributed-executor-backend ray --trust-remote-code"


def told(text: str) -> list[Finding]:
    found = [finding for judgement in ask(text, "", "0.24.0") for finding in judgement.findings]
    return [each for each in found if each.code is Code.LOGGED_FAILURE]


@pytest.mark.parametrize("machine", ["DGX Spark", "GB10", "unified memory"])
def test_ray_counts_what_the_device_has_taken(machine: str) -> None:
    finding = told(f"Sixteen machines, {machine}.\n\n{START}\n\n{RAY}\n")[0]
    assert "the GPU shares that memory" in finding.message
    assert "RAY_memory_monitor_refresh_ms=0" in finding.remedy


def test_elsewhere_the_host_ran_out_of_memory() -> None:
    finding = told(f"Two machines of 8x H200.\n\n{START}\n\n{RAY}\n")[0]
    assert "the host ran out of memory" in finding.message
    assert "RAY_memory_monitor" not in finding.remedy


@pytest.mark.parametrize(
    "line",
    [
        "NVRM: nvCheckOkFailedNoLog: Check failed: Out of memory [NV_ERR_NO_MEMORY] (0x00000051) returned from _memdescAllocInternal(pMemDesc) @ mem_desc.c:1359",
        "[  812.114233] NVRM: nvAssertOkFailedNoLog: Assertion failed: Out of memory [NV_ERR_NO_MEMORY] (0x00000051)",
    ],
)
def test_the_driver_says_that_it_found_none(line: str) -> None:
    finding = told(f"{START}\n\n{line}\n")[0]
    assert "page cache" in finding.message
    assert "drop_caches" in finding.remedy
