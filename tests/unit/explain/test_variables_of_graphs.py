"""`$(NAME)` in a service of a DynamoGraphDeployment: from its own env, its envs, and the envs of the whole graph."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

TEXT = """apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata:
  name: k3
spec:
{graph}
  services:
    Frontend:
      componentType: frontend
{frontend}
      extraPodSpec:
        mainContainer:
          image: nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.4.0
{own}
          command: ["python3", "-m", "dynamo.frontend"]
          args: ["--router-mode", "kv", "--model-path", "$({name})"]
    Worker:
      componentType: worker
      envs:
        - {{name: MODEL_PATH, value: /models/k3}}
      extraPodSpec:
        mainContainer:
          image: nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.4.0
          command: ["python3", "-m", "dynamo.vllm"]
          args: ["--model", "$(MODEL_PATH)", "--tensor-parallel-size", "8"]
      resources: {{limits: {{gpu: "8"}}}}
"""
LIST = '{at}{key}: [{{name: MODEL_PATH, value: "/models/k3"}}]'


def told(graph: str = "", frontend: str = "", own: str = "", name: str = "MODEL_PATH") -> list[str]:
    text = TEXT.format(graph=graph, frontend=frontend, own=own, name=name)
    text = "\n".join(line for line in text.splitlines() if line.strip())
    return [f.where for judged in ask(text) for f in judged.findings if "leaves it as written" in f.message]


@pytest.mark.parametrize(
    "given",
    [
        {"graph": LIST.format(at="  ", key="envs")},
        {"frontend": LIST.format(at="      ", key="envs")},
        {"own": LIST.format(at="          ", key="env")},
        {"frontend": "      envFromSecret: names"},
        {"name": "DYN_NAMESPACE"},
        {"name": "ETCD_ENDPOINTS"},
    ],
)
def test_what_the_graph_or_its_operator_gives_is_there(given: dict[str, str]) -> None:
    assert told(**given) == []


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"graph": '  envs: [{name: HF_HOME, value: "/models"}]'},
        {"frontend": '      envs: [{name: MODEL, value: "/models/k3"}]'},
    ],
)
def test_the_envs_of_another_service_are_not_its_own(given: dict[str, str]) -> None:
    assert told(**given) == ["$(MODEL_PATH)"]


def test_a_list_named_envs_of_another_kind_may_be_anybodys() -> None:
    text = TEXT.format(graph="", frontend="", own="", name="MODEL_PATH").replace("DynamoGraphDeployment", "ModelServer")
    assert not [f for judged in ask(text) for f in judged.findings if "leaves it as written" in f.message]
