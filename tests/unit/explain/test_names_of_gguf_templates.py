"""Words behind --chat-template that no template is called, and names where Jinja takes them for the template."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

START = "llama-server -m /w/Kimi-K2-Instruct-0905-Q3_K_M-00001-of-00012.gguf -ngl 99 --cpu-moe {}\n"


def said(text: str) -> list[str]:
    found = [each for one in ask(text) for each in one.findings if each.where == "--chat-template"]
    return [each.message for each in found if "template itself" in each.message]


@pytest.mark.parametrize("options", ["--chat-template kimi_k2", "--no-jinja --chat-template Kimi-K2"])
def test_a_word_that_names_no_template_is_told(options: str) -> None:
    (message,) = said(START.format(options))
    assert "no template that is built in" in message


def test_a_name_beside_jinja_is_told() -> None:
    (message,) = said(START.format("--jinja --chat-template kimi-k2"))
    assert "names are not looked up" in message


@pytest.mark.parametrize(
    "options",
    [
        "--no-jinja --chat-template kimi-k2",
        "--chat-template kimi-k2",
        "--jinja --chat-template chatml",
        "--jinja",
        "--jinja --chat-template $TEMPLATE",
        "--jinja --chat-template '{% for m in messages %}{{ m.content }}{% endfor %}'",
        "-mla 3 -fmoe --chat-template kimi_k2",
    ],
)
def test_nothing_is_said_of_others(options: str) -> None:
    assert said(START.format(options)) == []
