"""Devices of a role's worker in a recipe, against its nodes."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

RECIPE = """name: k2
model: {{path: moonshotai/Kimi-K2-Instruct, container: "lmsysorg/sglang:v0.5.9"}}
resources:
  gpu_type: gb200
  gpus_per_node: 4
  prefill_nodes: 1
  prefill_workers: 1
  decode_nodes: {nodes}  # of four
  decode_workers: {workers}
  gpus_per_decode: {each}
backend:
  type: sglang
  sglang_config:
    prefill: {{model-path: /model, tensor-parallel-size: 4}}
    decode: {{model-path: /model, tensor-parallel-size: 8}}
"""


@pytest.mark.parametrize(
    ("nodes", "workers", "each", "told"),
    [(2, 1, 4, 1), (2, 1, 8, 0), (2, 2, 4, 0), (4, 2, 4, 1), (1, 2, 2, 0), (4, 2, 8, 0)],
)
def test_devices_of_a_worker(nodes: int, workers: int, each: int, told: int) -> None:
    text = RECIPE.format(nodes=nodes, workers=workers, each=each)
    found = [finding for judged in ask(text) for finding in judged.findings if "gpus_per_decode is" in finding.message]
    assert len(found) == told
