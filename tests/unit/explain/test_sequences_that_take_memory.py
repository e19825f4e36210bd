"""Kimi-Linear on one H200, as a runbook of 2026 has it: its log has 26.06 GiB and 1,733,184 tokens of KV cache, and a
workspace of 59 GiB for the 1024 sequences that vLLM takes unasked."""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from tests.unit.explain.judging import ask, ask_one

START = (
    "vllm serve moonshotai/Kimi-Linear-48B-A3B-Instruct --trust-remote-code --quantization fp8 --kv-cache-dtype fp8 "
    "--max-model-len 524288 --gpu-memory-utilization 0.95 --enforce-eager"
)
GIB = 2**30


def judged(version: str, more: str = "") -> Judged:
    return ask_one(f"{START} {more}", on="1xH200", version=version)


def kv_gib(version: str, more: str = "") -> float:
    memory = judged(version, more).memory
    assert memory is not None
    return memory.kv_bytes.value / GIB


def test_what_the_log_measured() -> None:
    assert kv_gib("0.19.1") == pytest.approx(26.06, abs=1)


@pytest.mark.parametrize("version", ["0.28.0", "0.33.0"])
def test_releases_that_have_no_such_workspace(version: str) -> None:
    assert kv_gib(version) > 80


def test_fewer_sequences_are_the_remedy() -> None:
    assert kv_gib("0.19.1", "--max-num-seqs 16") > 80
    notes = " ".join(f"{each.message} {each.remedy}" for each in judged("0.26.0").findings)
    assert "sequences at once" in notes


def told_of_older(text: str, version: str = "") -> bool:
    return any("before 0.28.0 set " in each.message for each in ask_one(text, on="1xH200", version=version).findings)


def test_older_releases_are_told_of_where_none_is_named() -> None:
    assert told_of_older(START)
    assert not told_of_older(f"{START} --max-num-seqs 16")
    assert not told_of_older(START, "0.33.0")
    assert not told_of_older(START, "0.26.0")
    assert not told_of_older(START.replace("Kimi-Linear-48B-A3B-Instruct", "Moonlight-16B-A3B-Instruct"))


def test_of_processors_nothing_is_said() -> None:
    """No workspace of theirs was measured. It ended in an error of moonpad's own."""
    (one,) = ask("vllm serve moonshotai/Kimi-K3\n", on="cpu")
    assert [finding.code for finding in one.findings if finding.where == "--max-num-seqs"] == []
