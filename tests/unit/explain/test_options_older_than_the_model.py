"""Where no release is named, an option that only releases from before the model have is taken by none that can be
meant. By docs.vllm.ai, Kimi-K3 came with 0.27.0 and Kimi-K2 with 0.9.2; --swap-space went after 0.17.1, and
--speculative-model before 0.10.0."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask_one

NEW = "vllm serve moonshotai/Kimi-K3 --trust-remote-code -tp 8 "
OLD = "vllm serve moonshotai/Kimi-K2-Instruct --trust-remote-code -tp 16 "
UNKNOWN = "vllm serve /models/mine -tp 8 "


def severities(text: str, flag: str, version: str = "") -> list[Severity]:
    return [each.severity for each in ask_one(text, on="", version=version).findings if each.where == flag]


@pytest.mark.parametrize("option", ["--swap-space 0", "--speculative-model /models/draft"])
def test_a_model_that_came_later(option: str) -> None:
    assert severities(NEW + option, option.partition(" ")[0]) == [Severity.ERROR]


@pytest.mark.parametrize("start", [OLD, UNKNOWN], ids=["older", "unknown"])
@pytest.mark.parametrize("option", ["--swap-space 0", "--speculative-model /models/draft"])
def test_a_model_that_an_older_release_may_serve(start: str, option: str) -> None:
    assert severities(start + option, option.partition(" ")[0]) == [Severity.WARNING]


def test_an_option_of_a_build_of_ones_own_stays_a_warning() -> None:
    assert severities(f"{NEW}--tiered-cache-of-mine 3", "--tiered-cache-of-mine") == [Severity.WARNING]


def test_a_release_that_has_it_and_serves_the_model() -> None:
    text = "vllm serve moonshotai/Kimi-K2.5 --trust-remote-code -tp 8 --swap-space 0"
    (judged,) = (each for each in ask_one(text, on="").findings if each.where == "--swap-space")
    assert judged.severity is Severity.WARNING
    assert "0.15.0 to 0.17.1" in judged.message


def test_a_release_that_is_named_is_judged_by_itself() -> None:
    text = "vllm serve moonshotai/Kimi-K2.5 --trust-remote-code -tp 8 --swap-space 0"
    assert not severities(text, "--swap-space", "0.16.0")
