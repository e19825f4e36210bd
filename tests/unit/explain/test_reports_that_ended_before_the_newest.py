"""A report that was last seen before the newest release, and whose remedy is what came since, is one of older releases
where none is named; and a report of one feature or kernel is not told where it is not used."""

from __future__ import annotations

import re

import pytest

from moonpad.catalog.known_reports import known_reports
from moonpad.catalog.options import newest
from moonpad.engines import ENGINES
from moonpad.explain.results import Remark
from moonpad.values.finding import Code, Severity
from moonpad.values.versions import order
from tests.unit.explain.judging import ask

HICACHE = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K3 --tp-size 8 --enable-hierarchical-cache"


def reports(text: str, on: str, version: str, number: int) -> list[Remark]:
    remarks = (remark for judged in ask(text, on, version) for remark in judged.remarks)
    told = (each for each in remarks if each.finding.code is Code.KNOWN_REPORT)
    return [each for each in told if f"#{number})" in each.finding.message]


def test_what_later_builds_do_not_have_is_among_the_faults_of_older_releases() -> None:
    assert order(newest("sglang")) > order("0.5.18")
    (remark,) = reports(HICACHE, "8xB300", "", 36018)
    assert remark.of_former
    assert remark.finding.severity is Severity.NOTE


@pytest.mark.parametrize(("version", "expected"), [("0.5.18", 1), ("0.5.23", 0)])
def test_of_a_release_that_is_named_it_is_told_as_before(version: str, expected: int) -> None:
    remarks = reports(HICACHE, "8xB300", version, 36018)
    assert len(remarks) == expected
    assert not any(remark.of_former for remark in remarks)


def test_a_text_that_shows_the_very_fault_keeps_its_finding() -> None:
    complaint = "the scheduler ends by exceptions in the hierarchical cache, it crashed after an hour"
    (remark,) = reports(f"{complaint}\n\n{HICACHE}\n", "8xB300", "", 36018)
    assert not remark.of_former or remark.as_told


@pytest.mark.parametrize(
    ("last", "remedy", "until", "expected"),
    [
        ("0.5.18", "take a build of after 2026-09-05, or leave the option out", "", True),
        ("0.5.18", "take a later release", "", True),
        ("0.5.18", "take 0.5.19 or later", "", True),
        ("0.5.18", "leave the option out", "", False),
        ("0.5.18", "take fewer requests at once", "", False),
        ("0.5.23", "take a later release", "", False),
        ("", "take a later release", "0.5.20", True),
        ("", "take a later release", "0.5.24", False),
    ],
)
def test_it_has_ended_where_the_remedy_says_that_later_ones_are_free_of_it(
    last: str, remedy: str, until: str, expected: bool
) -> None:
    row = next(iter(known_reports().values()))
    kind = type(row)
    made = kind(engines=("sglang",), last=last, until=until, message="x", remedy=remedy, provenance=row.provenance)
    assert made.ended_before("0.5.23") is expected


def test_a_report_that_holds_today_is_not_said_to_have_ended() -> None:
    for row in known_reports().values():
        current = newest(ENGINES[row.engines[0]].program)
        if current and row.last and order(row.last) >= order(current):
            assert not row.ended_before(current)


K3 = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K3 --tp-size 8 --mem-fraction-static 0.85 {}"
DRAFT = "--speculative-algorithm DSPARK"


@pytest.mark.parametrize(("draft", "expected"), [("", 0), (DRAFT, 1)])
def test_memory_that_was_measured_with_a_draft_is_told_where_there_is_one(draft: str, expected: int) -> None:
    found = reports(K3.format(draft), "8xMI355X", "0.5.19", 39029)
    assert len([each for each in found if "out of memory" in each.finding.message]) == expected


K26 = "vllm serve nvidia/Kimi-K2.6-NVFP4 --tensor-parallel-size 8 {}"


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [("", True), ("--attention-backend FLASHINFER_MLA", True), ("--attention-backend TRITON_MLA", False)],
)
def test_a_report_of_one_attention_backend_is_not_told_where_another_is_named(chosen: str, expected: bool) -> None:
    judged = ask(K26.format(chosen), "8xB200", "0.20.1")
    told = [finding.message for each in judged for finding in each.findings if finding.code is Code.KNOWN_REPORT]
    assert any(re.search("rows of exclamation marks", message) for message in told) is expected


@pytest.mark.parametrize(("variable", "expected"), [("", True), ("SGLANG_USE_AITER=0 ", False)])
def test_a_report_in_aiter_is_not_told_where_that_is_switched_off(variable: str, expected: bool) -> None:
    start = f"{variable}python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1-0528 --tp-size 8"
    judged = ask(start, "8xMI355X", "")
    told = [finding.message for each in judged for finding in each.findings if finding.code is Code.KNOWN_REPORT]
    assert any("gemm_a8w8_blockscale_bpreshuffle" in message for message in told) is expected


RAY = "vllm serve moonshotai/Kimi-K2.6 -tp 8 -pp 2 --distributed-executor-backend ray"


@pytest.mark.parametrize(("version", "former"), [("", True), ("0.25.1", False)])
def test_what_was_last_seen_before_the_newest_is_of_older_ones_whatever_its_remedy(version: str, former: bool) -> None:
    (remark,) = reports(RAY, "2x8xH200", version, 21231)
    assert remark.of_former is former


def test_what_was_seen_on_the_day_of_the_text_stays() -> None:
    text = f"Tested on 2026-06-20\n\n```bash\n{RAY}\n```\n"
    (remark,) = reports(text, "2x8xH200", "", 21231)
    assert not remark.of_former


def test_a_report_that_is_open_is_not_over() -> None:
    row = next(iter(known_reports().values()))
    kind, rest = type(row), {"engines": ("vllm",), "remedy": "leave it out", "provenance": row.provenance}
    assert kind(last="0.28.0", message="it hangs", **rest).last_seen_before("0.33.0")
    assert not kind(last="0.28.0", message="it hangs; the report is open", **rest).last_seen_before("0.33.0")
    assert not kind(last="b9000", message="it hangs", **rest).last_seen_before("b11434")
