"""Multi-token prediction by a layer that the family's checkpoints do not have."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask_one

SERVE = "vllm serve {} -tp 8 --trust-remote-code --speculative-config '{}'"
MTP = '{"method":"mtp","num_speculative_tokens":1}'


def severities(text: str, version: str = "0.28.0") -> list[Severity]:
    judged = ask_one(text, version=version)
    return [each.severity for each in judged.findings if "a layer for multi-token prediction in" in each.message]


@pytest.mark.parametrize("model", ["Kimi-K2.5", "Kimi-K2-Thinking", "Kimi-K2-Instruct", "Kimi-Linear-48B-A3B-Instruct"])
def test_the_family_has_no_such_layer(model: str) -> None:
    assert severities(SERVE.format(f"moonshotai/{model}", MTP)) == [Severity.ERROR]
    assert severities(SERVE.format(f"moonshotai/{model}", MTP.replace("mtp", "deepseek_mtp"))) == [Severity.ERROR]


def test_another_engine_is_warned_of() -> None:
    text = (
        "sglang serve --model-path moonshotai/Kimi-K2.5 --tp-size 8 --trust-remote-code --speculative-algorithm NEXTN"
    )
    assert severities(text, "0.5.12") == [Severity.WARNING]
    draft = "--speculative-draft-model-path lightseekorg/kimi-k2.5-eagle3-mla"
    assert severities(f"{text} {draft}", "0.5.12") == []


@pytest.mark.parametrize(
    ("model", "config"),
    [
        ("deepseek-ai/DeepSeek-R1-0528", MTP),
        ("moonshotai/Kimi-K3", MTP),
        ("moonshotai/Kimi-K2.5", '{"method":"mtp","model":"me/kimi-k2.5-mtp","num_speculative_tokens":1}'),
        ("moonshotai/Kimi-K2.5", '{"method":"ngram","num_speculative_tokens":3,"prompt_lookup_max":4}'),
        ("moonshotai/Kimi-K2.5", "$SPECULATIVE"),
    ],
)
def test_a_layer_a_draft_or_something_unknown(model: str, config: str) -> None:
    assert severities(SERVE.format(model, config)) == []
