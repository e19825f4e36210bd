"""A place to fill in, or a variable, that is called after another family: no model that the text names beside it."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

BESIDE = "# Kimi-K2.6\n\n```\nvllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 8\n```\n\nThe other server:\n\n"
START = "```\npython -m sglang.launch_server --model-path {} --tp 8 --attention-backend nsa --page-size 64\n```\n"


def _models(model: str) -> list[str]:
    _, other = ask(BESIDE + START.format(model))
    return [other.checkpoint.name] if other.checkpoint is not None else []


@pytest.mark.parametrize(
    "model", ["<path-to-glm5>", "<GLM-5-folder>", "$QWEN_DIR", "${MINIMAX_PATH}", "<deepseek-v3.2-path>"]
)
def test_it_is_no_model_that_stands_beside_it(model: str) -> None:
    assert _models(model) == []
    _, other = ask(BESIDE + START.format(model))
    assert not [each for each in other.findings if each.severity is not Severity.NOTE and "kimi" in each.remedy]


@pytest.mark.parametrize("model", ["<model-path>", "<path-to-kimi>", "$MODEL", "<step2-output>"])
def test_a_place_without_a_name_is(model: str) -> None:
    assert _models(model) == ["moonshotai/Kimi-K2.6"]


def test_a_variable_for_it_is_the_other_model_that_the_text_names() -> None:
    (judged,) = ask("# deepseek-ai/DeepSeek-R1-0528\n\n```\nvllm serve $DEEPSEEK_DIR --tensor-parallel-size 8\n```\n")
    assert judged.checkpoint is not None
    assert judged.checkpoint.name == "deepseek-ai/DeepSeek-R1-0528"
