"""Releases by the day of main that a text speaks of, by what a log shows, and those that refuse an option by name."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask, ask_one, at

_DEEPEP = "python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1 --tp 8 --trust-remote-code"


def test_main_of_a_month_without_the_name_of_the_engine() -> None:
    # https://github.com/vllm-project/vllm/pull/32812 of 2026-01-21 took the variable away
    command = "VLLM_ATTENTION_BACKEND=ROCM_AITER_TRITON_MLA vllm serve deepseek-ai/DeepSeek-V3 -tp 8"
    early = ask_one(f"```\n{command}\n```\n\nMain of the first days of January 2026.\n", on="8xMI300X")
    assert "2026-01" in early.version_because
    assert not at(early, "dead-env")
    late = ask_one(f"```\n{command}\n```\n\nmain of 9 November 2026.\n", on="8xMI300X")
    assert at(late, "dead-env")


def test_a_day_that_is_not_of_main_names_no_build() -> None:
    (judged,) = ask(
        "```\nvllm serve deepseek-ai/DeepSeek-V3 -tp 8\n```\n\nThe main fault was seen on 8 January 2026.\n"
    )
    assert "2026" not in judged.version_because


def test_main_is_of_no_engine_where_there_are_two() -> None:
    text = f"```\nvllm serve deepseek-ai/DeepSeek-V3 -tp 8\n```\n```\n{_DEEPEP}\n```\nmain of 8 January 2026.\n"
    assert not any("2026-01" in judged.version_because for judged in ask(text))


def test_a_log_of_capture_shows_that_the_options_were_taken() -> None:
    # SGLang 0.5.2 takes the option and warns; 0.5.3 and 0.5.4 list it, and end at it.
    log = "Exception: Capture cuda graph failed\n"
    judged = ask_one(f"```\n{_DEEPEP} --enable-deepep-moe\n```\n```\n{log}```\n")
    assert judged.version == "0.5.2"
    assert not at(judged, "removed-flag")


@pytest.mark.parametrize(
    ("sentence", "release"), [("This works here:", "0.5.2"), ("See if this works here:", "0.5.23")]
)
def test_what_its_author_has_run_was_taken(sentence: str, release: str) -> None:
    judged = ask_one(f"{sentence}\n\n```\n{_DEEPEP} --enable-deepep-moe\n```\n")
    assert judged.version == release


def test_releases_that_refuse_by_name_are_not_said_to_take_it() -> None:
    found = ask_one(f"{_DEEPEP} --enable-deepep-moe").findings
    (message,) = [each.message for each in found if "deepep-moe" in each.where]
    assert "to 0.5.2 have it" in message
