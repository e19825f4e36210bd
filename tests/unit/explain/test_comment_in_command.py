"""What is shown of a comment among the continued lines of a command."""

from __future__ import annotations

from moonpad.explain.judge import judge
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question
from moonpad.report.explain_view import explain_view


def shown(text: str) -> str:
    script = read_script(text)
    return explain_view(judge(script, Question()), script, 100, ascii_only=True).plain


def test_it_is_shown_with_its_command_and_above_the_verdict() -> None:
    text = shown("vllm serve m -tp 8 \\\n  # --seed 3\n  --port 8001\n")
    assert text.startswith("The shell does not read it as meant (line 2). As meant: ")
    assert text.count("this comment is inside a command") == 1


def test_of_another_command_it_is_shown_at_the_end() -> None:
    text = shown("docker run --rm \\\n  # a note\n  -it ubuntu:24.04 bash\n\nvllm serve m -tp 8\n")
    assert "does not read it as meant" not in text
    assert "line 2: this comment is inside a command" in text
