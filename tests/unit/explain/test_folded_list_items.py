"""The only item of a YAML list in a fence, whose text goes on in deeper lines: YAML makes one line of it."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask, layout

ITEM = """\
          - vllm serve Qwen/Qwen3-32B --tool-call-parser
            hermes --enable-auto-tool-choice
            --tensor-parallel-size 4 --max-model-len
            32768
"""
FENCED = f"On 4x H200:\n\n```\n{ITEM}```\n"


def test_its_lines_are_one() -> None:
    (judged,) = ask(FENCED)
    assert layout(judged) == (4, 1, 1)
    assert judged.settings is not None
    assert judged.settings.max_model_len == 32768
    assert not [finding for finding in judged.findings if finding.severity.value == "error"]
    assert not [problem for problem in read_script(FENCED).problems if problem.code == "missing-backslash"]


def test_words_stand_where_they_stood() -> None:
    (command,) = read_script(FENCED).commands
    lines = FENCED.splitlines()
    for word in command.argv:
        assert lines[word.line - 1][word.column :].startswith(word.text)


def test_a_sentence_with_a_dash_and_a_command_below_it_is_no_item() -> None:
    (judged,) = ask("```\n- start it:\n  vllm serve Qwen/Qwen3-32B \\\n    --tensor-parallel-size 4\n```\n")
    assert layout(judged) == (4, 1, 1)


@pytest.mark.parametrize(("release", "refused"), [("0.11.2", True), ("0.14.0", False)])
def test_the_automatic_context_came_with_0_14(release: str, refused: bool) -> None:
    (judged,) = ask(f"pip install vllm=={release}\nvllm serve Qwen/Qwen3-32B -tp 4 --max-model-len auto\n")
    errors = [finding.where for finding in judged.findings if finding.severity.value == "error"]
    assert errors == (["--max-model-len"] if refused else [])


@pytest.mark.parametrize("more", ["<additional flags>", "<other vLLM options>", "[your extra arguments]"])
def test_more_options_that_are_to_be_filled_in_leave_the_layout_open(more: str) -> None:
    (judged,) = ask(f"# 8x H200\nvllm serve moonshotai/Kimi-K2.5 {more}\n")
    assert "tp" in judged.unknown


QUOTED = """\
apiVersion: v1
kind: Pod
metadata: {{name: leader}}
spec:
  containers:
  - name: vllm
    image: vllm/vllm-openai:v0.12.0
    command:
    - sh
    - -c
    - {quote}bash /start.sh leader;
      vllm serve Qwen/Qwen3-32B
      --tensor-parallel-size 4 --max-model-lenn 32768{quote}
"""


@pytest.mark.parametrize("quote", ['"', "'"])
def test_words_of_a_quoted_text_over_lines_stand_where_they_stood(quote: str) -> None:
    text = QUOTED.format(quote=quote)
    lines = text.splitlines()
    (command,) = [each for each in read_script(text).commands if each.program == "vllm serve"]
    for word in command.argv:
        assert lines[word.line - 1][word.column :].startswith(word.text)


def test_lines_that_yaml_keeps_apart() -> None:
    """In what it folds, the lines around one that is indented further keep their ends."""
    text = (
        "type: task\ncommands:\n  - >\n    if [[ $RANK == 0 ]]; then\n      export NAME=a\n    else\n"
        "      export NAME=b\n    fi\n  - vllm serve moonshotai/Kimi-K2-Instruct -tp 8\nresources:\n  gpu: H200:8\n"
    )
    assert read_script(text).problems == ()
