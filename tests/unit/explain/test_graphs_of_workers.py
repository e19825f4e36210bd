"""Workers of a graph that is shown whole: the name of a role says something only where both roles are there."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
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


ROLES = """\
apiVersion: workloads.x-k8s.io/v1alpha1
kind: RoleBasedGroup
metadata: {name: group}
spec:
  roles:
    - name: %s
      leaderWorkerSet:
        size: 2
        patchLeaderTemplate:
          spec:
            containers:
              - name: engine
                command:
                  - >
                    python3 -m sglang.launch_server --model-path /models/big --tp 16
                    --dist-init-addr $(LWS_LEADER_ADDRESS):5000 --nnodes $(LWS_GROUP_SIZE)
                    --node-rank $(LWS_WORKER_INDEX) --context-length 4096 --trust-remote-code%s
        patchWorkerTemplate:
          spec:
            containers:
              - name: engine
                command: [python3, -m, sglang.launch_server, --model-path, /models/big, --tp, "16",
                  --dist-init-addr, "$(LWS_LEADER_ADDRESS):5000", --nnodes, $(LWS_GROUP_SIZE),
                  --node-rank, $(LWS_WORKER_INDEX), --context-length, "4096", --trust-remote-code%s]
      template:
        spec:
          containers:
            - name: engine
              image: lmsysorg/sglang:v0.5.6
              resources: {limits: {nvidia.com/gpu: "8"}}
"""


def test_a_group_of_a_role_has_what_is_patched_into_its_template() -> None:
    text = ROLES % ("prefill", " --disaggregation-mode prefill", ", --disaggregation-mode, prefill")
    judged = only_server(text)
    assert (judged.kind, layout(judged), judged.version) == ("prefill", (16, 1, 1), "0.5.6")
    assert len(judged.sources) == 2
    assert judged.settings is not None
    assert judged.settings.max_model_len == 4096
    assert not refused(judged)


def test_a_whole_command_in_one_item_is_told() -> None:
    (problem,) = [each for each in read_script(ROLES % ("one", "", "")).problems if each.code == "whole-command"]
    assert problem.line == 15


def test_a_shell_takes_a_whole_command() -> None:
    text = "containers:\n- image: vllm/vllm-openai:v0.11.0\n  command: [sh, -c]\n  args: [vllm serve org/Big -tp 2]\n"
    assert layout(only_server(text)) == (2, 1, 1)
    assert not read_script(text).problems
