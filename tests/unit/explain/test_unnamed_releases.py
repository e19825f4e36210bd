"""Reports of releases that ended, of a command that says nothing of its release: notes, where enough agrees."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from moonpad.report.explain_view import explain_view
from moonpad.values.finding import Code
from tests.unit.explain.judging import ask

TOLD = (Code.KNOWN_REPORT, Code.MENDED_LATER)
DRAFTS = "--tp-size 8 --dp-size 8 --enable-dp-attention --speculative-algorithm EAGLE"


def told(text: str, on: str, version: str = "") -> list[tuple[str, str]]:
    judged = ask(text, on, version)
    findings = [finding for judgement in judged for finding in judgement.findings]
    return [(str(each.severity), each.message) for each in findings if each.code in TOLD]


@pytest.mark.parametrize(
    ("text", "on", "thread"),
    [
        # The model and two options, of a release long past.
        (f"python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1 {DRAFTS}", "", "sglang#6891"),
        # The model and the devices.
        ("vllm serve deepseek-ai/DeepSeek-V4-Flash -tp 2", "2xRTX-PRO-6000", "vllm#40802"),
    ],
)
def test_what_ended_is_a_note_where_no_release_is_named(text: str, on: str, thread: str) -> None:
    (severity,) = [severity for severity, message in told(text, on) if thread in message]
    assert severity == "note"


@pytest.mark.parametrize(
    "text",
    [
        # The model came later than the last release that has the fault,
        f"python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3.2 {DRAFTS}",
        # or the text asks for a later one.
        f"# sglang>=0.5.9\npython3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1 {DRAFTS}",
    ],
)
def test_what_ended_before_the_model_or_the_text_begins_is_left_out(text: str) -> None:
    assert not [message for _, message in told(text, "") if "sglang#6891" in message]


def test_of_a_release_that_is_named_only_its_own_reports_are_told() -> None:
    text = f"python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1 {DRAFTS}"
    assert not [message for _, message in told(text, "", "0.5.9") if "sglang#6891" in message]


def test_the_model_alone_is_not_enough() -> None:
    assert told("vllm serve zai-org/GLM-4.6-FP8 --tensor-parallel-size 4", "") == []


def test_a_person_reads_how_many_there_are_and_all_of_them_with_verbose() -> None:
    script = read_script(f"python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1 {DRAFTS}")
    judged = ask(script)
    short, whole = (explain_view(judged, script, 100, verbose=verbose).plain for verbose in (False, True))
    assert "older releases have" in short
    assert "sglang#6891" not in short
    assert "sglang#6891" in whole
