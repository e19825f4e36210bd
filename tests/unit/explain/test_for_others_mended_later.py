"""A fault that a release mended for other layers is not shown beside the report of it that still holds."""

from __future__ import annotations

from moonpad.explain.results import Judged
from moonpad.report.explain_verdict import verdict
from moonpad.values.finding import Code
from tests.unit.explain.judging import ask

ERROR = "ValueError(\"type fp8e4nv not supported in this architecture. The supported fp8 dtypes are ('fp8e5',)\")"


def judged(model: str) -> Judged:
    serve = f"python -m sglang.launch_server --model-path {model} --tp 4 --port 9100"
    prose = (
        f"# Incompatibility error\n\nMy gpu is an A100, and it prompts an incompatibility error during runtime: {ERROR}"
    )
    return ask(f"{prose}\n\n```shell\n{serve}\n```\n")[0]


def mended(answer: Judged) -> list[bool]:
    found = [each for each in answer.remarks if each.finding.code is Code.MENDED_LATER]
    return [each.as_told for each in found if "fp8e4nv" in each.finding.message]


def test_a_report_that_holds_is_told_alone() -> None:
    answer = judged("MiniMaxAI/MiniMax-M2.1")
    assert "FP8 experts go through Triton" in verdict(answer)[0]
    assert mended(answer) == [False]


def test_what_no_report_tells_is_still_told() -> None:
    assert mended(judged("Qwen/Qwen3-32B-FP8")) == [True]
