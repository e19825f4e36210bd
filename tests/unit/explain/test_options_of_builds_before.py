"""Options that llama-server had before the builds that are recorded, where no build is named."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

SERVE = "llama-server -m Kimi-K2-Thinking-UD-Q2_K_XL-00001-of-00008.gguf -c 32768 -ngl 99 {}\n"


def of_option(option: str, said: str = "") -> Finding:
    (judged,) = ask(said + SERVE.format(option))
    return next(each for each in judged.findings if each.where == option)


@pytest.mark.parametrize("option", ["--verbose-prompt", "--log-prompt", "--slot-cache"])
def test_an_older_build_may_have_it(option: str) -> None:
    """The server took --verbose-prompt until https://github.com/ggml-org/llama.cpp/pull/21059 (March 2026)."""
    found = of_option(option)
    assert found.severity is Severity.WARNING
    assert "did you mean" not in found.remedy


@pytest.mark.parametrize(("option", "meant"), [("--ctx-sise", "--ctx-size"), ("--verbos", "--verbose")])
def test_a_slip_is_one_of_all_builds(option: str, meant: str) -> None:
    found = of_option(option)
    assert found.severity is Severity.ERROR
    assert meant in found.remedy


def test_a_build_that_is_named_has_it_no_more() -> None:
    assert of_option("--verbose-prompt", "version: 11434 (0123abcd)\n").severity is Severity.ERROR
