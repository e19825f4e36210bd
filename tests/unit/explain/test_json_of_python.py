"""JSON that comments and words of Python have got into: options, bodies of requests, files."""

from __future__ import annotations

import pytest

from moonpad.explain.checks.shell.json_slips import slip_in
from moonpad.explain.json_text import without_foreign
from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2-Thinking -tp 8 --trust-remote-code"


def found(text: str, words: str) -> list[Finding]:
    return [each for one in ask(text) for each in one.findings if words in f"{each.where} {each.message}"]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ('{"method": "mtp", "num_speculative_tokens": 1, "disable_padded_drafter_batch": False}', "False is Python"),
        ('{"method": "mtp", "num_speculative_tokens": 1, "model": None}', "None is Python"),
        ('{"method": "mtp", # of the checkpoint\n "num_speculative_tokens": 1}', "no comment (# of the checkpoint)"),
        ('{"method": "mtp", // one\n "num_speculative_tokens": 1}', "no comment (// one)"),
        ('{"method": "mtp", "num_speculative_tokens": 1,}', "no comma before a closing bracket"),
        ('{"method": "mtp", \\\n "num_speculative_tokens": 1}', "a backslash at the end of a line"),
        ('{"method": "mtp", \\\n "num_speculative_tokens": 1, "x": true}', "a backslash at the end of a line"),
    ],
)
def test_an_option_says_what_is_wrong_with_it(value: str, why: str) -> None:
    (finding,) = found(f"{SERVE} --speculative-config '{value}'", "not JSON")
    assert finding.severity is Severity.ERROR
    assert why in finding.message


def test_what_json_has_is_let_be() -> None:
    value = '{"method": "mtp", "num_speculative_tokens": 1, "model": "a/None-True#1", "x": "http://y"}'
    assert found(f"{SERVE} --speculative-config '{value}'", "not JSON") == []


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('{"model": "k", "stream": True}', "True is Python"),
        ('{"model": "k", "stop": None}', "None is Python"),
        ('{"model": "k", # this one\n  "stream": true}', "parsers reject # this one"),
    ],
)
def test_the_body_of_a_request(body: str, said: str) -> None:
    text = f"{SERVE}\ncurl localhost:8000/v1/chat/completions -H 'Content-Type: application/json' -d '{body}'\n"
    assert [each.severity for each in found(text, said)] == [Severity.WARNING]


@pytest.mark.parametrize(
    "body",
    [
        '-d "{\\"model\\": \\"k\\", \\"stream\\": True}"',
        '-d @- <<EOF\n{\n  "model": "k",\n  "stream": True\n}\nEOF',
        "--data-binary @- << 'END'\n{\"stream\": True}\nEND",
    ],
)
def test_the_body_within_double_quotes_or_from_a_pipe(body: str) -> None:
    text = f"{SERVE}\ncurl localhost:8000/v1/chat/completions {body}\n"
    assert [each.severity for each in found(text, "True is Python")] == [Severity.WARNING]
    assert found(text.replace("True", "true"), "JSON") == []


def test_python_beside_the_servers_is_python() -> None:
    text = f'```bash\n{SERVE}\n```\n\nThe answer:\n\n```\n{{"ok": True,\n "rows": 3}}\n```\n'
    assert found(text, "is Python") == []
    assert len(found(text.replace("\n```\n{", "\n```json\n{"), "is Python")) == 1


def test_strings_keep_what_looks_foreign() -> None:
    text = '{"a": "x # y", "b": "None", "c": "// z", "d": [1, 2]}'
    assert without_foreign(text) == (text, ())
    assert slip_in(text) is None
    assert slip_in('{"a": None or 1}') is None
