"""JSON without quotes: what bash makes of its braces and commas, told by bash itself."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from moonpad.explain.shell.brace_expansion import brace_words
from tests.unit.explain.judging import ask

OBJECTS = (
    '{"temperature":0.7,"top_p":0.8}',
    '{"a":1}',
    '{"a":{"b":1,"c":2},"d":3}',
    '{"a":{"b":1}}',
    '{"a":{"b":1},"c":2}',
    '{"a":[1,2]}',
    '{"a":[1,2],"b":"x,y"}',
    '{"a":"x,y"}',
    "{'a':1,'b':\"it's\"}",
    '{"a":[{"b":1,"c":2},{"b":3}]}',
    '{"a":1,}',
    '--x={"a":1,"b":2}',
    "plain,words",
    '{"a":1},{"b":2}',
)


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize("text", OBJECTS)
def test_the_words_are_those_of_bash(text: str) -> None:
    done = subprocess.run(["bash", "-c", f"printf '%s\\n' {text}"], capture_output=True, text=True, check=True)
    made = done.stdout.splitlines()
    words = brace_words(text)
    if len(made) == 1:
        assert len(words) == 1
    else:
        assert list(words) == made


def told(option: str, first: str = "") -> list[str]:
    command = f"{first}python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp-size 16 {option}\n"
    return [
        finding.message for judged in ask(command) for finding in judged.findings if "bash makes" in finding.message
    ]


def test_the_message_names_what_the_engine_gets() -> None:
    (message,) = told('--preferred-sampling-params {"temperature":0.7,"top_p":0.8}')
    assert "2 words" in message
    assert "unrecognized arguments top_p:0.8 " in message
    assert message.endswith("(--preferred-sampling-params gets temperature:0.7)")


def test_with_the_value_at_the_option_it_is_given_again() -> None:
    (message,) = told('--preferred-sampling-params={"temperature":0.7,"top_p":0.8}')
    assert "2 options" in message
    assert "--preferred-sampling-params=top_p:0.8" in message


@pytest.mark.parametrize(
    ("option", "first"),
    [
        ('--preferred-sampling-params \'{"temperature":0.7,"top_p":0.8}\'', ""),
        ('--preferred-sampling-params {"temperature":0.7}', ""),
        ('--preferred-sampling-params {"temperature": 0.7, "top_p": 0.8}', ""),
        ('--preferred-sampling-params {"temperature":0.7,"top_p":0.8}', "#!/bin/sh\n"),
    ],
)
def test_others_are_left_alone(option: str, first: str) -> None:
    assert told(option, first) == []


SERVER = (
    "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp-size 16 --preferred-sampling-params"
)
OBJECT = '{"temperature":0.7,"top_p":0.8}'
SERVICE = "services:\n  a:\n    image: lmsysorg/sglang:v0.5.9\n    command:"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{SERVICE} {SERVER} {OBJECT}\n", False),
        (f"{SERVICE}\n      - bash\n      - -c\n      - {SERVER} {OBJECT}\n", True),
        (f"{SERVICE}\n      - sh\n      - -c\n      - {SERVER} {OBJECT}\n", False),
        (f"FROM lmsysorg/sglang:v0.5.9\nCMD {SERVER} {OBJECT}\n", False),
        (f"[Unit]\nDescription=x\n[Service]\nExecStart=/usr/bin/{SERVER} {OBJECT}\n", False),
        (f"docker run --gpus all lmsysorg/sglang:v0.5.9 {SERVER} {OBJECT}\n", True),
    ],
)
def test_only_a_shell_that_does_so_makes_words(text: str, *, expected: bool) -> None:
    found = [finding.message for judged in ask(text) for finding in judged.findings if "quotes away" in finding.message]
    assert len(found) == 1
    assert ("bash makes" in found[0]) is expected
