"""Pods with too few processors, with a cache that ends with them, and scaled by what says nothing of their load."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import found

POD = """apiVersion: apps/v1
kind: Deployment
metadata: {name: kimi}
spec:
  selector: {matchLabels: {app: kimi}}
  template:
    metadata: {labels: {app: kimi}}
    spec:
      containers:
      - name: vllm
        image: vllm/vllm-openai:v0.32.0
        args: ["--model=moonshotai/Kimi-K2.5", "--tensor-parallel-size=8", "--trust-remote-code"]
        resources: {limits: {nvidia.com/gpu: 8, CPU memory: 900Gi}}
        volumeMounts: [{name: hf, mountPath: /root/.cache/huggingface}, {name: shm, mountPath: /dev/shm}]
      volumes:
      - {name: hf, VOLUME}
      - {name: shm, emptyDir: {medium: Memory, sizeLimit: 32Gi}}
"""
SCALER = """---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: scaler}
spec:
  scaleTargetRef: {kind: Deployment, name: kimi}
  metrics:
  - METRIC
"""
POOL = """---
apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: {name: pool}
spec:
  selector: {matchLabels: {app: LABEL}}
"""
CLAIM = "persistentVolumeClaim: {claimName: hf}"
BY_PROCESSORS = "{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}"
BY_QUEUE = "{type: Pods, pods: {metric: {name: waiting}, target: {type: AverageValue, averageValue: 10}}}"


def pod(processors: str = "", volume: str = CLAIM) -> str:
    return POD.replace("CPU ", processors).replace("VOLUME", volume)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (pod('cpu: "2", '), "limits.cpu is 2"),
        (pod("cpu: 500m, "), "limits.cpu is 500m"),
        (pod(volume="emptyDir: {sizeLimit: 1Ti}"), "downloads the weights again"),
        (pod(volume="emptyDir: {}"), "downloads the weights again"),
        (pod() + SCALER.replace("METRIC", BY_PROCESSORS), "the autoscaler looks at cpu"),
        (pod() + POOL.replace("LABEL", "other"), "the InferencePool pool asks for app=other"),
    ],
)
def test_pods_that_are_slow_or_not_found(text: str, words: str) -> None:
    assert found(text, words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (pod('cpu: "64", '), "limits.cpu"),
        (pod('cpu: "8", '), "limits.cpu"),
        (pod(), "limits.cpu"),
        (pod(), "downloads the weights again"),
        (pod(volume="emptyDir: {}").replace("moonshotai/", "/models/"), "downloads the weights again"),
        (pod() + SCALER.replace("METRIC", BY_QUEUE), "the autoscaler looks at"),
        (
            pod() + SCALER.replace("METRIC", BY_PROCESSORS).replace("name: kimi}", "name: web}"),
            "the autoscaler looks at",
        ),
        (pod() + POOL.replace("LABEL", "kimi"), "the InferencePool"),
    ],
)
def test_pods_as_they_are_meant(text: str, words: str) -> None:
    assert not found(text, words)
