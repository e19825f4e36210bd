"""A variable of one role that is set a second time where the other role's was meant."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

END = "vllm serve Qwen/Qwen3-8B --tensor-parallel-size 2\n"


def told(text: str) -> list[str]:
    findings = [finding for judged in ask(text) for finding in judged.findings]
    return [finding.where for finding in findings if "nothing reads the first value" in finding.message]


def test_the_second_part_was_copied_from_the_first() -> None:
    text = "export DECODE_TP=4\nexport DECODE_REPLICAS=2\n# prefill\nexport PREFILL_REPLICAS=1\nexport DECODE_TP=1\n"
    assert told(text + END) == ["DECODE_TP"]


@pytest.mark.parametrize(
    "text",
    [
        "export DECODE_TP=4\nexport PREFILL_TP=1\n",
        "export DECODE_TP=4\nexport DECODE_TP=4\n",
        "export DECODE_TP=4\nexport DECODE_ARGS=--tp=$DECODE_TP\nexport DECODE_TP=1\n",
        'export DECODE_TP=4\nif [ -n "$SMALL" ]; then\nexport DECODE_TP=1\nfi\n',
        "export DECODE_TP=4\n./start_decode.sh\nexport DECODE_TP=1\n",
        "export DECODE_TP=4\ncat <<EOF > a.yaml\ntp: ${DECODE_TP}\nEOF\nexport DECODE_TP=1\n",
        "export NCCL_DEBUG=INFO\nexport NCCL_DEBUG=WARN\n",
        "export DECODE_TP=4\nexport DECODE_TP=${SMALL_TP}\n",
    ],
)
def test_the_first_value_may_be_read(text: str) -> None:
    assert not told(text + END)
