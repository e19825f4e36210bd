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


@pytest.mark.parametrize(
    "model", ["moonshotai/Kimi-K2-Instruct", "moonshotai/Kimi-K2-Thinking", "/models/Kimi-K2-Thinking"]
)
@pytest.mark.parametrize("release", ["", "0.5.9", "0.5.14", "0.5.23"])
def test_sglang_never_starts_without_it(model: str, release: str) -> None:
    """0.5.23 ended here at a repository of the form of K2's: run here; 0.5.11 to 0.5.21: read in their loader."""
    text = f"pip install sglang=={release}\n" if release else ""
    (judged,) = ask(f"{text}python3 -m sglang.launch_server --model-path {model} --tp 8\n")
    (found,) = (each for each in judged.findings if each.where == "--trust-remote-code")
    assert "ends at its start without it" in found.message
    assert found.severity is (Severity.ERROR if release else Severity.WARNING)
    (line,) = judged.corrected
    assert "--trust-remote-code" in line.argv


@pytest.mark.parametrize(
    "text",
    [
        "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --tp 8",
        "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp 8 --tokenizer-path /tokenizer",
        "vllm serve moonshotai/Kimi-K2-Instruct -tp 8",
    ],
)
def test_elsewhere_it_may_start(text: str) -> None:
    assert all(found.severity is Severity.NOTE for found in about(text))


def test_what_newer_releases_make_of_the_tokenizer_is_said() -> None:
    (found,) = about("vllm serve moonshotai/Kimi-K2-Instruct -tp 8")
    assert "up to 0.17.1" in found.message
    assert "cut words otherwise than the model has learned" in found.message
    (found,) = about("pip install vllm==0.28.0\nvllm serve moonshotai/Kimi-K2-Instruct -tp 8")
    assert "read without it too, but cut words otherwise" in found.message
