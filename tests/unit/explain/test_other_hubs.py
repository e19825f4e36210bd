"""Repositories that lie at ModelScope, and engines that are not told to ask it."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVE = "vllm serve {} --tensor-parallel-size 16 --quantization ascend --trust-remote-code"


def _told(text: str) -> list[str]:
    return [
        f"{each.severity} {each.remedy}" for one in ask(text) for each in one.findings if "ModelScope" in each.message
    ]


def test_it_is_a_note_with_the_variable() -> None:
    assert _told(SERVE.format("Eco-Tech/Kimi-K2.5-W4A8")) == ["note set VLLM_USE_MODELSCOPE=true"]


@pytest.mark.parametrize("variable", ["VLLM_USE_MODELSCOPE=true", "HF_HUB_OFFLINE=1"])
def test_not_where_the_variable_or_the_cache_answers(variable: str) -> None:
    assert _told(f"export {variable}\n{SERVE.format('Eco-Tech/Kimi-K2.5-W4A8')}") == []


@pytest.mark.parametrize(
    "model", ["moonshotai/Kimi-K2.5", "/weights/Kimi-K2.5-W4A8", "/weights/Eco-Tech/Kimi-K2.5-W4A8"]
)
def test_not_of_folders_and_of_what_lies_elsewhere(model: str) -> None:
    assert _told(SERVE.format(model)) == []


def test_the_corrected_command_has_the_variable() -> None:
    (judged,) = ask(SERVE.format("Eco-Tech/Kimi-K2.5-W4A8"))
    assert [line.env.get("VLLM_USE_MODELSCOPE") for line in judged.corrected] == ["true"]


def test_a_draft_is_looked_for_there_too() -> None:
    draft = (
        '--speculative-config \'{"method": "eagle3", "model": "org/kimi-k2.5-eagle3", "num_speculative_tokens": 3}\''
    )
    (told,) = _told(f"{SERVE.format('Eco-Tech/Kimi-K2.5-W4A8')} {draft}")
    assert told.endswith("fetch the draft into a folder: it is looked for there too")
