"""A draft of another kind than the method that is asked for."""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask_one

SGLANG = "sglang serve --model-path moonshotai/Kimi-K2.5 --tp-size 8 --trust-remote-code --speculative-algorithm {} {}"
VLLM = """vllm serve moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code --speculative-config '{}'"""
PATH = "--speculative-draft-model-path"


def told(judged: Judged) -> list[Finding]:
    return [finding for finding in judged.findings if "by its name, and" in finding.message]


@pytest.mark.parametrize(
    ("method", "draft", "remedy"),
    [
        ("EAGLE", "lightseekorg/kimi-k2.5-eagle3", "EAGLE3"),
        ("eagle", "/d/Kimi-K2.5-Eagle-3/", "EAGLE3"),
        ("NEXTN", "nvidia/Kimi-K2.5-Thinking-Eagle3", "EAGLE3"),
        ("EAGLE3", "z-lab/Kimi-K2.5-DFlash", "DFLASH"),
        ("DFLASH", "RadixArk/Kimi-K3-DSpark", "DSPARK"),
        ("EAGLE3", "lmsys/DeepSeek-R1-NextN", "NEXTN"),
    ],
)
def test_a_draft_of_another_kind(method: str, draft: str, remedy: str) -> None:
    judged = ask_one(SGLANG.format(method, f"{PATH} {draft}"))
    (finding,) = told(judged)
    assert finding.severity is Severity.WARNING
    assert finding.remedy.endswith(f" {remedy}")
    assert finding.where == "--speculative-algorithm"


@pytest.mark.parametrize(
    "words",
    [
        ("EAGLE3", f"{PATH} lightseekorg/kimi-k2.5-eagle3"),
        ("EAGLE", f"{PATH} lmsys/DeepSeek-R1-NextN"),
        ("EAGLE", f"{PATH} /models/eagle3/draft"),
        ("EAGLE", f"{PATH} $EAGLE3_DRAFT"),
        ("EAGLE", ""),
        ("NGRAM", f"{PATH} lightseekorg/kimi-k2.5-eagle3"),
        ("$ALGORITHM", f"{PATH} lightseekorg/kimi-k2.5-eagle3"),
        ("DSPARK", f"{PATH} me/DFlash-to-DSpark"),
    ],
)
def test_what_fits_or_is_not_known(words: tuple[str, str]) -> None:
    assert not told(ask_one(SGLANG.format(*words)))


def test_the_object_of_another_engine() -> None:
    eagle = '{"method":"eagle","model":"lightseekorg/kimi-k2.5-eagle3","num_speculative_tokens":3}'
    (finding,) = told(ask_one(VLLM.format(eagle), version="0.30.0"))
    assert finding.remedy == 'write "method": "eagle3"'
    assert finding.where == "--speculative-config"
    for right in (eagle.replace('"eagle"', '"eagle3"'), eagle.replace('"method":"eagle",', ""), '{"method":"ngram"}'):
        assert not told(ask_one(VLLM.format(right), version="0.30.0"))


def test_the_corrected_command_has_the_right_one() -> None:
    judged = ask_one(SGLANG.format("EAGLE", f"{PATH} lightseekorg/kimi-k2.5-eagle3"))
    assert judged.corrected
    assert "EAGLE3" in judged.corrected[0].argv
