"""A launcher logs the command that it runs: the time and the logger's name in front are no part of it, and a line of
the log that wraps is one command."""

from __future__ import annotations

import pytest

from moonpad.explain.script import Script, read_script

STARTED = "vllm serve deepseek-ai/DeepSeek-V3.2 --tensor-parallel-size 8 --reasoning-parser deepseek_v3"
WORDS = STARTED.split()
RECORDS = (
    "2025-12-19 16:00:58,723 - llm_benchmark - INFO - Running command: ",
    "2025-12-19 16:00:58.723 | INFO     | bench.server:start:41 - Executing: ",
    "INFO 12-19 16:00:58 [launcher.py:12] Running command: ",
    "[2025-12-19 16:00:58] Starting server with command: ",
    "16:00:58 INFO launching ",
    "INFO:launcher:Server command: ",
)


def _servers(script: Script) -> list[list[str]]:
    commands = [command for command in script.commands if command.program == "vllm serve"]
    return [[word.text for word in (*command.prefix, *command.argv)] for command in commands]


@pytest.mark.parametrize("record", RECORDS)
def test_the_record_in_front_is_no_part_of_the_command(record: str) -> None:
    script = read_script(f"{record}{STARTED}\n2025-12-19 16:00:59,1 - llm - INFO - Waiting\n")
    assert _servers(script) == [WORDS]


@pytest.mark.parametrize("record", RECORDS)
@pytest.mark.parametrize("indent", ["", " ", "    "])
def test_the_line_goes_on_where_it_wraps(record: str, indent: str) -> None:
    script = read_script(f"{record}{STARTED}\n{indent}--port 8000\n2025-12-19 16:00:59,1 - llm - INFO - Waiting\n")
    assert _servers(script) == [[*WORDS, "--port", "8000"]]
    assert not script.problems


def test_variables_stay_with_the_command() -> None:
    script = read_script(f"2025-12-19 16:00:58,723 - run - INFO - Running: VLLM_USE_DEEP_GEMM=1 {STARTED}\n")
    assert _servers(script) == [WORDS]
    assert script.commands[0].env["VLLM_USE_DEEP_GEMM"].text == "1"


def test_words_behind_the_command_are_not_arguments() -> None:
    assert _servers(read_script(f"16:00:58 INFO launching {STARTED} (pid 4711)\n")) == [WORDS]


def test_a_script_still_needs_its_backslash() -> None:
    script = read_script(f"#!/bin/bash\n{STARTED}\n  --port 8000\n")
    assert [problem.code for problem in script.problems] == ["missing-backslash"]


def test_a_line_that_a_script_prints_is_left_alone() -> None:
    script = read_script(f'#!/bin/bash\necho "[INFO] Running: {STARTED} --port 1"\n{STARTED} --port 2\n')
    assert _servers(script) == [[*WORDS, "--port", "2"]]


def test_the_log_of_a_command_that_the_text_shows_makes_no_second_one() -> None:
    script = read_script(f"{STARTED} --port 2\nINFO 12-19 16:00:58 [run.py:1] Running command: {STARTED} --port 2\n")
    assert len(_servers(script)) == 1


FRONT = RECORDS[0]
WAITING = "2025-12-19 16:00:59,1 - llm - INFO - Waiting\n"


@pytest.mark.parametrize(
    ("logged", "words"),
    [
        (f"{FRONT}{' '.join(WORDS[:-1])}\n{WORDS[-1]} --port 8000\n", [*WORDS, "--port", "8000"]),
        (f"{FRONT}{WORDS!r}\n", WORDS),
        (f"INFO:launcher:cmd={STARTED}\n", WORDS),
        (f"{FRONT}{STARTED}, pid=33\n", WORDS),
        (f"{FRONT}{STARTED} --port\n{WAITING}", [*WORDS, "--port"]),
    ],
)
def test_other_ways_to_log_a_command(logged: str, words: list[str]) -> None:
    assert _servers(read_script(logged + WAITING)) == [words]


def test_a_container_that_a_session_shows() -> None:
    run = "docker run --rm --gpus all vllm/vllm-openai:v0.19.0 --model a/b --tensor-parallel-size 8"
    text = f"It went so:\n\n```\n$ ./bench.sh\n[INFO] Launching: {run}\n --port 1\n[INFO] done\n```\n"
    (command,) = [each for each in read_script(text).commands if each.program == "vllm serve"]
    assert [word.text for word in command.argv] == ["--model", "a/b", "--tensor-parallel-size", "8", "--port", "1"]
