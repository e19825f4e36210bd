"""A log that a terminal showed right behind a command, without a break; the devices that it lists; the build of a fork
that it names."""

from __future__ import annotations

import pytest

from moonpad.engines.log_lines import glued_log
from moonpad.explain.commands import Command
from tests.unit.explain.judging import ask_one

START = "llama-server -m /models/a-IQ4_XS.gguf -ngl 99 -c 8192"
DEVICES = "  Device 0: NVIDIA GeForce RTX 3090, compute capability 8.6, VMM: yes\n"
LOGS = [
    "ggml_cuda_init: GGML_CUDA_FORCE_MMQ:    no\nggml_cuda_init: found 1 CUDA devices:\n",
    "llama_model_loader: loaded meta data with 40 key-value pairs\n",
    'INFO [                    main] build info | tid="1" timestamp=2 build=3700 commit="0123abcd"\n',
]


@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize("end", [' -ot "exps=CPU"', " --port 8001 ", " \\\n  --port 8001"])
def test_no_words_of_a_log_are_arguments(log: str, end: str) -> None:
    judged = ask_one(f"```\n{START}{end}{log}{DEVICES}```\n", on="")
    assert not [each for each in judged.findings if "no such argument" in each.message]
    assert not any("init" in word or "INFO" in word for command in judged.sources for word in _words(command))


def _words(command: Command) -> list[str]:
    return [word.text for word in command.words]


@pytest.mark.parametrize(
    "line",
    [
        "ggml_cuda_init: found 2 CUDA devices:",
        "The line ggml_cuda_init: found 2 CUDA devices says how many there are",
        f"{START} --log-prefix ggml_cuda",
        f"{START} --alias INFO",
    ],
)
def test_other_lines_hold_no_log_behind_a_command(line: str) -> None:
    assert glued_log(line, goes_on=False) == 0


@pytest.mark.parametrize("count", [1, 2, 4])
def test_devices_that_the_engine_lists_are_counted(count: int) -> None:
    listed = "".join(DEVICES.replace("Device 0", f"Device {number}") for number in range(count))
    judged = ask_one(f"```\n{START}\nggml_cuda_init: found {count} CUDA devices:\n{listed}```\n", on="")
    assert judged.cluster is not None
    assert judged.cluster.devices == count


@pytest.mark.parametrize("option", ["", " --no-mmap"])
def test_a_fork_that_counts_for_itself_is_of_no_build_of_the_engine(option: str) -> None:
    text = f"# ik_llama.cpp\n\n```\n{START} -fmoe{option}\n{LOGS[2]}llama_model_loader: loaded\n```\n"
    judged = ask_one(text, on="")
    assert "build 3700 by its own count" in judged.version_because
    assert "last that has it" not in judged.version_because
