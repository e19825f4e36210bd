"""Reports of the catalogue beside what a text's own error says."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

START = "python3 -m sglang.launch_server --model-path /data/DeepSeek-R1-bf16 --tp 16 --nnodes 2 --node-rank 0"
CONFIGURATION = "config.json that is copied from the FP8 weights"


def said(text: str) -> list[str]:
    return [f"{finding.message} ({finding.remedy})" for each in ask(text) for finding in each.findings]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ("KeyError: 'model.layers.7.mlp.shared_experts.gate_proj.weight_scale'", False),
        ("KeyError: 'model.layers.7.mlp.experts.w2_weight_scale_inv'", True),
        ("ValueError: 576 is not divisible by weight quantization block_n = 128", True),
    ],
)
def test_a_copied_configuration_is_named_where_no_other_key_is_missed(error: str, told: bool) -> None:
    text = f"It ends with\n\n```\n{error}\n```\n\n```\n{START}\n```\n"
    assert any(CONFIGURATION in each for each in said(text)) is told


@pytest.mark.parametrize(
    "text",
    [
        "[Bug] R1 in BF16 does not load: KeyError: '{}'\n\n```\n{start}\n```\n",
        "The start fails.\n\n```\n{start}\n```\n\n```\nKeyError: '{}'\n```\n",
    ],
)
def test_scales_of_the_shared_expert_that_bf16_weights_lack(text: str) -> None:
    key = "model.layers.3.mlp.shared_experts.up_proj.weight_scale"
    told = [each for each in said(text.format(key, start=START)) if "fuses the shared expert" in each]
    assert len(told) == 1
    assert "take SGLang 0.4.7 or later" in told[0]


@pytest.mark.parametrize(
    ("model", "mended"), [("Qwen/Qwen3-VL-30B-A3B-Thinking", "0.5.10"), ("Qwen/Qwen3-VL-8B-Instruct", "0.5.7")]
)
def test_pipelines_of_qwen3_vl_are_mended_by_class(model: str, mended: str) -> None:
    text = f"The server fails during weight loading.\n\n```\nsglang serve --model-path {model} --pp-size 2\n```\n"
    found = [f for each in ask(text) for f in each.findings if "pipeline" in f.message]
    assert found
    assert all(mended in f"{each.message} {each.remedy}" for each in found)
    assert not any(each.severity is Severity.ERROR for each in found)
    other = {"0.5.10": "0.5.7", "0.5.7": "0.5.10"}[mended]
    assert not any(f"take {other} " in f"{each.message} {each.remedy}" for each in found)
