"""A report of a processor without AMX, and models that headings call by their short names."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

_COMMAND = (
    "python -m sglang.launch_server --model /m/kimi-k2.7-code --kt-weight-path /m/kimi-k2.7-code --kt-method RAWINT4 "
    "--kt-num-gpu-experts 30 --trust-remote-code --tensor-parallel-size 4 --max-total-tokens 50000"
)


def _severities(sentence: str) -> list[Severity]:
    text = f"4x H200. {sentence}\n\n```\n{_COMMAND}\n```\n"
    found = [finding for judged in ask(text) for finding in judged.findings]
    return [each.severity for each in found if "garbage" in each.message or "corrupted" in each.message]


@pytest.mark.parametrize("sentence", ["2x EPYC 9555.", "The processor has no AMX."])
def test_it_is_told_of_such_a_processor(sentence: str) -> None:
    assert Severity.WARNING in _severities(sentence)


@pytest.mark.parametrize("sentence", ["2x Intel Xeon 6454S.", "It decodes 24.5 tokens/s."])
def test_it_is_not_told_of_others(sentence: str) -> None:
    assert not _severities(sentence)


def test_where_no_processor_is_named_it_is_a_note() -> None:
    assert set(_severities("")) <= {Severity.NOTE}
    assert _severities("")


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("# K2.6 RAWINT4: fine with TP1", "moonshotai/Kimi-K2.6"),
        ("# K3 on two machines", "moonshotai/Kimi-K3"),
        ("# K2.5 against K2.6", ""),
        ("# On k3s", ""),
        ("# RTX K3000", ""),
    ],
)
def test_a_heading_that_calls_the_model_by_its_short_name(title: str, expected: str) -> None:
    text = f"{title}\n\n```bash\npython -m sglang.launch_server --model $MODEL_PATH --tp 4\n```\n"
    (judged,) = ask(text, "4xH200")
    assert (judged.checkpoint.name if judged.checkpoint else "") == expected
