"""What a text says that starts is not said not to fit, and the sentence around a command is not typed with it."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code
from tests.unit.explain.judging import ask, ask_one

COMMAND = "vllm serve moonshotai/Kimi-K2.5 --trust-remote-code -tp 8 --max-model-len 262144 --gpu-memory-utilization {}"
TOO_LITTLE = COMMAND.format("0.86")


def is_said_not_to_fit(text: str) -> bool:
    return any(
        each.code is Code.DOES_NOT_FIT for one in ask(text, on="8xH100", version="0.28.0") for each in one.findings
    )


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("It starts, but answers are garbage.", False),
        ("The server comes up fine and then the first request hangs.", False),
        ("服务能正常启动，但回答是乱码。", False),
        ("It never starts, but the log is silent.", True),
        ("It does not start.", True),
        ("", True),
    ],
)
def test_text_counts(sentence: str, said: bool) -> None:
    assert is_said_not_to_fit(f"{sentence}\n\n```\n{TOO_LITTLE}\n```\n") is said


def test_text_with_another_server_may_speak_of_that() -> None:
    other = COMMAND.format("0.97").replace("Kimi-K2.5", "Kimi-K2.6")
    assert is_said_not_to_fit(f"This one starts, but is slow:\n\n```\n{other}\n```\n\n```\n{TOO_LITTLE}\n```\n")


@pytest.mark.parametrize("lead", ["command is ", "the start command is ", "my cmd is ", "启动命令： "])
def test_words_of_the_sentence_are_not_part_of_the_command(lead: str) -> None:
    text = f"Two nodes.\n\n{lead}{TOO_LITTLE.replace('--trust', '--truts')}\n"
    judged = [each for each in ask(text, on="8xH200", version="0.28.0") if each.layout is not None]
    assert [line.argv[:2] for each in judged for line in (*each.commands, *each.corrected)] == [("vllm", "serve")] * 2


def test_wrappers_stay() -> None:
    judged = ask_one(f"sudo {TOO_LITTLE.replace('--trust', '--truts')}", on="8xH200", version="0.28.0")
    assert [line.argv[:3] for line in judged.corrected] == [("sudo", "vllm", "serve")]


def test_an_engine_that_takes_shorter_requests_may_start_as_the_text_says() -> None:
    sglang = "sglang serve --model-path moonshotai/Kimi-K2.6 --tp 8 --context-length 262144 --mem-fraction-static 0.9"
    (judged,) = ask(f"It starts, one user is fine, eight are not.\n\n```\n{sglang}\n```\n", on="8xRTX-PRO-6000")
    assert judged.memory is not None
    assert judged.memory.kv_tokens.value < 262144
