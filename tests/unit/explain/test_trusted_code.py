"""Where no release is named: what tells that the start ends without `--trust-remote-code`."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

K26 = "vllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 8"
LOG = (
    "ValueError: The repository moonshotai/Kimi-K2.6 contains custom code which must be executed to correctly load it."
)


def about(text: str) -> list[Finding]:
    return [each for judged in ask(text) for each in judged.findings if each.where == "--trust-remote-code"]


def around(sentence: str, command: str = K26) -> str:
    return f"# A start\n\n{sentence}\n\n```bash\n{command}\n```\n"


@pytest.mark.parametrize(
    "sentence",
    [
        "The tokenizer needs `--trust-remote-code`.",
        "Without trust_remote_code the tokenizer does not load.",
        "`--trust-remote-code` is required here.",
        "You must pass --trust-remote-code, by the way.",
        "必须加上 --trust-remote-code",
    ],
)
def test_the_text_says_so(sentence: str) -> None:
    (found,) = about(around(sentence))
    assert found.severity is Severity.WARNING
    assert "line 3 says that it is needed" in found.message


@pytest.mark.parametrize(
    "sentence",
    [
        "It does not need --trust-remote-code any more.",
        "Qwen needs --trust-remote-code.",
        "We never set --trust-remote-code.",
        'tok = AutoTokenizer.from_pretrained("moonshotai/Kimi-K2.6", trust_remote_code=True)',
        "不需要 --trust-remote-code",
    ],
)
def test_the_text_does_not(sentence: str) -> None:
    (found,) = about(around(sentence))
    assert found.severity is Severity.NOTE


def test_options_of_releases_that_end_without_it() -> None:
    (found,) = about(f"{K26} --disable-log-requests\n")
    assert found.severity is Severity.WARNING
    assert "which takes --disable-log-requests" in found.message
    (found,) = about(f"{K26} --enable-log-requests\n")
    assert found.severity is Severity.NOTE
    assert all(
        each.severity is not Severity.WARNING for each in about(f"# vLLM 0.33.0\n{K26} --disable-log-requests\n")
    )


def test_a_log_that_asks_for_it_is_told_once() -> None:
    text = f"{around('It ended:')}\n```\n{LOG}\n```\n"
    assert not about(text)
    assert any("--trust-remote-code" in each.message for judged in ask(text) for each in judged.findings)
    assert "--trust-remote-code" in ask(text)[0].corrected[0].argv
