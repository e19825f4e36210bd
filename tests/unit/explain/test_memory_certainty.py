"""A lack of memory is an error only where the start surely ends."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.results import Judged
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question
from moonpad.report.explain_verdict import verdict
from moonpad.values.finding import Code, Severity


def only(text: str) -> Judged:
    (judged,) = judge(read_script(text), Question())
    return judged


@pytest.mark.parametrize(
    ("text", "severity", "said"),
    [
        # Twice the weights: nothing could make it fit.
        ("# 4x H100\nvllm serve moonshotai/Kimi-K2.5 -tp 4", "error", "the weights alone"),
        # H20 comes with 96 and 141 GB.
        ("# 8x H20\nvllm serve moonshotai/Kimi-K2.5 -tp 8", "warning", "H20-141G"),
        ("# 8x H20 96GB, 4 GPUs\nvllm serve moonshotai/Kimi-K2.5 -tp 4", "error", "the weights alone"),
        # SGLang takes less context than it is asked for.
        (
            "# 8x H20\npython -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --tp 8 --context-length 262144",
            "warning",
            "the engine starts",
        ),
    ],
)
def test_severity(text: str, severity: str, said: str) -> None:
    judged = only(text)
    (finding,) = [finding for finding in judged.findings if finding.code is Code.DOES_NOT_FIT]
    assert finding.severity.value == severity
    assert said in finding.message
    sentence, _ = verdict(judged)
    first = {Severity.ERROR: "Does not fit"}.get(finding.severity, "")
    assert sentence.startswith(first or ("Starts with less" if "starts" in said else "May not fit"))
