"""A rate that a text promises is no report of a server that answered."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask, found

NO_RANKS = "python -m vllm.entrypoints.openai.api_server --model moonshotai/Kimi-K2-Instruct --port 8011"


def of_weights(text: str) -> Severity:
    (finding,) = found(f"```bash\n{NO_RANKS}\n```\n{text}\n", "one device gets all")
    return finding.severity


@pytest.mark.parametrize(
    "promise",
    [
        "- **Throughput**: 10-50 tokens/second",
        "Expected speed: 30 tokens/s",
        "The server should reach 40 tok/s.",
        "## Performance Expectations\n- Throughput: 35 tokens/second",
        "Throughput: up to 45 tokens per second",
    ],
)
def test_a_rate_that_is_promised(promise: str) -> None:
    assert of_weights(promise) is Severity.WARNING
    (judged,) = ask(f"```bash\n{NO_RANKS}\n```\n{promise}\n")
    assert not judged.corrected  # without more ranks it would put all weights on one device


@pytest.mark.parametrize(
    "measured",
    [
        "I get 10-15 tokens/second.",
        "Output token throughput: 35.2 tokens/s",
        "We measured up to 45 tokens/s.",
        "It was expected to be fast, and the answers are gibberish.",
        "## Expected\nfast answers\n## Actual\n3 tok/s",
    ],
)
def test_a_rate_that_was_measured(measured: str) -> None:
    assert of_weights(measured) is Severity.NOTE
