"""Words that are another one but for a slip."""

from __future__ import annotations

import pytest

from moonpad.explain.spelling import one_apart
from tests.unit.explain.judging import ask

VALUES = """image:
  repository: vllm/vllm-openai
  tag: v0.20.0
vllm:
  config:
    model: Qwen/Qwen3-8B
    dtype: bfloat16
    max_model_len: 8192
    gpu_memory_utilization: 0.9
    {key}: '{{"enable_thinking": false}}'
    port: 8000
"""


@pytest.mark.parametrize(
    ("one", "other"),
    [("defualt-kwargs", "default-kwargs"), ("max-model-lem", "max-model-len"), ("max-modl-len", "max-model-len")],
)
def test_a_slip(one: str, other: str) -> None:
    assert one_apart(one, other)
    assert one_apart(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [("image", "images"), ("tp-size", "dp-sizes"), ("same", "same"), ("port-1", "port-2"), ("max-len", "min-len")],
)
def test_words_of_their_own(one: str, other: str) -> None:
    assert not one_apart(one, other)


def said(key: str) -> bool:
    return any(
        "default-chat-template-kwargs" in (f.remedy or "")
        for each in ask(VALUES.format(key=key))
        for f in each.findings
    )


def test_a_key_of_a_chart_that_is_an_option_but_for_a_letter() -> None:
    assert said("defualt-chat-template-kwargs")
    assert said("default_chat_template_kwarg5".replace("5", "z"))


def test_keys_of_the_chart_alone() -> None:
    assert not said("default-chat-template-kwargs")
    assert not said("thinkingKwargs")
