"""Wrong words on a command line: what is wrong, the nearest right word, one remedy."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.cli import command_line as command
from moonpad.cli import output
from moonpad.cli.usage_errors import last_resort, refuse_empty_paths, with_standard_input
from moonpad.values.errors import UsageError


@pytest.fixture(autouse=True)
def _fresh_consoles() -> None:
    output.out.cache_clear()
    output.err.cache_clear()


@pytest.mark.parametrize(
    ("line", "message", "remedy"),
    [
        ("foo", 'moonpad has no command "foo"', "one of init, plan,"),
        ("plann", 'moonpad has no command "plann"; did you mean plan?', "one of init, plan,"),
        ("--foo", "moonpad has no option --foo", "moonpad --help"),
        ("catalog foo", 'catalog has no command "foo"', "one of models, hardware, engines, calibrations, published"),
        ("catalog model", 'catalog has no command "model"; did you mean models?', "one of models,"),
        ("catalog foo --json", 'catalog has no command "foo"', "one of models,"),
        (
            "catalog models extra",
            'catalog models takes no further argument, found "extra"',
            "moonpad catalog models --help",
        ),
        ("engine instal", 'engine has no command "instal"; did you mean install?', "one of install, list, remove"),
        ("checkpoint foo", 'checkpoint has no command "foo"', "one of show"),
        ("plan --modle x", "plan has no option --modle; did you mean --model?", "moonpad plan --help"),
        ("plan --modle=x", "plan has no option --modle; did you mean --model?", "moonpad plan --help"),
        ("catalog --foo", "catalog has no option --foo", "moonpad catalog --help"),
        ("plan --concurrency x", '--concurrency must be a whole number, found "x"', "moonpad plan --help"),
        ("bench a --rate=1..2", '--rate must be a number, found "1..2"', "moonpad bench --help"),
        ("plan --goal lat", '--goal must be latency, throughput, context or cost, found "lat"', "moonpad plan --help"),
        ("plan --on", "--on needs a value", "moonpad plan --help"),
        ("render x.toml --out", "--out needs a value", "moonpad render --help"),
        ("render x.toml --to", "--to needs a value", "moonpad render --help"),
        ("render x.toml --into here", "render has no option --into", "moonpad render --help"),
        ("render x.toml --into=here", "render has no option --into", "moonpad render --help"),
        ("compare a", "compare needs RUN-B", "moonpad compare --help"),
        ("engine install", "engine install needs NAME", "moonpad engine install --help"),
        ("plan --json --json", "--json is given twice", "moonpad plan --help"),
    ],
)
def test_wrong_words(capsys: pytest.CaptureFixture[str], line: str, message: str, remedy: str) -> None:
    assert command.run(line.split()) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first == f"moonpad: {message}"
    assert second.strip().startswith(remedy)


@given(
    st.lists(st.sampled_from(["catalog", "engine", "compare", "--foo", "-x", "--json", "=", "x" * 200, "\x1b[2J", "é"]))
)
def test_no_words_end_in_a_traceback(words: list[str]) -> None:
    assert command.run(["catalog", *words]) in (0, 2)


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (OSError(36, "File name too long", "/a/b"), 2, "/a/b: File name too long"),
        (OSError(28, "No space left on device"), 2, "No space left"),
        (MemoryError(), 2, "more memory"),
        (RecursionError(), 2, "nested too deeply"),
        (KeyError("x" * 5_000), 1, "KeyError"),
    ],
)
def test_the_last_resort_is_a_sentence(error: Exception, code: int, words: str) -> None:
    ours = last_resort(error)
    assert (ours.exit_code, words in ours.message, len(ours.message) < 400) == (code, True, True)
    assert ours.remedy


def test_an_empty_path_is_no_path() -> None:
    for argv in (["verify", "--junit", ""], ["verify", "--junit="], ["init", "-o", ""]):
        with pytest.raises(UsageError, match="it is empty"):
            refuse_empty_paths(argv)
    refuse_empty_paths(["explain", "--file", "x", "--", "vllm", "--file", ""])
    refuse_empty_paths(["chat", "--system", ""])


def test_a_log_may_come_from_the_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`-` is a value there; elsewhere, and behind `--`, it is left alone."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"nothing of an engine\n")))
    assert command.run(["plan", "--from-log", "-", "--on", "8xH200"]) == 2
    assert "- holds no start of vLLM or SGLang" in capsys.readouterr().err
    assert with_standard_input(["doctor", "--log", "-", "--json"]) == ["doctor", "--log=-", "--json"]
    assert with_standard_input(["plan", "-"]) == ["plan", "-"]
    assert with_standard_input(["explain", "--", "x", "--log", "-"]) == ["explain", "--", "x", "--log", "-"]
