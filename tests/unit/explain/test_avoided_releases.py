"""A release that cannot be used is not the one that runs: `we can't use 0.22.0, so we run the nightly`."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.text_hints import versions_of
from tests.unit.explain.judging import ask, ask_one

SERVE = "\n```\nvllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --trust-remote-code\n```\n"
COMMIT = "vllm/vllm-openai:nightly-a5bbd81e2e872eba255da9b9f8b86063c0d0cef0"


@pytest.mark.parametrize(
    "text",
    [
        "We can't use vLLM version 0.22.0, so we run the nightly.",
        "we cant use vLLM 0.22.0; I use a version between 0.21.0 and 0.22.0",
        "We cannot upgrade to vLLM 0.22.0 yet and stay on the main branch, so we build from source instead of it",
        "vLLM 0.22.0 does not work for us, so we run the nightly",
        "vLLM v0.22.0 is broken, that's why we stick to an older build",
        "**vLLM 0.22.0** has a bug, so for now we take main",
        "vLLM 0.22.0 is not an option, so we use the nightly",
        f"Do not use vLLM 0.22.0. Image: {COMMIT}",
        "不能用 vLLM 0.22.0，所以用 nightly",
    ],
)
def test_a_release_that_is_avoided_does_not_run(text: str) -> None:
    assert versions_of(text) == ({}, {})


def test_the_other_one_that_is_named_runs() -> None:
    assert versions_of("We can't use vLLM 0.22.0, we run vLLM 0.21.0")[0] == {"vllm": "0.21.0"}
    assert versions_of("avoid vLLM 0.22.0\nimage: vllm/vllm-openai:v0.21.0")[0] == {"vllm": "0.21.0"}


@pytest.mark.parametrize(
    "text",
    [
        "vLLM 0.22.0 does not work with Kimi-K2.5",
        "vLLM 0.22.0 crashes when it loads Kimi-K2.5",
        "vLLM 0.22.0 has a bug: it stops at the first request",
        "I can't run vLLM 0.22.0 on eight H200",
        "I cannot use vLLM 0.22.0 with Kimi-K2.5",
        "unable to start vLLM 0.22.0, so I ask here",
        "we use vLLM 0.22.0, so we skip the nightly",
    ],
)
def test_the_release_of_a_report_stays(text: str) -> None:
    assert versions_of(text)[0] == {"vllm": "0.22.0"}


def test_a_build_from_between_two_releases() -> None:
    judged = ask_one(f"We can't use vLLM 0.22.0. I use a version between 0.21.0 and 0.22.0:{SERVE}")
    assert (judged.version, judged.version_behind) == ("0.21.0", "0.22.0")


def test_a_sentence_below_the_command_is_of_the_next_one() -> None:
    sentence = "I use a version between 0.21.0 and 0.22.0."
    assert ask_one(f"{SERVE}{sentence}").version == "0.21.0"
    other = SERVE.replace("--tensor", "--port 9000 --tensor")
    first, second = _releases(f"{SERVE}{sentence}{other}")
    assert first != "0.21.0"
    assert second == "0.21.0"


def _releases(text: str) -> list[str]:
    return [each.version for each in ask(text, on="8xH200")]


def test_releases_that_the_engine_never_had_bound_nothing() -> None:
    assert ask_one(f"I use a version between 0.71.0 and 0.72.0:{SERVE}").version != "0.71.0"
    assert ask_one(f"The difference between 0.21.0 and 0.22.0:{SERVE}").version != "0.21.0"


def test_the_day_behind_the_image_of_a_commit() -> None:
    """vLLM 0.21.0 came out on 2026-05-15 and 0.22.0 on 2026-05-29, by the package index."""
    text = (
        f"Image: {COMMIT} (2026-05-25)\n```\ndocker run {COMMIT} moonshotai/Kimi-K2.5 --tensor-parallel-size 8\n```\n"
    )
    judged = ask_one(text)
    assert (judged.version, judged.version_behind) == ("0.21.0", "0.22.0")
    assert not ask_one(text.replace(" (2026-05-25)", "")).version_behind
