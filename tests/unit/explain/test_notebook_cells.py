"""A notebook: the fences of its Markdown are read as a shell's, and a rule of dashes in it is no list of options."""

from __future__ import annotations

import json

from moonpad.explain.results import Judged
from moonpad.explain.script import read_files
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

PROSE = "---\n## The rows\n\nA row -- all of it -- is one object — see the server of vLLM.\n"
GUIDE = [
    "**A key**\n",
    "```yaml\n",
    "key: none\n",
    "```\n",
    "\n",
    "```bash\n",
    "vllm serve org/model-8b \\\n",
    "  --port 8000\n",
    "```\n",
]


def judged(*sources: str | list[str]) -> tuple[Judged, ...]:
    cells = [{"cell_type": "markdown", "metadata": {}, "source": source} for source in sources]
    book = {"cells": [*cells, {"cell_type": "code", "metadata": {}, "source": "print('vllm')", "outputs": []}]}
    return ask(read_files([("guide.ipynb", json.dumps({**book, "metadata": {}, "nbformat": 4}, indent=1))]))


def test_a_rule_of_dashes_begins_no_options() -> None:
    assert judged(PROSE) == ()


def test_the_fence_of_a_cell_is_a_command_of_several_lines() -> None:
    (found,) = judged(PROSE, GUIDE)
    assert found.model_written == "org/model-8b"
    assert not [each for each in found.findings if each.severity is Severity.ERROR]
    assert [word.text for word in found.sources[0].argv] == ["org/model-8b", "--port", "8000"]


def test_a_line_in_quotes_ends_where_its_string_has_a_new_line() -> None:
    (found,) = ask(
        read_files([("notes.json", '{"how": ["Start it:",\n "vllm serve org/model-8b --port 8000\\n",\n "then"]}')])
    )
    assert not [each for each in found.findings if each.severity is Severity.ERROR]
