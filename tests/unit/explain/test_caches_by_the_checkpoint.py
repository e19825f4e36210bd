"""The KV cache where nothing is asked and the checkpoint says FP8: by release, the same for memory and backend."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from moonpad.report.explain_view import explain_view
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask, ask_one

START = "vllm serve nvidia/Kimi-K2-Thinking-NVFP4 -tp 8 --trust-remote-code"
ON = "8xRTX-PRO-6000"
NO_BACKEND = "no attention backend of"


def said(text: str, version: str) -> list[str]:
    return [finding.message for finding in ask_one(text, ON, version).findings]


@pytest.mark.parametrize(("version", "told"), [("0.13.0", False), ("0.14.0", True)])
def test_a_release_that_does_not_look_at_the_checkpoint_needs_no_backend_for_fp8(version: str, told: bool) -> None:
    assert any(NO_BACKEND in each for each in said(START, version)) is told


def test_fp8_that_is_asked_for_needs_one_in_each_release() -> None:
    assert any(NO_BACKEND in each for each in said(f"{START} --kv-cache-dtype fp8", "0.13.0"))


def test_what_is_warned_of_by_the_name_of_the_weights_is_corrected() -> None:
    text = "vllm serve /models/DeepSeek-R1-0528-NVFP4 -tp 8 --shm-size 1\n"
    judged = ask_one(text.replace(" --shm-size 1", ""), ON, "0.14.0")
    warned = [each for each in judged.findings if NO_BACKEND in each.message]
    assert [each.severity for each in warned] == [Severity.WARNING]
    assert any("--kv-cache-dtype" in line.argv for line in judged.corrected)


TRACE = '```\nTraceback (most recent call last):\n  File "/usr/lib/vllm/worker.py", line 7, in main\n```\n'
TWO = "```\nvllm serve {a} --port 8000\n```\n{said}\n```\nvllm serve {b} --port 8001\n```\nends with\n\n"


def headlines(said: str) -> list[str]:
    text = TWO.format(a="Qwen/Qwen3-8B", b="Qwen/Qwen3-14B", said=said) + TRACE
    shown = explain_view(ask(text), read_script(text), 100).plain
    return [block.lstrip().partition("\n")[0] for block in shown.split("\n\n")]


@pytest.mark.parametrize("words", ["works, while", "This works fine.", "works, but", "That one runs well, whereas"])
def test_a_traceback_is_not_of_the_start_that_works(words: str) -> None:
    first, second = headlines(words)[:2]
    assert not first.startswith("The text shows a traceback")
    assert second.startswith("The text shows a traceback")


@pytest.mark.parametrize(
    "words", ["works only after a reboot of it", "and then", "It is slow with", "work in progress"]
)
def test_other_words_do_not_say_so(words: str) -> None:
    assert all(each.startswith("The text shows a traceback") for each in headlines(words)[:2])
