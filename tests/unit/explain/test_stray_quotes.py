"""A quote that nothing closes, at one end of a plain value with the next option behind it, is taken out: all that
follows it is read."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2-Instruct -tp 8 --enable-auto-tool-choice"


def remedies(text: str) -> list[str]:
    return [problem.remedy for problem in read_script(text).problems if "never closed" in problem.message]


@pytest.mark.parametrize(
    "values",
    [
        "--tool-call-parser kimi_k2' --port 9000",
        '--tool-call-parser kimi_k2" --port 9000',
        "--tool-call-parser 'kimi_k2 --port 9000",
        '--tool-call-parser="kimi_k2 --port 9000',
        "--tool-call-parser kimi_k2' \\\n  --port 9000",
        "--port 9000 --tool-call-parser kimi_k2'",
    ],
)
def test_what_stands_behind_it_is_read(values: str) -> None:
    text = f"```bash\n{SERVE} {values}\n```\n"
    (judged,) = ask(text, "8xH200")
    assert remedies(text) == ["take it out"]
    words = [word.partition("=") for word in judged.commands[0].argv]
    flat = [part for word in words for part in (word[0], word[2]) if part]
    assert flat[flat.index("--tool-call-parser") + 1] == "kimi_k2"
    assert flat[flat.index("--port") + 1] == "9000"
    assert not any("has no parser" in finding.message for finding in judged.findings)


@pytest.mark.parametrize(
    "values",
    [
        """--speculative-config '{"method": "mtp", "num_speculative_tokens": 1} --port 9000""",
        "--served-model-name 'kimi k2 instruct",
        "--chat-template '{{ messages }} --port 9000",
    ],
)
def test_a_quote_around_more_than_a_plain_value_is_to_be_closed(values: str) -> None:
    assert remedies(f"```bash\n{SERVE} {values}\n```\n") == ["close it"]


def test_a_script_in_quotes_is_to_be_closed() -> None:
    assert remedies(f"```bash\nbash -c '{SERVE}\n```\n") in (["close it"], ["close it with '"])


def test_quotes_that_are_closed_are_left_alone() -> None:
    assert remedies(f"```bash\n{SERVE} --tool-call-parser 'kimi_k2' --port 9000\n```\n") == []
