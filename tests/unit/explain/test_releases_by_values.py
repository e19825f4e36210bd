"""A value that newer releases do not take dates a command as an option does that they do not have."""

from __future__ import annotations

import pytest

from .judging import ask

SERVE = "vllm serve Qwen/Qwen3-8B --tensor-parallel-size 2"


@pytest.mark.parametrize(
    ("options", "release"),
    [
        ("--quantization auto-round --num-scheduler-steps 8", "0.10.0"),
        ("--quantization auto-round --swap-space 4", "0.14.1"),
        ("--load-format gguf --quantization gguf --swap-space 4", "0.17.1"),
    ],
)
def test_an_option_and_a_value_of_one_time(options: str, release: str) -> None:
    (judged,) = ask(f"{SERVE} {options}\n")
    assert (judged.version, "has all of" in judged.version_because) == (release, True)


@pytest.mark.parametrize("options", ["--quantization auto-round", "--quantization awq", "--quantization my_own"])
def test_a_value_alone_may_be_a_mistake(options: str) -> None:
    (judged,) = ask(f"{SERVE} {options}\n")
    assert "judged by the newest" in judged.version_because
