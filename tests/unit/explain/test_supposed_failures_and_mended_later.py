"""What a description says may happen is no complaint of a fault that a later release mended."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SOUND = "vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8 --max-model-len 128000 --trust-remote-code"
DESCRIPTION = """- **Architecture**: MoE with MLA attention
- **Memory**: 20-40GB RAM
- **Context**: Full 128K tokens supported
- Long context code understanding
- {}
"""


def is_complaint(prose: str) -> bool:
    (judged,) = ask(f"{prose}\n\n```bash\n{SOUND}\n```\n")
    return any(remark.as_told for remark in judged.remarks)


@pytest.mark.parametrize("item", ["Fallback Model: When external APIs fail", "In case requests fail.", "No trouble"])
def test_what_may_happen_is_no_complaint(item: str) -> None:
    assert not is_complaint(DESCRIPTION.format(item))
    assert not is_complaint(DESCRIPTION.replace("**", "").format(item))


@pytest.mark.parametrize(
    "complaint", ["The prefill fails, out of memory.", "When requests are long, it fails: out of memory."]
)
def test_a_complaint_is_one(complaint: str) -> None:
    assert is_complaint(f"Chunked prefill of a long context with MLA attention: latent, expanded at once. {complaint}")
