"""Kinds of values in the YAML of TensorRT-LLM."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

ERROR, WARNING = Severity.ERROR, Severity.WARNING
TEXT = """cat > extra.yaml <<EOF
{}
EOF
trtllm-serve deepseek-ai/DeepSeek-R1 --tp_size 8 --config extra.yaml
"""


def said(content: str, version: str = "1.3.0rc14") -> list[Severity]:
    judged = ask(TEXT.format(content), "8xB200", version)
    return [f.severity for each in judged for f in each.findings if "takes: the start ends in a" in f.message]


@pytest.mark.parametrize(
    "content",
    [
        "kv_cache_config:\n  host_cache_size: 64GB",
        "max_num_tokens: 8k",
        "max_batch_size: 0.5",
        "kv_cache_config:\n  free_gpu_memory_fraction: 80%",
        "cuda_graph_config: true",
        "speculative_config: MTP",
        'cuda_graph_config:\n  batch_sizes: "1,2,4"',
        "cuda_graph_config:\n  batch_sizes: 8",
        "enable_attention_dp: yes please",
    ],
)
def test_another_kind(content: str) -> None:
    assert said(content) == [ERROR]
    assert said(content, "") == [WARNING]


@pytest.mark.parametrize(
    "content",
    [
        "kv_cache_config:\n  host_cache_size: 64000000000",
        "kv_cache_config:\n  free_gpu_memory_fraction: 0.8",
        "max_num_tokens: ${TOKENS}",
        "max_num_tokens: auto",
        "cuda_graph_config: {}",
        "cuda_graph_config: null",
        "cuda_graph_config:\n  batch_sizes: [1, 2, 4]",
        "enable_attention_dp: yes",
        'enable_attention_dp: "true"',
        "batch_wait_timeout_ms: 20",
    ],
)
def test_its_own_kind(content: str) -> None:
    assert said(content) == []


def test_slots() -> None:
    text = "moe_config:\n  load_balancer:\n    num_slots: {}"
    command = TEXT.replace("--tp_size 8", "--tp_size 8 --ep_size 8")
    for slots, count in ((290, 1), (288, 0)):
        judged = ask(command.format(text.format(slots)), "8xB200", "1.3.0rc14")
        assert sum("are not shared out over" in f.message for each in judged for f in each.findings) == count
