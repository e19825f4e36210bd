"""A key that a mapping of options has twice: YAML keeps the second (`yaml.safe_load` of PyYAML does)."""

from __future__ import annotations

import pytest
import yaml

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

RECIPE = """backend:
  type: vllm
  vllm_config:
    aggregated:
      served-model-name: kimi
      model: moonshotai/Kimi-K2.6
      tensor-parallel-size: 8
{}
      trust-remote-code: true
{}
resources:
  gpu_type: h200
"""
FIRST = "      compilation-config: '{\"cudagraph_capture_sizes\":[1,2,4]}'"
SECOND = '      compilation-config: \'{"pass_config":{"fuse_allreduce_rms":false}}\''


def told(text: str) -> list[str]:
    return [
        each.message
        for judged in ask(text)
        for each in judged.findings
        if "stands twice among" in each.message and each.severity is Severity.WARNING
    ]


@pytest.mark.parametrize(
    ("first", "second", "name"),
    [
        (FIRST, SECOND, "compilation-config"),
        ("      max-model-len: 8192", "      # longer\n      max-model-len: 65536", "max-model-len"),
        ("      max_num_seqs: 64", "      max_num_seqs: 8", "max_num_seqs"),
        (FIRST, "      compilation-config:\n        cudagraph_mode: FULL", "compilation-config"),
    ],
)
def test_the_second_of_two_keys_counts(first: str, second: str, name: str) -> None:
    text = RECIPE.format(first, second)
    kept = yaml.safe_load(text)["backend"]["vllm_config"]["aggregated"][name]
    (message,) = told(text)
    assert name in message
    assert "line 8" in message
    assert f"line {10 + ('#' in second)}" in message
    assert f"{kept} of the first is lost" not in message


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("      max-model-len: 8192", "      max-model-len: 8192"),  # nothing is lost
        ("      max-model-len: 8192", "      max-num-seqs: 8"),
        ("      # max-model-len: 8192", "      max-model-len: 65536"),
        ("    other:\n      max-model-len: 8192\n    decode:", "      max-model-len: 65536"),
    ],
)
def test_keys_that_stand_once(first: str, second: str) -> None:
    assert not told(RECIPE.format(first, second))
