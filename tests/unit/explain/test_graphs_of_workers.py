"""Workers of a graph that is shown whole: the name of a role says something only where both roles are there."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask, devices, layout, only_server, refused

GRAPH = """\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: graph}
spec:
  services:
    Frontend:
      componentType: frontend
      extraPodSpec: {mainContainer: {image: nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.0.1}}
"""
WORKER = """\
    {name}:
      componentType: worker
      subComponentType: {role}
      resources: {{limits: {{gpu: "2"}}}}
      extraPodSpec:
        mainContainer:
          image: nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.0.1
          command: [python3, -m, {module}]
          args: [{model}, org/Big, --tensor-parallel-size, "2"{more}]
"""
MODULES = [("dynamo.vllm", "--model"), ("dynamo.sglang", "--model-path")]


def worker(name: str, role: str, module: str, model: str, more: str = "") -> str:
    return WORKER.format(name=name, role=role, module=module, model=model, more=more)


@pytest.mark.parametrize(("module", "model"), MODULES)
@pytest.mark.parametrize("role", ["decode", "prefill"])
def test_one_role_alone_serves(module: str, model: str, role: str) -> None:
    judged = only_server(GRAPH + worker("Pool", role, module, model))
    assert (judged.kind, layout(judged)) == ("serve", (2, 1, 1))


@pytest.mark.parametrize(("module", "model"), MODULES)
def test_both_roles_are_two_pools(module: str, model: str) -> None:
    text = GRAPH + worker("One", "decode", module, model) + worker("Two", "prefill", module, model)
    assert [judged.kind for judged in ask(text) if judged.layout] == ["decode", "prefill"]


def test_an_option_says_more_than_the_name() -> None:
    text = GRAPH + worker("Pool", "decode", "dynamo.vllm", "--model", ", --is-decode-worker")
    assert only_server(text).kind == "decode"


TASK = """\
type: service
image: vllm/vllm-openai:v0.11.0
commands:
  - vllm serve org/Big --tensor-parallel-size $DSTACK_GPUS_NUM
resources:
  gpu: {gpu}
"""


@pytest.mark.parametrize(
    ("gpu", "machine"),
    [
        *(("4:H100", "4xH100"), ("H100:4", "4xH100"), ("80GB:4:H100", "4xH100"), ("H100:80GB:4", "4xH100")),
        *(("nvidia:4:H100:80GB", "4xH100"), ("4:H100:80GB..", "4xH100")),
    ],
)
def test_the_parts_of_the_devices_of_a_task_stand_in_any_order(gpu: str, machine: str) -> None:
    judged = only_server(TASK.format(gpu=gpu))
    assert (devices(judged), layout(judged)) == (machine, (4, 1, 1))
    assert not refused(judged)


def test_a_range_leaves_the_layout_open() -> None:
    assert "tp" in only_server(TASK.format(gpu="H100:2..8")).unknown
