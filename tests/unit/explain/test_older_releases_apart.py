"""Where no release is named and the newest judges, a fault that it has mended is told with those of older releases."""

from __future__ import annotations

import re

import pytest
from packaging.version import Version

from moonpad.catalog.options import newest
from tests.unit.explain.judging import ask_one

VLLM = "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8"
KT = (
    "python3 -m sglang.launch_server --model moonshotai/Kimi-K2.5 --kt-weight-path /w --kt-method RAWINT4 "
    "--kt-num-gpu-experts 200 --kt-cpuinfer 64 --kt-threadpool-count 2 --tp-size 8"
)
_MENDED = re.compile(r"^reported for [^:]*?(?:, mended in| before) (\d[\w.]*)")


def mended_notes(text: str, program: str) -> list[str]:
    """Of reports that are told beside the others, those that are mended in the newest release."""
    judged = ask_one(text, "8xH200")
    told = [remark.finding for remark in judged.remarks if not remark.of_former]
    told += [finding for better in judged.better for finding in better.but]
    ends = [match[1] for finding in told if (match := _MENDED.match(finding.message))]
    return [end for end in ends if Version(end) <= Version(newest(program))]


@pytest.mark.parametrize(("text", "program"), [(VLLM, "vllm serve"), (KT, "sglang")])
def test_no_note_of_what_the_newest_has_mended(text: str, program: str) -> None:
    assert mended_notes(text, program) == []


def test_they_are_counted_with_those_of_older_releases() -> None:
    judged = ask_one(KT, "8xH200")
    assert any("before 0.6.3" in remark.finding.message for remark in judged.remarks if remark.of_former)


def test_a_release_that_has_it_is_warned() -> None:
    judged = ask_one(f"# ktransformers 0.6.2\n{KT}", "8xH200", "0.6.2")
    assert any("before 0.6.3" in remark.finding.message for remark in judged.remarks if not remark.of_former)


def test_a_better_setting_has_no_fault_that_the_release_it_is_judged_by_mended() -> None:
    """The remedy names that release as its second way (`leave --kv-cache-dtype out, or take 0.28.0 or later`)."""
    text = "vllm serve moonshotai/Kimi-K3 --trust-remote-code --tensor-parallel-size 8\n"
    judged = ask_one(f"export VLLM_ROCM_USE_AITER=1\n{text}", "8xMI355X")
    assert "kv_cache_dtype" in {name for better in judged.better for name, _ in better.changes}
    assert not any("0.28.0" in finding.remedy for better in judged.better for finding in better.but)
