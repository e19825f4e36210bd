"""A folder that says nothing, with the model's name for clients: what the model lacks on those devices is told."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVE = "# 4x A100 80GB\nvllm serve {folder} --pipeline-parallel-size 4 {served}\n"


@pytest.mark.parametrize(
    ("folder", "served", "told"),
    [
        ("/model", "--served-model-name deepseek-v4-flash", True),
        ("deepseek-ai/DeepSeek-V4-Flash", "", True),
        ("/model", "--served-model-name chat", False),
        ("/model", "", False),
        ("moonshotai/Kimi-K2.5", "--served-model-name deepseek-v4-flash", False),
    ],
)
def test_no_kernels_on_these_devices(folder: str, served: str, told: bool) -> None:
    """https://github.com/vllm-project/vllm/issues/40851"""
    (judged,) = ask(SERVE.format(folder=folder, served=served))
    assert any("has no kernels for A100" in finding.message for finding in judged.findings) is told
