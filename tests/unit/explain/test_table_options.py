"""Options that stand in a table alone."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.results import Judged
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question

TITLE = "# Kimi-K2-Thinking on 8x H200\n\n`kubectl apply -f serve.yaml`\n\n"


def table(head: str, *rows: str) -> str:
    return "\n".join((f"| {head} |", "|---|---|---|", *(f"| {row} |" for row in rows))) + "\n"


def judged_of(text: str) -> list[Judged]:
    return list(judge(read_script(TITLE + text), Question()))


def test_options_with_their_values_in_the_first_column() -> None:
    rows = ("`--tensor-parallel-size 8` | 8 | GPUs", "`--max-model-len 65536` | 64K | context")
    (judged,) = judged_of(table("Parameter | Value | For", *rows, "`--enable-auto-tool-choice` | on | tools"))
    assert judged.layout is not None
    assert judged.settings is not None
    assert (judged.layout.tp, judged.settings.max_model_len) == (8, 65536)
    assert judged.cluster is not None
    assert judged.cluster.name == "8xH200"


@pytest.mark.parametrize(
    ("head", "cell", "context"),
    [
        ("Flag | Value | Why", "`65536`", 65536),
        ("Flag | Setting | Why", "65536", 65536),
        ("Flag | Value | Why", "32768 or 65536", None),
        ("Flag | Value | Why", "default", None),
        ("Flag | Why | More", "65536", None),
    ],
)
def test_values_in_a_column_of_values(head: str, cell: str, context: int | None) -> None:
    rows = ("`--tensor-parallel-size 8` | 8 |", f"`--max-model-len` | {cell} |", "`--trust-remote-code` | yes |")
    (judged,) = judged_of(table(head, *rows))
    assert judged.settings is not None
    assert judged.settings.max_model_len == context


@pytest.mark.parametrize(
    "rows",
    [
        ("`--tensor-parallel-size 8` | 8 |", "`--max-model-len 65536` | |"),
        ("`--foo 8` | 8 |", "`--bar 1` | |", "`--model m` | |", "`--baz` | |"),
        ("`--seed 1` | |", "`--port 8000` | |", "`--trust-remote-code` | |"),
    ],
)
def test_other_tables(rows: tuple[str, ...]) -> None:
    assert not [each for each in judged_of(table("Flag | Value | For", *rows)) if each.layout is not None]


def test_a_command_goes_before_its_table() -> None:
    rows = ("`--tensor-parallel-size 4` | 4 |", "`--max-model-len 65536` | |", "`--trust-remote-code` | |")
    command = "```bash\nvllm serve moonshotai/Kimi-K2-Thinking -tp 8\n```\n\n"
    (judged,) = judged_of(command + table("Flag | Value | For", *rows))
    assert judged.layout is not None
    assert judged.layout.tp == 8
