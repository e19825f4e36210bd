"""Devices that pods and services do not ask for, groups of another size, and claims of nearly the name."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

POD = """apiVersion: v1
kind: Pod
metadata: {{name: k25}}
spec:
{pod}  containers:
    - name: s
      image: lmsysorg/sglang:v0.5.9
      command: [python3, -m, sglang.launch_server]
      args: [--model-path, moonshotai/Kimi-K2.5, --tp, "8", --trust-remote-code]
      resources: {resources}
  volumes:
    - {{name: shm, emptyDir: {{medium: Memory}}}}
    - {{name: w, persistentVolumeClaim: {{claimName: {claim}}}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: kimi-weights}}
spec:
  resources: {{requests: {{storage: 1Ti}}}}
"""
GROUP = """apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {{name: sgl}}
spec:
  leaderWorkerTemplate:
    size: {size}
    workerTemplate:
      spec:
        containers:
          - name: w
            image: lmsysorg/sglang:v0.5.9
            command: [python3, -m, sglang.launch_server]
            args: [--model-path, moonshotai/Kimi-K2-Instruct, --tp, "16", --nnodes, "{nodes}",
                   --dist-init-addr, "$(LWS_LEADER_ADDRESS):20000", --node-rank, "$(LWS_WORKER_INDEX)"]
            resources: {{limits: {{nvidia.com/gpu: 8}}}}
"""
SERVICE = """services:
  sglang:
    image: {image}
    command: python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --tp 8 --trust-remote-code
    ipc: host
{more}"""
RESERVED = """    deploy:
      resources:
        reservations:
          devices: [{{driver: nvidia, count: all, capabilities: [{}]}}]
"""


def told(text: str, words: str) -> bool:
    return any(words in finding.message for judged in ask(text) for finding in judged.findings)


@pytest.mark.parametrize(
    ("resources", "pod", "expected"),
    [
        ("{limits: {memory: 512Gi}}", "", True),
        ("{requests: {cpu: 32}}", "", True),
        ("{limits: {memory: 512Gi, nvidia.com/gpu: 8}}", "", False),
        ("{limits: {memory: 512Gi}}", "  runtimeClassName: nvidia\n", False),
        ("{claims: [{name: gpus}], limits: {memory: 512Gi}}", "", False),
        ("{}", "", False),
    ],
)
def test_pods_without_devices(resources: str, pod: str, *, expected: bool) -> None:
    text = POD.format(resources=resources, pod=pod, claim="kimi-weights")
    assert told(text, "for no device: it gets none") == expected


@pytest.mark.parametrize(("claim", "expected"), [("kimi-weight", True), ("kimi-weights", False), ("shared", False)])
def test_claims(claim: str, *, expected: bool) -> None:
    text = POD.format(resources="{limits: {nvidia.com/gpu: 8}}", pod="", claim=claim)
    assert told(text, "a claim that does not exist") == expected


@pytest.mark.parametrize(("size", "nodes", "expected"), [(2, 4, True), (4, 2, True), (2, 2, False)])
def test_groups(size: int, nodes: int, *, expected: bool) -> None:
    assert told(GROUP.format(size=size, nodes=nodes), "the group has") == expected


@pytest.mark.parametrize(
    ("image", "more", "words", "expected"),
    [
        ("lmsysorg/sglang:v0.5.9", "", "gets no device", True),
        ("lmsysorg/sglang:v0.5.9", "    runtime: nvidia\n", "gets no device", False),
        ("lmsysorg/sglang:v0.5.9", "    gpus: all\n", "gets no device", False),
        ("lmsysorg/sglang:v0.5.9", "    environment: [NVIDIA_VISIBLE_DEVICES=all]\n", "gets no device", False),
        ("lmsysorg/sglang:v0.5.9-xeon", "", "gets no device", False),
        ("lmsysorg/sglang:v0.5.9", RESERVED.format("gpu"), "gets no device", False),
        ("lmsysorg/sglang:v0.5.9", RESERVED.format("gpus"), "no driver offers", True),
        ("lmsysorg/sglang:v0.5.9", RESERVED.format("gpu"), "no driver offers", False),
    ],
)
def test_services(image: str, more: str, words: str, *, expected: bool) -> None:
    assert told(SERVICE.format(image=image, more=more), words) == expected


AMD_POD = """apiVersion: v1
kind: Pod
metadata: {{name: k2}}
spec:
  containers:
  - name: engine
    image: {}
    args: ["--model", "moonshotai/Kimi-K2-Instruct-0905", "--tensor-parallel-size", "8", "--trust-remote-code"]
    resources: {{limits: {{{}: 8}}}}
"""
AMD_SERVICE = """services:
  k2:
    image: {}
    command: vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8
    deploy:
      resources:
        reservations:
          devices:
            - driver: nvidia
              count: 8
              capabilities: [gpu]
"""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (AMD_POD.format("vllm/vllm-openai-rocm:v0.20.0", "nvidia.com/gpu"), True),
        (AMD_POD.format("quay.io/ascend/vllm-ascend:v0.13.0", "nvidia.com/gpu"), True),
        (AMD_SERVICE.format("rocm/vllm:latest"), True),
        (AMD_POD.format("vllm/vllm-openai-rocm:v0.20.0", "amd.com/gpu"), False),
        (AMD_POD.format("vllm/vllm-openai:v0.20.0", "nvidia.com/gpu"), False),
        (AMD_POD.format("registry.local/vllm:1", "nvidia.com/gpu"), False),
        (AMD_POD.format("quay.io/ascend/vllm-ascend:v0.13.0", "huawei.com/Ascend910"), False),
        (AMD_SERVICE.format("vllm/vllm-openai:v0.20.0"), False),
    ],
)
def test_devices_of_another_maker(text: str, *, told: bool) -> None:
    messages = [finding.message for judged in ask(text) for finding in judged.findings]
    assert any("for devices of another maker" in each for each in messages) == told
