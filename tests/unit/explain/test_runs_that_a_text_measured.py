"""What a text has run and measured is not called tight by an estimate."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.results import Judged
from moonpad.explain.script import read_files
from moonpad.explain.target_detection import Question
from moonpad.values.finding import Code

START = (
    "On 8x RTX PRO 6000 with vLLM 0.19.1:\n\n```bash\nvllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 8"
    " --decode-context-parallel-size 8 --gpu-memory-utilization 0.94 --max-model-len 262144 --trust-remote-code"
    " --max-num-batched-tokens 8192 --attention-backend TRITON_MLA --kv-cache-dtype fp8 --max-num-seqs 128"
    """ --speculative-config '{"model": "lightseekorg/kimi-k2.5-eagle3-mla", "method": "eagle3","""
    """ "num_speculative_tokens": 3}'\n```\n"""
)


def judged(text: str) -> Judged:
    (one,) = [each for each in judge(read_files([("notes.md", text)]), Question()) if each.layout is not None]
    return one


def is_doubted(one: Judged) -> bool:
    return any(finding.code is Code.TIGHT for finding in one.findings)


@pytest.mark.parametrize(
    ("text", "doubted"),
    [
        (START, True),
        (f"{START}\nIt printed:\n\n```text\nGPU KV cache size:     1,822,464 tokens\n```\n", False),
        (f"The start printed `GPU KV cache size: 1,822,464 tokens`.\n\n{START}", False),
        (f"```text\nGPU KV cache size:     1,822,464 tokens\n```\n\n{START}", False),
        (f"This is the validated startup profile.\n\n{START}", False),
        (
            f"{START}\n```text\nGPU KV cache size: 1,822,464 tokens\ntorch.OutOfMemoryError: CUDA out of memory\n```\n",
            True,
        ),
    ],
)
def test_memory_beside_the_share(text: str, doubted: bool) -> None:
    one = judged(text)
    assert is_doubted(one) is doubted
    assert one.memory is None or one.memory.tight is doubted
