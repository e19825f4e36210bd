"""Prompts that have to fit into one batch, of an engine that takes them whole."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

START = "trtllm-serve nvidia/Kimi-K2-Thinking-NVFP4 --tp_size 8 --ep_size 8 --trust_remote_code {}\n"
SHORT = START.format("--max_seq_len 131072 --max_num_tokens 2048")
FILE = "cat > o.yaml <<EOF\nmax_num_tokens: 2048\nmax_seq_len: 131072\n{}EOF\n" + START.format("--config o.yaml")


def told(text: str) -> list[Severity]:
    found = [each for one in ask(text) for each in one.findings if "fit into one batch" in each.message]
    return [each.severity for each in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SHORT, [Severity.NOTE]),
        (FILE.format(""), [Severity.NOTE]),
        (f"# used for RAG with prompts of 20-60k tokens\n{SHORT}", [Severity.WARNING]),
        (
            f"# inputs up to 8,000 tokens\n{START.format('--max_seq_len 9000 --max_num_tokens 4096')}",
            [Severity.WARNING],
        ),
        (SHORT.replace("\n", " --enable_chunked_prefill\n"), []),
        (FILE.format("enable_chunked_prefill: true\n"), []),
        (f"# prompts of 1,500 tokens\n{START.format('--max_seq_len 9000 --max_num_tokens 4096')}", []),
        (START.format("--max_seq_len 8192 --max_num_tokens 8192"), []),
        (START.format("--max_seq_len 9216 --max_num_tokens 8192"), []),
        (SHORT.replace("\n", " $MORE\n"), []),
        ("vllm serve moonshotai/Kimi-K2.5 --max-model-len 131072 --max-num-batched-tokens 2048\n", []),
    ],
)
def test_a_prompt_beyond_the_batch(text: str, expected: list[Severity]) -> None:
    assert told(text) == expected
