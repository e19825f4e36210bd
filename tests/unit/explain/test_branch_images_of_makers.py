"""Images that an engine's makers build of a branch, with the short name of a commit at the end of the tag."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask

SERVE = "deepseek-ai/DeepSeek-V4-Pro --tensor-parallel-size 8 --moe-backend deep_gemm_odd_mega_moe"
RECIPE = """
model:
  path: "deepseek-v4-pro"
  container: "{image}"
resources:
  gpu_type: "b200"
  gpus_per_node: 8
  prefill_nodes: 1
  prefill_workers: 1
  gpus_per_prefill: 8
backend:
  type: vllm
  vllm_config:
    prefill:
      tensor-parallel-size: 8
      moe-backend: deep_gemm_odd_mega_moe
"""


def severities(text: str) -> tuple[str, list[Severity]]:
    (judged,) = ask(text)
    return judged.version, [each.severity for each in judged.findings if each.code is Code.INVALID_VALUE]


@pytest.mark.parametrize(
    ("tag", "version", "severity"),
    [
        ("v0.25.1", "0.25.1", Severity.ERROR),
        ("vllm-arm64-cu13-0.25.1-7b44ba9", "0.25.1", Severity.WARNING),
        ("dsv4-odd-arm64-cu130-4ba0a99", "", Severity.WARNING),
        ("minimax-odd-x86_64-13.0.1-8b00f99", "", Severity.WARNING),
        ("nightly-20260820", "", Severity.ERROR),
    ],
)
def test_what_no_release_takes_a_branch_may(tag: str, version: str, severity: Severity) -> None:
    of_image, told = severities(f"docker run --gpus all --ipc=host vllm/vllm-openai:{tag} {SERVE}")
    assert told == [severity]
    assert not version or of_image == version


@pytest.mark.parametrize(
    ("tag", "severity"), [("v0.25.1", Severity.ERROR), ("vllm-x86_64-cu13-0.25.1-7b44ba9", Severity.WARNING)]
)
def test_the_container_of_a_recipe(tag: str, severity: Severity) -> None:
    assert severities(RECIPE.format(image=f"vllm/vllm-openai:{tag}")) == ("0.25.1", [severity])
