"""Weights that no setting makes smaller stand in the first line, before a value that is easily mended; and their size
is that of the model that the name says: https://huggingface.co/moonshotai/Kimi-K2.5 has 595 GB of files."""

from __future__ import annotations

import pytest

from moonpad.report.explain_verdict import verdict
from tests.unit.explain.judging import ask_one

SMALL = "vllm serve moonshotai/Kimi-K2.5-Instruct --trust-remote-code --tensor-parallel-size 1"
GIB = 595e9 / 2**30


def headline(text: str, on: str = "1xL40S") -> str:
    return verdict(ask_one(text, on=on))[0]


@pytest.mark.parametrize("value", ["--quantization int4", "--dtype int4", "--kv-cache-dtype fp16"])
def test_the_size_goes_before_a_value(value: str) -> None:
    first = headline(f"{SMALL} {value}")
    assert first.startswith("Does not fit: the weights of Kimi-K2.5 ")
    assert first.endswith("; 1 more error")


def test_a_value_alone_is_the_headline() -> None:
    assert headline(f"{SMALL.replace('size 1', 'size 8')} --dtype int4", on="8xH200").startswith("Error: --dtype")


@pytest.mark.parametrize("model", ["Kimi-K2.5-Instruct", "Kimi-K2.6-Chat", "Kimi-K2.7-Preview"])
def test_the_size_is_that_of_the_model_that_is_named(model: str) -> None:
    first = headline(SMALL.replace("Kimi-K2.5-Instruct", model))
    assert f"weights of {model[:9]} are at least {GIB:.0f} GiB" in first


@pytest.mark.parametrize("model", ["Kimi-K2.5-Instruct-W4A8", "Kimi-K2.5-Instruct-MXFP4", "Kimi-K2-Chat"])
def test_formats_of_others_and_older_models_may_be_smaller(model: str) -> None:
    first = headline(SMALL.replace("Kimi-K2.5-Instruct", model))
    assert "at least 484 GiB" in first
