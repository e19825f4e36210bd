"""What a shell reads otherwise has a level: an error where it certainly ends the command, else a warning."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from moonpad.report.explain_json import explain_json
from moonpad.report.explain_view import explain_view
from tests.unit.explain.judging import ask

SERVER = "vllm serve moonshotai/Kimi-K2-Instruct"


@pytest.mark.parametrize(
    ("text", "level"),
    [
        (f"{SERVER} \\ # both nodes\n  --tensor-parallel-size 16\n", "error"),
        (f"{SERVER} \\ \n  --tensor-parallel-size 16\n", "error"),
        (f"{SERVER} \\\\\n  --tensor-parallel-size 16\n", "warning"),
        (f"```bash\n{SERVER} \\ \n  --tensor-parallel-size 16\n```\n", "warning"),  # a page may have added the blank
        (f"{SERVER} --api-key 'a\n", "warning"),
    ],
)
def test_the_same_level_is_shown_and_written(text: str, level: str) -> None:
    script, judged = read_script(text), ask(text)
    assert {problem["severity"] for problem in explain_json(judged, script)["problems"]} == {level}
    assert f"{level}: the shell: " in explain_view(judged, script, 120).plain
