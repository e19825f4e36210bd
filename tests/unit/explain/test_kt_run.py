"""`kt run` of KTransformers: it takes every GPU that it finds, and passes options of its own on to the server.

kt-kernel/python/cli/commands/run.py of https://github.com/kvcache-ai/ktransformers: `tensor_parallel_size =
detect_gpus()` where none is given, and --kt-gpu-prefill-token-threshold is always among the words of its command.
"""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask, ask_one

MOVED = "none is moved"


@pytest.mark.parametrize("model", ["k2", "V3.2", "/models/Kimi-K2-Thinking"])
def test_the_threshold_is_passed_on(model: str) -> None:
    (judged,) = ask(f"kt run {model} --kt-enable-dynamic-expert-update\n")
    assert not [each for each in judged.findings if MOVED in each.message]


def test_the_server_itself_has_none() -> None:
    text = "python -m sglang.launch_server --model /models/Kimi-K2-Thinking --kt-weight-path /models/Kimi-K2-Thinking "
    (judged,) = ask(f"{text} --kt-method RAWINT4 --kt-num-gpu-experts 8 --kt-enable-dynamic-expert-update\n")
    assert [each for each in judged.findings if MOVED in each.message]


def test_its_ranks_are_the_devices() -> None:
    assert "tp" in ask_one("kt run k2", on="").unknown
    judged = ask_one("kt run k2", on="4xRTX4090")
    assert judged.layout is not None
    assert judged.layout.tp == 4


def test_its_ranks_are_those_that_are_given() -> None:
    judged = ask_one("kt run k2 --tensor-parallel-size 2", on="")
    assert "tp" not in judged.unknown
    assert judged.layout is not None
    assert judged.layout.tp == 2


def test_it_trusts_the_code_of_the_model_by_itself() -> None:
    judged = ask_one("kt run /models/Kimi-K2.6 --tp 1 --kt-method RAWINT4", on="")
    assert not [each for each in judged.findings if each.where == "--trust-remote-code"]
    assert not [word for line in judged.corrected for word in line.argv if word == "--trust-remote-code"]


def test_it_binds_every_address() -> None:
    command = "kt run /models/Kimi-K2.6 --tp 1"
    assert [each for each in ask_one(command, on="").findings if "binds 0.0.0.0" in each.message]
    closed = ask_one(f"{command} --host 127.0.0.1", on="")
    assert not [each for each in closed.findings if "without a key" in each.message]
