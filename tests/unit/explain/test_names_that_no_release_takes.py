"""A name from a list that no recorded release takes: the release that is judged ends at it, and nothing "fits"."""

from __future__ import annotations

import pytest

from moonpad.report.explain_verdict import verdict
from tests.unit.explain.judging import ask, ask_one

START = "sglang serve --model-path moonshotai/Kimi-K2-Thinking --tp-size 8 --trust-remote-code {}"


@pytest.mark.parametrize("option", ["--tool-call-parser heron", "--reasoning-parser heron"])
def test_the_headline_says_that_the_judged_release_does_not_start(option: str) -> None:
    one = ask_one(START.format(option), on="8xH200")
    sentence, _ = verdict(one)
    assert sentence.startswith("Does not start with sglang ")
    assert option.split()[0] in sentence
    assert not one.corrected


def test_a_name_that_releases_take_starts() -> None:
    one = ask_one(START.format("--tool-call-parser kimi_k2 --reasoning-parser kimi_k2"), on="8xH200")
    assert verdict(one)[0].startswith("Fits")


@pytest.mark.parametrize(
    "before",
    [
        "pip install git+https://github.com/heron-lab/sglang@heron\n",
        "git clone https://github.com/heron-lab/sglang && pip install -e sglang/python\n",
        "pip install --pre sglang --extra-index-url https://docs.sglang.ai/whl/nightly\n",
        "# the parser comes with our plugin\n",
        "docker run --gpus all heron/sglang:dev ",
    ],
)
def test_of_somebodys_own_build_nothing_is_said_to_end(before: str) -> None:
    (one,) = ask(before + START.format("--tool-call-parser heron"))
    assert not any(each.ends_start for each in one.remarks)
