"""A word in the place of an object is no error where a plugin reads it."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

START = "vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8"
WORD = "--model-loader-extra-config take_any"


def errors(text: str) -> list[str]:
    return [
        finding.where
        for judged in ask(text)
        for finding in judged.findings
        if finding.severity is Severity.ERROR and finding.where.startswith(("--model-loader", "--additional", "--pt"))
    ]


@pytest.mark.parametrize(
    "text",
    [
        f"VLLM_PLUGINS=some_chip {START} {WORD}",
        f"VLLM_PLUGINS=some_chip {START} --model_loader_extra_config=take_any",
        f"VLLM_PLUGINS=some_chip {START} --additional-config fast",
        f"{START} --worker-cls my_chip.Worker {WORD}",
        f"On a trn2.48xlarge.\n\n```bash\n{START} {WORD}\n```\n",
        f"{START} --pt-load-map-location cuda:0",
    ],
)
def test_it_is_left_alone(text: str) -> None:
    assert errors(text) == []


@pytest.mark.parametrize(
    "text",
    [
        f"{START} {WORD}",
        f"VLLM_PLUGINS= {START} {WORD}",
        f"VLLM_PLUGINS=some_chip {START} --model-loader-extra-config '{{a: 1}}'",
    ],
)
def test_the_loader_of_the_engine_refuses_it(text: str) -> None:
    assert errors(text) == ["--model-loader-extra-config"]
