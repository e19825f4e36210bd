"""AITER's kernels where no release is named, and where all heads stay on each rank."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask, ask_one

K2 = "vllm serve moonshotai/Kimi-K2-Instruct --trust-remote-code"
K25 = "vllm serve moonshotai/Kimi-K2.5 --trust-remote-code"
K3 = "vllm serve moonshotai/Kimi-K3 --trust-remote-code -tp 8"
OLD = "VLLM_USE_V1=1 VLLM_ROCM_USE_AITER=1"
ERROR = "\n# Aiter MLA only supports 16 or 128 number of heads.\n"
LOG = "\n# INFO [rocm.py:10] Using ROCM_AITER_MLA backend.\n"
DP8 = f"{K25} -dp 8 --enable-expert-parallel --kv-cache-dtype fp8"


def told(text: str, part: str, on: str = "8xMI300X", version: str = "") -> list[str]:
    findings = [finding for judged in ask(text, on, version) for finding in judged.findings]
    found = [finding for finding in findings if part in finding.message and finding.code is Code.CONFLICT]
    assert all(finding.severity is Severity.WARNING for finding in found)
    return [finding.where for finding in found]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (f"{OLD} {K2} -tp 8", "VLLM_ROCM_USE_AITER"),
        (f"{OLD} VLLM_ROCM_USE_AITER_MLA=1 {K2} -tp 8", "VLLM_ROCM_USE_AITER_MLA"),
        (f"VLLM_ROCM_USE_AITER=1 {K2} -tp 8{ERROR}", "VLLM_ROCM_USE_AITER"),
        (f"{OLD} VLLM_ROCM_USE_AITER_MLA=0 {K2} -tp 8 --kv-cache-dtype fp8", "--kv-cache-dtype"),
    ],
)
def test_a_command_of_old(text: str, where: str) -> None:
    assert told(text, "of that time") == [where]


@pytest.mark.parametrize(
    ("text", "on", "version"),
    [
        (f"{OLD} {K2} -tp 4", "8xMI300X", ""),
        (f"VLLM_ROCM_USE_AITER=1 {K2} -tp 8", "8xMI300X", ""),
        (f"{OLD} {K25} -tp 8", "8xMI300X", ""),
        (f"{OLD} {K2} -tp 8", "8xH200", ""),
        (f"{OLD} {K2} -tp 8", "8xMI300X", "0.20.0"),
        (f"{OLD} VLLM_ROCM_USE_AITER_MLA=0 {K2} -tp 8", "8xMI300X", ""),
        (f"{OLD} {K2} -tp 8 --attention-backend TRITON_MLA", "8xMI300X", ""),
    ],
)
def test_what_is_not_surely_of_old(text: str, on: str, version: str) -> None:
    assert not told(text, "of that time", on, version)


def test_a_log_says_that_its_kernels_are_chosen() -> None:
    assert told(f"{K3} --kv-cache-dtype fp8{LOG}", "12 heads a rank", "8xMI355X", "0.27.1") == ["--kv-cache-dtype"]
    assert not told(f"{K3} --kv-cache-dtype fp8", "12 heads a rank", "8xMI355X", "0.27.1")
    assert not told(f"{K3}{LOG}", "12 heads a rank", "8xMI355X", "0.27.1")


@pytest.mark.parametrize("version", ["0.28.0", "0.32.0"])
def test_heads_that_do_not_divide_16_are_padded_since(version: str) -> None:
    """vllm-project/vllm#51011, in 0.28.0."""
    assert not told(f"{K3} --kv-cache-dtype fp8{LOG}", "12 heads a rank", "8xMI355X", version)


@pytest.mark.parametrize("env", ["AITER_QUICK_REDUCE_QUANTIZATION=INT4", "VLLM_ROCM_USE_AITER=1", "ATOM_X=1"])
def test_all_heads_on_each_rank(env: str) -> None:
    assert told(f"{env} {DP8}", "ranks keeps", "8xMI355X") == ["--data-parallel-size"]


@pytest.mark.parametrize(
    ("text", "on", "version"),
    [
        (DP8, "8xMI355X", ""),
        (f"AITER_X=1 {K25} -tp 8 --kv-cache-dtype fp8", "8xMI355X", ""),
        (f"AITER_X=1 {K25} -dp 8 --enable-expert-parallel", "8xMI355X", ""),
        (f"AITER_X=1 {K25} -dp 2 -tp 4 --kv-cache-dtype fp8", "8xMI355X", ""),
        (f"AITER_X=1 {DP8}", "8xB200", ""),
        (f"AITER_X=1 {DP8}", "8xMI355X", "0.30.0"),
    ],
)
def test_other_layouts_and_caches(text: str, on: str, version: str) -> None:
    assert not told(text, "ranks keeps", on, version)


def test_fewer_ranks_are_offered_where_the_weights_fit() -> None:
    started = "export VLLM_ROCM_USE_AITER=1\nvllm serve {} --trust-remote-code -tp 8 --kv-cache-dtype {}"

    def offered(model: str, cache: str, on: str) -> str:
        judged = ask_one(started.format(model, cache), on=on, version="0.16.0")
        (told,) = [each for each in judged.findings if "heads a rank" in each.message]
        return told.remedy

    whole, small = "moonshotai/Kimi-K2-Instruct", "amd/Kimi-K2.5-MXFP4"
    assert "tensor parallel" not in offered(whole, "auto", "8xMI300X")  # 958 GiB over 4 devices of 192
    assert "tensor parallel 4" in offered(small, "auto", "8xMI355X")
    assert "--kv-cache-dtype auto" in offered(whole, "fp8", "8xMI300X")
    assert "--kv-cache-dtype" not in offered(whole, "auto", "8xMI300X")
