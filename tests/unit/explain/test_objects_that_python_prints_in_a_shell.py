"""`$(python3 - <<'PY' … PY)` around a program that prints one object of JSON."""

from __future__ import annotations

import json

import pytest

from moonpad.explain.commands import Word
from moonpad.explain.script import read_script

SCRIPT = """\
export DRAFT=org/draft
SPEC_CONFIG=$({python} - <<'PY'
import json
import os
{more}
print(json.dumps({{
    "model": os.environ["DRAFT"],
    "method": "eagle3",
    "num_speculative_tokens": int(os.getenv("STEPS", "7")),
    "list": [1, {{"a": None}}],
}}, separators=(",", ":")))
PY
)
vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --speculative-config "$SPEC_CONFIG"
"""


def config(text: str) -> Word:
    (command,) = [each for each in read_script(text).commands if each.program == "vllm serve"]
    return command.argv[-1]


@pytest.mark.parametrize("python", ["python3", "python"])
def test_the_object_is_known(python: str) -> None:
    word = config(SCRIPT.format(python=python, more=""))
    assert not word.unresolved
    expected = {"model": "org/draft", "method": "eagle3", "num_speculative_tokens": 7, "list": [1, {"a": None}]}
    assert json.loads(word.text) == expected


def test_a_variable_from_outside_is_named() -> None:
    word = config(SCRIPT.format(python="python3", more="").replace("export DRAFT=org/draft\n", ""))
    assert word.unresolved == ("DRAFT",)


@pytest.mark.parametrize("more", ["x = 1", "print('more')", "def f(:", "os.environ['DRAFT'] = 'x'"])
def test_a_program_that_does_more_is_not_run(more: str) -> None:
    assert config(SCRIPT.format(python="python3", more=more)).unresolved


def test_a_program_of_another_name_is_not_read() -> None:
    assert config(SCRIPT.format(python="node", more="")).unresolved
