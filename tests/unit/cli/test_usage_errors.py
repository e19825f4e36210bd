"""Wrong words on a command line: what is wrong, the nearest right word, one remedy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.cli import main as command
from moonpad.cli import output


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
        ("plan --goal lat", '--goal must be latency, throughput or context, found "lat"', "moonpad plan --help"),
        ("plan --on", "--on needs a value", "moonpad plan --help"),
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
