"""Shell texts that are templates of Jinja: what fills them leaves no tag and no comment."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.script import read_script
from moonpad.explain.shell.line_repair import repaired
from moonpad.explain.source_text import InputText, Problems, without_template_comments
from moonpad.explain.target_detection import Question
from moonpad.values.finding import Severity

BRANCHES = """vllm serve m \\
  --host {{ common.host | default('0.0.0.0') }} \\
{% if eager %}
  --enforce-eager \\
{% else %}
  --no-enforce-eager \\
{% endif %}
{%- for flag in flags %}
  {{ flag }} \\
{% endfor %}
  --port {% if port %}8001{% else %}8000{% endif %}
"""
CLOSE = """vllm serve m
{%- if eager %} \\
  --enforce-eager
{%- endif %}
{%- set port = servers.port | int %}
{%- if port > 0 %} \\
  --port 8001
{%- endif %}
"""


def words(text: str) -> list[str]:
    (command,) = [each for each in read_script(text).commands if each.program == "vllm serve"]
    return [word.text for word in command.argv]


def test_of_branches_the_first_is_read() -> None:
    read = words(BRANCHES)
    assert [word for word in read if word.startswith("--")] == ["--host", "--enforce-eager", "--port"]
    assert read[-1] == "8001"


def test_a_tag_that_takes_the_end_of_a_line_away() -> None:
    assert words(CLOSE) == ["m", "--enforce-eager", "--port", "8001"]


@pytest.mark.parametrize("text", [BRANCHES, CLOSE, f"{{# the default vllm serve command -- uses x #}}\n{CLOSE}"])
def test_nothing_of_a_template_is_an_error(text: str) -> None:
    judged = judge(read_script(text), Question())
    assert [f for each in judged for f in each.findings if f.severity is Severity.ERROR] == []
    assert [problem.message for problem in read_script(text).problems] == []


@pytest.mark.parametrize("text", ["echo {# a\nb #} c", "{#- x -#}{# y #}", "{# open", "a=${#b} # {c#}", "x{# no #}"])
def test_its_length_and_its_lines_stay(text: str) -> None:
    plain = without_template_comments(text)
    assert len(plain) == len(text)
    assert plain.count("\n") == text.count("\n")


def test_a_comment_is_blank_and_other_signs_stay() -> None:
    assert without_template_comments("a {# b\nc #} d") == "a     \n     d"
    assert without_template_comments("n=${# x #}") == "n=${# x #}"


@pytest.mark.parametrize("text", ["printf '{%s}' a", 'echo "{% of all"', "a=${b%}", "awk '{% 2}'"])
def test_percent_signs_of_a_shell_stay(text: str) -> None:
    assert repaired(text, 0, Problems(InputText(text))) == text


def test_a_chat_template_in_quotes_keeps_its_tags() -> None:
    text = "vllm serve m --chat-template '{% for m in messages %}x{% endfor %}'"
    assert repaired(text, 0, Problems(InputText(text))) == text


def test_a_value_that_a_template_chooses_is_not_judged() -> None:
    text = 'vllm serve m --kv-transfer-config \'{% if a %}{"kv_connector":"A"}{% else %}{}{% endif %}\''
    assert [
        f for each in judge(read_script(text), Question()) for f in each.findings if f.severity is Severity.ERROR
    ] == []
