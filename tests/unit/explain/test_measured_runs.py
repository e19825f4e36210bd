"""What a client has measured behind a start was served, whatever a rule says of it."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.results import Judged
from moonpad.explain.script import read_files
from moonpad.explain.target_detection import Question
from moonpad.values.finding import Code, Severity

RESULTS = """
============ Serving Benchmark Result ============
Successful requests:                     1000
Benchmark duration (s):                  66.93
Output token throughput (tok/s):         2985.45
"""
ACCURACY = """
Accuracy: 0.960
Invalid: 0.000
Latency: 15.956 s
Output throughput: 1231.699 token/s
"""
NONE = RESULTS.replace("1000", "0").replace("2985.45", "0.00")
DP = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp 8 --dp 4 --trust-remote-code"


def judged(text: str) -> tuple[Judged, ...]:
    return judge(read_files([("notes.md", text)]), Question())


def codes(one: Judged, severity: Severity) -> set[Code]:
    return {finding.code for finding in one.findings if finding.severity is severity}


def notes(start: str, behind: str) -> str:
    return f"On 8x B200 with SGLang 0.5.20:\n\n```bash\n{start}\n```\n\nResult:\n\n```\n{behind}```\n"


@pytest.mark.parametrize("behind", [RESULTS, ACCURACY])
def test_a_layout_that_was_measured_is_no_error(behind: str) -> None:
    (one,) = judged(notes(DP, behind))
    assert Code.ILLEGAL_LAYOUT in codes(one, Severity.WARNING)
    assert not codes(one, Severity.ERROR)


@pytest.mark.parametrize("behind", ["", NONE, "RuntimeError: no room\n"])
def test_nothing_answered(behind: str) -> None:
    (one,) = judged(notes(DP, behind))
    assert codes(one, Severity.ERROR) == {Code.ILLEGAL_LAYOUT}


def test_results_are_of_the_start_above_them() -> None:
    fails, measured = DP, DP.replace("--dp 4", "--dp 4 --enable-dp-attention")
    first, second = judged(notes(fails, "RuntimeError: no room\n") + "\nThen:\n\n" + notes(measured, RESULTS))
    assert codes(first, Severity.ERROR) == {Code.ILLEGAL_LAYOUT}
    assert not codes(second, Severity.ERROR)


def test_what_the_shell_does_to_its_words_stays() -> None:
    start = 'vllm serve moonshotai/Kimi-K2.5 -tp 8 --speculative-config {"method":"ngram","num_speculative_tokens":1}'
    (one,) = judged(notes(start, RESULTS))
    assert Code.INVALID_VALUE in codes(one, Severity.ERROR)


def test_a_release_that_was_measured_with_the_model_has_it() -> None:
    start = "sglang serve --model-path moonshotai/Kimi-K2.5 --tp 8 --trust-remote-code"
    text = notes(start, RESULTS).replace("0.5.20", "0.5.6.post2")
    other = notes(f"{start} --tool-call-parser kimi_k2", "").replace("with SGLang 0.5.20", "")
    for one in judged(text + "\n## Accuracy\n\n" + other):
        assert not codes(one, Severity.ERROR)
    (alone,) = judged(text.replace(RESULTS, ""))
    assert codes(alone, Severity.ERROR) == {Code.UNSUPPORTED_FORMAT}


@pytest.mark.parametrize(("release", "severity"), [("0.5.3", Severity.WARNING), ("0.5.2", Severity.ERROR)])
def test_a_number_that_was_built_again(release: str, severity: Severity) -> None:
    """0.5.3.post3 took the parser `glm`, and whoever runs it calls it 0.5.3."""
    start = "python3 -m sglang.launch_server --model zai-org/GLM-4.6-FP8 --tp-size 8 --tool-call-parser glm"
    (one,) = judged(notes(start, "").replace("0.5.20", release))
    assert Code.INVALID_VALUE in codes(one, severity)


def test_a_build_of_a_day_may_have_a_model_of_the_next_release() -> None:
    text = "vLLM nightly of 2026-07-23, 8x B200:\n\n```bash\nvllm serve moonshotai/Kimi-K3 -tp 8\n```\n"
    (one,) = judged(text)
    assert Code.UNSUPPORTED_FORMAT in codes(one, Severity.WARNING) - codes(one, Severity.ERROR)
    (named,) = judged(text.replace("nightly of 2026-07-23", "0.25.1"))
    assert Code.UNSUPPORTED_FORMAT in codes(named, Severity.ERROR)
