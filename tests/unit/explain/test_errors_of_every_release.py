"""Where no release is named, what is said and written holds for each that serves the model and takes the command."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from moonpad.explain.every_release import of_every_release
from moonpad.explain.grouping import group
from moonpad.explain.results import Edit, Judged, make_remark
from moonpad.explain.script import read_script
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace
from tests.unit.explain.judging import ask

K25 = "vllm serve moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code --reasoning-parser kimi_k2 --tool-call-parser kimi_k2"
ERROR = make_remark(Severity.ERROR, Code.CONFLICT, "--block-size", "the start ends", at=0, edits=[Edit(0, 1, ())])


def told(text: str, other: Callable[[str], Judged]) -> list[tuple[Severity, str]]:
    """Of one error that is put into the judgement."""
    script = read_script(text)
    (judged,) = ask(script)
    (own,) = group(script.commands)
    found = of_every_release(replace(judged, remarks=(ERROR,)), script, own, other)
    assert found is not None
    return [(each.finding.severity, each.finding.message) for each in found.remarks]


def test_an_error_that_another_release_does_not_have_is_a_warning_that_says_so() -> None:
    ((severity, message),) = told(K25, lambda release: replace(ask(K25)[0], remarks=()))
    assert severity is Severity.WARNING
    assert "does not end at it: --engine-version says which is meant" in message


def test_an_error_of_all_releases_stays() -> None:
    assert told(K25, lambda release: replace(ask(K25)[0], remarks=(ERROR,))) == [(Severity.ERROR, "the start ends")]


def test_of_a_named_release_no_other_is_asked() -> None:
    def other(release: str) -> Judged:
        raise AssertionError(release)

    assert told(f"pip install vllm==0.19.0\n{K25}", other) == [(Severity.ERROR, "the start ends")]


def test_only_releases_that_have_the_model_and_the_options_are_asked() -> None:
    """Kimi-K2.5 came with 0.15.0."""
    asked: list[str] = []

    def other(release: str) -> Judged:
        asked.append(release)
        return replace(ask(K25)[0], remarks=(ERROR,))

    told(K25, other)
    assert asked[0] == "0.15.0"
    assert "0.10.0" not in asked


@pytest.mark.parametrize(
    ("named", "stays"), [("", True), ("pip install vllm==0.10.2\n", True), ("pip install vllm==0.33.0\n", False)]
)
def test_a_variable_that_some_of_them_read_stays(named: str, stays: bool) -> None:
    start = (
        "VLLM_USE_V1=1 vllm serve deepseek-ai/DeepSeek-V3.1 -tp 8 --trust-remote-code --tool-call-parser deepseek_v31"
    )
    (judged,) = ask(f"{named}{start}\n")
    assert judged.corrected
    assert all(("VLLM_USE_V1" in line.env) is stays for line in judged.corrected)


def test_no_option_is_written_that_some_of_them_lack() -> None:
    start = "VLLM_ALL2ALL_BACKEND=deepep_low_latency vllm serve deepseek-ai/DeepSeek-R1 -dp 8 --enable-expert-parallel"
    (judged,) = ask(f"{start} --tool-call-parser deepseek_v3\n")
    (line,) = judged.corrected
    assert "--enable-auto-tool-choice" in line.argv
    assert "--all2all-backend" not in line.argv
    assert "VLLM_ALL2ALL_BACKEND" in line.env


def test_a_slip_that_is_read_before_any_release_is_looked_at_stays_an_error() -> None:
    text = "vllm serve moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code --port 8111--max-num-seqs 64\n"
    (judged,) = ask(text)
    assert any(finding.severity is Severity.ERROR for finding in judged.findings)
