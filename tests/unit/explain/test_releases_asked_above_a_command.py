"""What the line above a command asks for goes before a release that another sentence of the text names."""

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask_one

SERVE = "```bash\nvllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8 --trust-remote-code\n```\n"
REMARK = "- Original spec (Feb 2026) benchmarked K2.5 with vLLM v0.15.1"


@pytest.mark.parametrize("above", ["**Option A - vLLM (v0.19.0+):**", "### vLLM >= 0.19.0"])
def test_the_least_release_above_it(above: str) -> None:
    judged = ask_one(f"{REMARK}\n\n{above}\n\n{SERVE}", "")
    assert judged.version_because.startswith("the text asks for vllm 0.19.0 or later")


@pytest.mark.parametrize("above", ["**Option A:**", "**Option A - vLLM (v0.12.0+):**"])
def test_a_release_that_agrees_is_the_one(above: str) -> None:
    assert ask_one(f"{REMARK}\n\n{above}\n\n{SERVE}", "").version == "0.15.1"


GONE = SERVE.replace("--trust-remote-code", "--trust-remote-code --disable-log-requests")
"""Parsers of vLLM 0.17.0 to 0.32.0 have no such option; that of 0.33.0 has it again."""


@pytest.mark.parametrize("above", ["**Option A - vLLM (v0.19.0+):**", "### vLLM >= 0.19.0"])
def test_an_option_that_the_least_release_refuses(above: str) -> None:
    judged = ask_one(f"{above}\n\n{GONE}", "")
    told = [each for each in judged.findings if each.where == "--disable-log-requests" and "0.19.0" in each.message]
    assert [each.severity for each in told] == [Severity.WARNING]
    (line,) = judged.corrected
    assert "--disable-log-requests" not in line.argv


@pytest.mark.parametrize("above", ["### vLLM >= 0.33.0", "### vLLM >= 0.12.0", "### vLLM"])
def test_an_option_that_it_takes(above: str) -> None:
    judged = ask_one(f"{above}\n\n{GONE}", "")
    assert not [each for each in judged.findings if "asks for" in each.message]
