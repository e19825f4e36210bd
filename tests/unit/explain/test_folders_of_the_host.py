"""Folders of the host that a pod mounts under other paths: whose weights they are; devices that are only mounted."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code
from tests.unit.explain.judging import ask_one

POD = """apiVersion: v1
kind: Pod
metadata: {{name: prefill}}
spec:
  containers:
  - name: sglang
    image: lmsysorg/sglang:v0.5.9
    command: [python3, -m, sglang.launch_server, --model-path, {model}, --tp, "8", --trust-remote-code]
    resources: {{limits: {{nvidia.com/gpu: "8"}}}}
    securityContext: {{privileged: true}}
    volumeMounts:
    - {{mountPath: {mount}, name: extra}}
    - {{mountPath: /opt/models, name: model{below}}}
  volumes:
  - name: extra
    hostPath: {{path: {mount}}}
  - name: model
    hostPath: {{path: {path}}}
"""
DOCKER = (
    "docker run --privileged {} lmsysorg/sglang:v0.5.9 sglang serve --model-path moonshotai/Kimi-K2-Instruct --tp 8"
)


def pod(path: str, model: str = "/opt/models", mount: str = "/opt/tools", below: str = "") -> str:
    return POD.format(path=path, model=model, mount=mount, below=below)


def model_of(text: str) -> str:
    checkpoint = ask_one(text, on="16xH200").checkpoint
    return checkpoint.name if checkpoint is not None else ""


@pytest.mark.parametrize(
    ("path", "model", "below"),
    [
        ("/data1/models/DeepSeek-R1-0528", "/opt/models", ""),
        ("/data1/models/DeepSeek-R1-0528/deepseek_r1_0528", "/opt/models", ""),
        ("/data1/models", "/opt/models/DeepSeek-R1-0528", ""),
        ("/data1/models", "/opt/models", ", subPath: DeepSeek-R1-0528"),
    ],
)
def test_the_weights_of_a_folder(path: str, model: str, below: str) -> None:
    assert model_of(pod(path, model, below=below)) == "deepseek-ai/DeepSeek-R1-0528"


@pytest.mark.parametrize("path", ["/data1/models/our-own_r1_0528", "/data1/models"])
def test_a_folder_that_says_nothing(path: str) -> None:
    assert model_of(pod(path)) == ""


def remedy(text: str) -> str:
    (finding,) = [
        each for each in ask_one(text).findings if each.code is Code.INSECURE and each.where == "--privileged"
    ]
    return finding.remedy


def test_devices_for_rdma_that_are_only_mounted() -> None:
    assert "RDMA" in remedy(pod("/data1", mount="/dev/infiniband"))
    assert "RDMA" not in remedy(pod("/data1"))


@pytest.mark.parametrize(
    ("options", "only_by_privilege"),
    [
        ("--gpus all -v /dev/infiniband:/dev/infiniband", True),
        ("--gpus all --network host --ulimit memlock=-1", True),
        ("--gpus all --network host --ulimit memlock=-1 --device=/dev/infiniband", False),
        ("--gpus all --network host", False),
        ("--gpus all -v /data:/data", False),
    ],
)
def test_the_same_of_docker(options: str, only_by_privilege: bool) -> None:
    assert ("RDMA" in remedy(DOCKER.format(options))) is only_by_privilege
