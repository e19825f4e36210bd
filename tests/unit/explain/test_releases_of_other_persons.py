"""The release that the opener of a thread runs is not that of another person's command on main."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.posts import author_at, begin_of_post
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask, ask_one

OPENER = "image: vllm-openai:latest, vllm version: 0.8.4. I start Kimi-VL, and it fails.\n\n"
SERVE = "```\nvllm serve moonshotai/Kimi-VL-A3B-Thinking --trust-remote-code --max-model-len 10000\n```\n"


@pytest.mark.parametrize(
    "sentence",
    [
        "I just tried the main branch and was unable to see any issues.",
        "I just tried to reproduce using the main branch. Here is my command:",
        "I could not reproduce it on main.",
        "Please try the latest main:",
        "tested with the current nightly build",
        "We run vLLM main here:",
    ],
)
def test_a_command_on_main_has_no_release_of_another(sentence: str) -> None:
    judged = ask_one(f"{OPENER}{sentence}\n{SERVE}", on="1xH200")
    assert judged.version_because == "what is written above it runs main: judged by the newest"


@pytest.mark.parametrize(
    "sentence",
    [
        "",
        "This is fixed on the main branch, but I run:",
        "If you use the main branch, it works. My command:",
        "We do not use the nightly here:",
        "It runs on the main node:",
        "I tried the main branch and went back to vLLM 0.8.4:",
    ],
)
def test_other_sentences_leave_the_release(sentence: str) -> None:
    assert ask_one(f"{OPENER}{sentence}\n{SERVE}", on="1xH200").version == "0.8.4"


def test_the_fault_of_the_thread_is_told_all_the_same() -> None:
    """vLLM has Kimi-VL from 0.8.5 on (vllm-project/vllm#16715)."""
    judged = ask_one(f"{OPENER}I just tried the main branch:\n{SERVE}", on="1xH200")
    (fault,) = [each for each in judged.remarks if each.as_told]
    assert "does not know Kimi-VL" in fault.finding.message
    assert fault.finding.severity is Severity.NOTE
    assert not [each for each in judged.findings if each.severity is Severity.ERROR]


def test_the_sentence_is_of_the_command_below_it() -> None:
    other = SERVE.replace("10000", "20000")
    first, second = ask(f"{OPENER}{SERVE}\nI just tried the main branch:\n{other}", on="1xH200")
    assert first.version == "0.8.4"
    assert second.version != "0.8.4"


SERVER = "```\nllama-server -m Kimi-K2-Instruct-UD-Q4_K_XL-00001-of-00013.gguf --ctx-size 131072\n```\n"
BUILD = "build: 10549 (5d10e3ad) with cc (Ubuntu 11.4.0) for x86_64-linux-gnu\n"


def test_a_build_that_another_person_ran_is_not_that_of_the_server() -> None:
    own, other = "a · comment · 2026-11-20\n", "b · comment · 2026-11-21\n"
    assert ask_one(f"{own}{SERVER}{other}{BUILD}").version != "10549"
    assert "10549" in ask_one(f"{own}{SERVER}{other}I see.\n{own}{BUILD}").version
    assert "10549" in ask_one(f"{own}{SERVER}{BUILD}").version
    assert "10549" in ask_one(f"{BUILD}{own}{SERVER}").version


def test_who_wrote_a_line() -> None:
    lines = (
        "# title",
        "**some-one** opened on Nov 3, 2025",
        "text",
        "other (Contributor) commented on Nov 4, 2025",
        "more",
        "[turn 19 by third, continued]",
        "end",
        "the docs commented that out",
    )
    assert [author_at(lines, number) for number in (1, 3, 5, 7, 8)] == ["", "some-one", "other", "third", "third"]
    assert begin_of_post(lines, 5) == 4
    assert begin_of_post(lines, 1) == 0
