"""Options in backticks, and the program's name in the sentence."""

from __future__ import annotations

import pytest

from moonpad.values.errors import UsageError
from tests.unit.explain.judging import ask


@pytest.mark.parametrize(
    ("text", "engine"),
    [
        ("Tested with `-m org/Kimi-K2-Thinking-Q4_X.gguf --jinja -c 8192` on llama-server:\n", "llama-cpp"),
        ("With vllm serve and `--model moonshotai/Kimi-K2.5 --tensor-parallel-size 8` it stops.\n", "vllm"),
    ],
)
def test_the_options_are_those_of_the_program(text: str, engine: str) -> None:
    (one,) = ask(f"{text}\n```\nlog\n```\n")
    assert one.engine == engine


@pytest.mark.parametrize(
    "text",
    [
        "llama-server has `-m FILE` and `--jinja`.",
        "Tested with `-m kimi.gguf --jinja --special` here.",
    ],
)
def test_not_where_none_is_named(text: str) -> None:
    try:
        found = ask(f"{text}\n\n```\nlog\n```\n")
    except UsageError:
        found = ()
    assert not [one for one in found if one.layout is not None and one.engine == "llama-cpp"]
