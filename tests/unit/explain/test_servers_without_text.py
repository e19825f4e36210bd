"""Servers of which clients get no text need no parser: those without a tokenizer, and those that only prefill."""

import pytest

from moonpad.values.finding import Code
from tests.unit.explain.judging import ask_one

SGLANG = "python -m sglang.launch_server --model-path moonshotai/{} --tp-size 8 --trust-remote-code"
VLLM = "vllm serve moonshotai/{} --tensor-parallel-size 8 --trust-remote-code"
PREFILL = "--disaggregation-mode prefill --disaggregation-transfer-backend mooncake"


def lacking(command: str) -> set[str]:
    missing = (each.where for each in ask_one(command).findings if each.code is Code.MISSING_FLAG)
    return {where for where in missing if "parser" in where}


@pytest.mark.parametrize("engine", [SGLANG, VLLM])
@pytest.mark.parametrize("model", ["Kimi-K2-Thinking", "Kimi-K3", "Kimi-K2-Instruct"])
def test_without_tokenizer_no_parser_is_missing(engine: str, model: str) -> None:
    assert lacking(engine.format(model))
    assert not lacking(f"{engine.format(model)} --skip-tokenizer-init")


@pytest.mark.parametrize("model", ["Kimi-K2-Thinking", "Kimi-K2-Instruct"])
def test_side_that_only_prefills_needs_no_parser(model: str) -> None:
    assert not lacking(f"{SGLANG.format(model)} {PREFILL}")
    assert lacking(f"{SGLANG.format(model)} {PREFILL}".replace("prefill", "decode"))
