"""The same slip of the shell in each line of a command is told once, with the other lines."""

from __future__ import annotations

from moonpad.explain.judge import judge
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question
from moonpad.report.explain_view import explain_view

TEXT = "vllm serve zai-org/GLM-4.6 \\\\\n  -tp 8 \\\\\n  --port 8000 \\\\\n  --max-num-seqs 8 \\\\\n  --seed 1 \\\\\n"


def shown(text: str) -> str:
    script = read_script(text)
    return " ".join(explain_view(judge(script, Question()), script, 90).plain.split())


def test_it_is_told_once() -> None:
    view = shown(TEXT)
    assert view.count("of two backslashes") == 1
    assert "(also line 2, line 3, line 4)" in view


def test_one_slip_has_no_others() -> None:
    view = shown("vllm serve zai-org/GLM-4.6 \\\\\n  -tp 8 \\\n  --port 8000\n")
    assert view.count("of two backslashes") == 1
    assert "(also line" not in view
