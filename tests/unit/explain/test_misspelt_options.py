"""Options that are misspelt beyond doubt: an error is said of them, and the memory is judged by what is meant."""

from __future__ import annotations

import pytest

from moonpad.report.explain_verdict import verdict
from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask

SERVE = "# two nodes of 8x B200\nvllm serve moonshotai/Kimi-K3 --trust-remote-code"


@pytest.mark.parametrize(
    "written",
    [
        "-tensor-parallel-size 16",
        "-tensor-parallel-size=16",
        "-tensor_parallel_size 16",
        "---tensor-parallel-size 16",
        "--tensor-paralel-size 16",
        "--tensor-parallel-szie 16",
    ],
)
def test_the_layout_is_the_one_that_is_meant(written: str) -> None:
    (judged,) = ask(f"{SERVE} {written}")
    assert judged.layout is not None
    assert judged.layout.tp == 16
    errors = [finding for finding in judged.findings if finding.severity is Severity.ERROR]
    assert len(errors) == 1
    assert errors[0].where == written.partition(" ")[0].partition("=")[0]
    assert not verdict(judged)[0].startswith("Does not fit")
    assert any("--tensor-parallel-size" in word.replace("_", "-") for line in judged.corrected for word in line.argv)


def test_the_memory_is_that_of_the_value_that_is_meant() -> None:
    right, wrong = (
        ask(f"{SERVE} --tensor-parallel-size 16 {option}-memory-utilization 0.8")[0] for option in ("--gpu", "-gpu")
    )
    assert right.memory is not None
    assert wrong.memory is not None
    assert wrong.memory.kv_tokens == right.memory.kv_tokens
    assert wrong.memory.kv_tokens != ask(f"{SERVE} --tensor-parallel-size 16")[0].memory.kv_tokens  # type: ignore[union-attr]


def test_the_engine_knows_a_short_name_by_itself() -> None:
    (judged,) = ask(f"{SERVE} -tp 16")
    assert judged.layout is not None
    assert judged.layout.tp == 16
    assert not any(finding.code is Code.INVALID_VALUE for finding in judged.findings)


@pytest.mark.parametrize("written", ["--tp-size 16", "--tensor-size 16", "--tensor-parallel-ranks 16"])
def test_what_may_be_another_option_is_not_taken_for_it(written: str) -> None:
    (judged,) = ask(f"{SERVE} {written}")
    assert judged.layout is None or judged.layout.tp == 1


def test_a_release_that_is_not_recorded_may_have_it() -> None:
    (judged,) = ask(f"# pip install vllm==0.4.2\n{SERVE} --tensor-paralel-size 16")
    assert judged.layout is None or judged.layout.tp == 1


def test_a_name_with_another_word_at_its_end_is_not_taken_for_it() -> None:
    start = "sglang serve --model-path deepseek-ai/DeepSeek-R1 --tp-size 16 --disaggregation-mode prefill"
    (judged,) = ask(f"{start} --disaggregation-bootstrap-host 0.0.0.0\n")
    (error,) = [each for each in judged.findings if each.severity is not Severity.NOTE and "bootstrap" in each.where]
    assert (error.where, error.code) == ("--disaggregation-bootstrap-host", Code.UNKNOWN_FLAG)
    assert "--disaggregation-bootstrap-port" not in f"{error.message} {error.remedy}"
