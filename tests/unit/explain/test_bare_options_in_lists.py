"""Options of which each is an item of a list, without backticks: below a title or a sentence they are the arguments;
in YAML, and where their meaning is told, they are not."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.flag_bullets import bare_flags
from moonpad.explain.documents.markdown import is_markdown
from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask

LIST = """# Our server

- backend: vLLM
- version: 0.27.1
- model: moonshotai/Kimi-Linear-48B-A3B-Instruct

## Arguments

- --served-model-name ours
- --tensor-parallel-size 2
- --max-model-len 16384 (small at first; 64K later)
- --gpu-memory-utilization 0.90 — the rest is for others
- --dtype=half  # FP16
- --trust-remote-code (its tokenizer is code)
- --enforce-eager, as graphs take memory
- --enable-auto-tool-choice
- --generation-config vllm
"""


def words(text: str) -> list[str]:
    return [word.text for command in read_script(text).commands for word in command.argv]


def test_all_items_are_read_without_their_remarks() -> None:
    assert words(LIST) == [
        *("--served-model-name", "ours", "--tensor-parallel-size", "2", "--max-model-len", "16384"),
        *("--gpu-memory-utilization", "0.90", "--dtype=half", "--trust-remote-code", "--enforce-eager"),
        *("--enable-auto-tool-choice", "--generation-config", "vllm"),
    ]


def test_they_are_judged_as_the_arguments_of_the_model_that_the_text_names() -> None:
    (judged,) = ask(LIST)
    assert judged.layout is not None
    assert judged.layout.tp == 2
    assert judged.settings is not None
    assert (judged.settings.max_model_len, judged.settings.gpu_memory_utilization) == (16384, 0.90)
    assert judged.checkpoint is not None
    assert judged.checkpoint.name == "moonshotai/Kimi-Linear-48B-A3B-Instruct"
    assert any("it needs --tool-call-parser" in each.message for each in judged.findings)


def test_a_word_stands_where_it_is_written() -> None:
    (command,) = read_script(LIST).commands
    lines = LIST.splitlines()
    for word in command.argv:
        assert lines[word.line - 1][word.column :].startswith(word.text)


@pytest.mark.parametrize(
    "text",
    [
        "containers:\n  - name: a\n    args:\n    - --model=a/b\n    - --tensor-parallel-size=8\n    - --dtype=half\n",
        "args:\n- --model=a/b\n- --tensor-parallel-size=8\n- --dtype=half\n",
        "args:\n# what it serves\n- --model=a/b\n- --tensor-parallel-size=8\n- --dtype=half\n",
        "## Arguments\n\n- --tensor-parallel-size 2\n- --dtype half\n",
        "## Arguments\n\n- --max-model-len is the longest context\n- --dtype: the type\n- --enforce-eager: no graphs\n",
    ],
)
def test_yaml_a_pair_of_options_and_what_options_mean_are_no_such_list(text: str) -> None:
    assert not bare_flags(text)


@pytest.mark.parametrize("lead", ["vLLM args:", "**Arguments**", "### Flags", "The server runs with:\n"])
def test_what_may_stand_above_it(lead: str) -> None:
    text = f"{lead}\n- --tensor-parallel-size 2\n- --max-model-len 16384\n- --dtype half\n"
    assert is_markdown(text)
    assert len(bare_flags(text)) == 3


@pytest.mark.parametrize("below", ["", "    --max-num-seqs=8\n    --dtype=half\n"], ids=["two", "four"])
@pytest.mark.parametrize("title", ["serve args: ", "vllm flags:"])
def test_words_that_end_with_a_colon_above_lines_of_options_are_their_title(title: str, below: str) -> None:
    options = "    --model=moonshotai/Kimi-K2.5\n    --tensor_parallel_size=8\n    --trust-remote-code\n"
    script = read_script(f"Image: vllm/vllm-openai:v0.11.0\n\n{title}\n{options}{below}\nIt hangs then.\n")
    assert not script.problems
    (judged,) = [each for each in ask(script) if each.layout is not None]
    assert judged.layout is not None
    assert judged.layout.tp == 8
    assert not judged.unknown


def test_options_below_a_comment_of_an_array() -> None:
    text = 'ARGS=(\n## [BASE]\n  --model-path org/m\n  --tp-size 8\n  --port 1\n)\nsglang serve "${ARGS[@]}"\n'
    (judged,) = ask(text)
    assert judged.layout is not None
    assert judged.layout.tp == 8
