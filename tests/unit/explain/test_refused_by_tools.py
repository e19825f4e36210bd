"""Words and objects that Docker, Helm, YAML, Compose and Kubernetes refuse."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

RUN = "docker run --gpus all --ipc=host {} vllm/vllm-openai:v0.20.0 --model moonshotai/Kimi-VL-A3B-Instruct\n"
HELM = "helm install kimi ./chart --set replicas=1 {}\nvllm serve moonshotai/Kimi-VL-A3B-Instruct\n"
POD = """apiVersion: v1
kind: Pod
metadata: {name: kimi}
spec:
  containers:
  - name: server
    image: vllm/vllm-openai:v0.20.0
    args:
    - --model=moonshotai/Kimi-VL-A3B-Instruct
    - ITEM
    resources: {limits: {nvidia.com/gpu: 1}}
"""
SCRIPT = """apiVersion: v1
kind: Pod
metadata: {name: kimi}
spec:
  containers:
  - name: server
    image: vllm/vllm-openai:v0.20.0
    command: [sh, -c]
    args:
    - |
      cat > /tmp/notes <<EOF
      - --limit-mm-per-prompt={"image": 8}
      EOF
      vllm serve moonshotai/Kimi-VL-A3B-Instruct
    resources: {limits: {nvidia.com/gpu: 1}}
"""
SECRET = """apiVersion: v1
kind: Secret
metadata: {name: hf}
PART: {HF_TOKEN: VALUE}
---
"""
JOB = """apiVersion: batch/v1
kind: Job
metadata: {name: bench}
spec:
  template:
    spec:
      restartPolicy: RESTARTS
      containers:
      - name: server
        image: vllm/vllm-openai:v0.20.0
        command: [vllm, serve, moonshotai/Kimi-VL-A3B-Instruct]
        resources: {limits: {nvidia.com/gpu: 1}}
"""
FILE = """services:
  engine:
    image: vllm/vllm-openai:v0.20.0
    command: --model moonshotai/Kimi-VL-A3B-Instruct
    {}
"""
DEVICES = "resources: {reservations: {devices: [{capabilities: [gpu], count: 1}]}}"
WORDS = (
    *(
        "volume name",
        "invalid reference format",
        "has no value",
        "begins a mapping",
        "illegal base64",
        "refuses Always",
    ),
    "deploy has no",
)


def told(text: str) -> list[str]:
    findings = [finding for judged in ask(text) for finding in judged.findings]
    return [words for finding in findings for words in WORDS if words in finding.message]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (RUN.format("-v models/k2:/model"), "volume name"),
        (RUN.format("-e HF_TOKEN = hf_abc"), "invalid reference format"),
        (HELM.format("--set env.CUDA_VISIBLE_DEVICES=0,1,2,3"), "has no value"),
        (HELM.format('--set "args=--a,--b"'), "has no value"),
        (POD.replace("ITEM", '--limit-mm-per-prompt={"image": 8}'), "begins a mapping"),
        (SECRET.replace("PART", "data").replace("VALUE", "hf_AbCdEf") + POD.replace("ITEM", "-tp=1"), "illegal base64"),
        (JOB.replace("RESTARTS", "Always"), "refuses Always"),
        (FILE.format("deploy: {shm_size: 16g, " + DEVICES + "}"), "deploy has no"),
    ],
)
def test_what_is_refused(text: str, words: str) -> None:
    assert told(text) == [words]


@pytest.mark.parametrize(
    "text",
    [
        RUN.format("-v ./models/k2:/model"),
        RUN.format("-v $PWD/models/k2:/model"),
        RUN.format("-v models:/models"),
        RUN.format("-v ~/models/k2:/model"),
        RUN.format("-e HF_TOKEN=hf_abc"),
        RUN.format("-e HF_TOKEN"),
        HELM.format(r"--set 'env.CUDA_VISIBLE_DEVICES=0\,1'"),
        HELM.format("--set a=1,b=2"),
        HELM.format("--set 'args={--a,--b}'"),
        HELM.format('--set-json \'env={"a": 1, "b": 2}\''),
        POD.replace("ITEM", "'--limit-mm-per-prompt={\"image\": 8}'"),
        POD.replace("ITEM", '--limit-mm-per-prompt={"image":8}'),
        SCRIPT,
        SECRET.replace("PART", "stringData").replace("VALUE", "hf_AbCdEf") + POD.replace("ITEM", "-tp=1"),
        SECRET.replace("PART", "data").replace("VALUE", "aGZfYWJj") + POD.replace("ITEM", "-tp=1"),
        SECRET.replace("PART", "data").replace("VALUE", "<base64 of the token>") + POD.replace("ITEM", "-tp=1"),
        SECRET.replace("PART", "data").replace("VALUE", "$TOKEN_BASE64") + POD.replace("ITEM", "-tp=1"),
        JOB.replace("RESTARTS", "Never"),
        FILE.format("shm_size: 16g\n    deploy: {" + DEVICES + "}"),
    ],
)
def test_what_is_taken(text: str) -> None:
    assert told(text) == []
