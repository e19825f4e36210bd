"""Switches that became values of one option: the corrected command has that one, where a single value says it."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.script import read_files
from moonpad.explain.target_detection import Question

SERVE = "llama-server -m Kimi-K2-Q4_K_M.gguf -c 8192 {} --port 9000\n"


def corrected(options: str) -> str:
    (judged,) = judge(read_files([("run.sh", SERVE.format(options))]), Question(version="b11434"))
    return " ".join(word for line in judged.corrected for word in line.argv)


@pytest.mark.parametrize(
    ("options", "mode"),
    [("--no-mmap", "none"), ("--mmap", "mmap"), ("--mlock", "mlock"), ("--direct-io", "dio")],
)
def test_a_switch_becomes_its_value(options: str, mode: str) -> None:
    text = corrected(options)
    assert f"--load-mode {mode}" in text
    assert f"{options} " not in text


@pytest.mark.parametrize("options", ["--no-mmap --mlock", "--mlock --no-mmap", "--load-mode dio --mlock"])
def test_two_of_them_are_left_to_the_reader(options: str) -> None:
    assert "--load-mode mlock" not in corrected(options)
    assert "--load-mode none" not in corrected(options)
