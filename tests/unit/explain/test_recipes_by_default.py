"""Recipes that name the devices and the strategy which their page shows first."""

from __future__ import annotations

import pytest

from .judging import ask

RECIPE = """\
meta:
  default_hardware: {hardware}
model:
  model_id: "moonshotai/Kimi-K3"
  base_args: ["--trust-remote-code", "--gpu-memory-utilization", "0.95"]
default_strategy: {strategy}
hardware_overrides:
  hopper:
    extra_args: ["--max-model-len", "32768"]
  blackwell:
    extra_args: ["--max-model-len", "65536"]
    extra_env: {{VLLM_USE_V2_MODEL_RUNNER: "1"}}
"""


@pytest.mark.parametrize(
    ("hardware", "devices", "context"),
    [("b300", "8xB300", 65536), ("gb300", "4xGB300", 65536), ("h200", "8xH200", 32768)],
)
def test_one_machine_in_tensor_parallelism(hardware: str, devices: str, context: int) -> None:
    (judged,) = ask(RECIPE.format(hardware=hardware, strategy="single_node_tp"))
    assert judged.cluster is not None
    assert judged.cluster.name == devices
    assert judged.layout_words == f"TP{devices[0]}"
    assert judged.settings is not None
    assert judged.settings.max_model_len == context
    assert bool(judged.commands[0].env) is ("b300" in hardware)
    assert [other.settings.max_model_len for other in judged.alternatives if other.settings] == [
        32768 if context == 65536 else 65536
    ]


def test_another_strategy_leaves_the_layout_open() -> None:
    (judged,) = ask(RECIPE.format(hardware="b300", strategy="multi_node_tep"))
    assert judged.unknown
