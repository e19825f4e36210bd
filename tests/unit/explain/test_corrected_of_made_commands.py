"""A line of which a controller or a runner makes more than it says is not shown as a command of its own."""

from __future__ import annotations

import pytest

from .judging import ask

RECIPE = """name: one-server
model:
  path: "{path}"
  container: "vllm/vllm-openai:v0.21.0"
resources:
  gpu_type: "gb300"
  gpus_per_node: 4
  agg_nodes: {nodes}
  agg_workers: 1
backend:
  type: vllm
  vllm_config:
    aggregated:
      served-model-name: "nvidia/Kimi-K2.5-NVFP4"
      tensor-parallel-size: {tp}
      data-parallel-size: {dp}
{more}      enable-expert-parallel: true
      trust-remote-code: true
      max-model-len: 10240
"""
SERVICE = """apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceService
metadata: {{name: kimi}}
spec:
  model: {{uri: "hf://moonshotai/Kimi-K2-Instruct", name: moonshotai/Kimi-K2-Instruct}}
  parallelism: {{data: {data}, dataLocal: 8, tensor: 1, expert: true}}
  template: &pod
    containers:
      - name: main
        resources: {{limits: {{nvidia.com/gpu: "8"}}}}
  worker: *pod
"""


def shown(text: str) -> list[str]:
    return [" ".join(line.argv) for judged in ask(text) for line in judged.corrected]


@pytest.mark.parametrize(
    ("path", "is_shown"),
    [
        ("nvidia/Kimi-K2.5-NVFP4", True),
        ("/models/Kimi-K2.5-NVFP4", True),
        ("kimi-k2.5-nvfp4", False),
        ("Kimi-K2.5-NVFP4", False),
        ("hf:nvidia/Kimi-K2.5-NVFP4", False),
    ],
)
def test_a_key_for_the_weights_is_no_name_of_a_model(path: str, is_shown: bool) -> None:
    text = RECIPE.format(path=path, nodes=1, tp=1, dp=4, more="")
    assert ask(text)[0].layout is not None
    assert bool(shown(text)) is is_shown


@pytest.mark.parametrize(
    ("dp", "more", "is_shown"),
    [
        (8, "", False),
        (8, "      data-parallel-size-local: 4\n", False),
        (8, "      data-parallel-size-local: 4\n      data-parallel-address: 10.0.0.1\n", True),
        (8, "      data-parallel-backend: ray\n", True),
    ],
)
def test_data_parallel_ranks_over_machines(dp: int, more: str, is_shown: bool) -> None:
    text = RECIPE.format(path="nvidia/Kimi-K2.5-NVFP4", nodes=2, tp=1, dp=dp, more=more)
    (judged,) = ask(text)
    assert judged.layout is not None
    assert judged.layout.dp == dp
    assert bool(judged.corrected) is is_shown


def test_a_service_whose_controller_adds_the_address() -> None:
    (judged,) = ask(SERVICE.format(data=16))
    assert judged.layout is not None
    assert judged.layout.dp == 16
    assert judged.corrected == ()
