"""`$(NAME)` that the container's env does not have."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

POD = """apiVersion: v1
kind: {kind}
metadata:
  name: k2
spec:
  containers:
  - name: server
    image: vllm/vllm-openai:v0.20.0
    {more}
    command: [{command}]
    args: [{args}]
    env:
    - name: MODEL
      value: moonshotai/Kimi-K2.5
    - name: PORT
      valueFrom:
        configMapKeyRef: {{name: a, key: b}}
    resources:
      limits: {{nvidia.com/gpu: '8'}}
"""


def told(args: str, command: str = "vllm, serve", more: str = "", kind: str = "Pod") -> list[str]:
    text = POD.format(args=args, command=command, more=more, kind=kind)
    findings = [finding for judged in ask(text) for finding in judged.findings]
    return [finding.where for finding in findings if "Kubernetes leaves" in finding.message]


@pytest.mark.parametrize(
    ("args", "where"),
    [
        ("'$(MODEL)', -tp, '$(TP)'", "$(TP)"),
        ("'--model=$(MODEL_PATH)', '--port=$(PORT)'", "$(MODEL_PATH)"),
        ("'$(MODEL)', '--host=$(HOST)', --max-model-len, '$(LEN)'", "$(HOST), $(LEN)"),
    ],
)
def test_a_name_that_no_env_has(args: str, where: str) -> None:
    assert told(args) == [where]


@pytest.mark.parametrize(
    ("args", "command", "more", "kind"),
    [
        ("'$(MODEL)', '--port=$(PORT)'", "vllm, serve", "", "Pod"),
        ("'exec vllm serve $(MODEL_PATH) -tp 8'", "bash, -c", "", "Pod"),
        ("'$(MODEL_PATH)'", "vllm, serve", "envFrom: [{configMapRef: {name: x}}]", "Pod"),
        ("'$(MODEL_PATH)'", "vllm, serve", "", "ClusterServingRuntime"),
        ("'$(MODEL)', '--master-addr=$(LWS_LEADER_ADDRESS)'", "vllm, serve", "", "Pod"),
        ("'$(MODEL)', '--master-addr=$(RBG_LWP_LEADER_ADDRESS)'", "vllm, serve", "", "Pod"),
        ("'$(MODEL)', '--master-addr=$(ENTRY_ADDRESS)', '-n=$(WORKER_INDEX)'", "vllm, serve", "", "Pod"),
        ("'$(MODEL)', '--x=$(ETCD_SERVICE_HOST)'", "vllm, serve", "", "Pod"),
        ("'$(MODEL)', '--x=$$(LITERALLY)'", "vllm, serve", "", "Pod"),
        ("'$(MODEL)', '--x=$(hostname)'", "vllm, serve", "", "Pod"),
    ],
)
def test_what_is_there_or_comes_from_elsewhere(args: str, command: str, more: str, kind: str) -> None:
    assert not told(args, command, more, kind)


def test_a_container_of_another_program_beside_the_engine() -> None:
    text = POD.format(args="'$(MODEL)'", command="vllm, serve", more="", kind="Pod")
    router = "  - name: router\n    image: router:1\n    args: [--model, '$(MODEL)']\n"
    findings = [finding for judged in ask(text + router) for finding in judged.findings]
    assert [finding.message for finding in findings if "of the container router" in finding.message]
