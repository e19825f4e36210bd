"""Objects of Kubernetes under other groups, with values of other types, and groups of pods with a leader."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding
from tests.unit.explain.judging import ask

DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata: {name: kimi}
spec:
  replicas: 1
  selector:
    matchLabels: {app: kimi}
  template:
    metadata:
      labels: {app: kimi}
    spec:
      containers:
        - name: server
          image: vllm/vllm-openai:v0.20.1
          command: ["vllm", "serve"]
          args: [moonshotai/Kimi-K2.6, --tensor-parallel-size=8, --trust-remote-code, --port=8000]
          ports:
            - {name: http, containerPort: 8000}
          resources:
            limits: {nvidia.com/gpu: "8", memory: 512Gi}
            requests: {memory: 256Gi, nvidia.com/gpu: "8"}
          readinessProbe:
            httpGet: {path: /health, port: 8000}
            periodSeconds: 10
            failureThreshold: 360
          volumeMounts:
            - {name: shm, mountPath: /dev/shm}
      volumes:
        - name: shm
          emptyDir: {medium: Memory, sizeLimit: 32Gi}
---
apiVersion: v1
kind: Service
metadata: {name: kimi}
spec:
  selector: {app: kimi}
  ports:
    - {port: 80, targetPort: http}
"""
GROUP = """apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: kimi}
spec:
  replicas: 1
  leaderWorkerTemplate:
    size: 2
    leaderTemplate:
      metadata:
        labels: {role: leader, app: kimi}
      spec:
        containers:
          - name: server
            image: vllm/vllm-openai:v0.19.0
            command: ["/bin/bash", "-c"]
            args:
              - |
                vllm serve moonshotai/Kimi-K2.5 --port 8000 --tensor-parallel-size 16 --trust-remote-code \\
                  --nnodes $(LWS_GROUP_SIZE) --node-rank $(LWS_WORKER_INDEX) --master-addr $(LWS_LEADER_ADDRESS)
            resources:
              limits: {nvidia.com/gpu: "8"}
    workerTemplate:
      metadata:
        labels: {role: worker, app: kimi}
      spec:
        containers:
          - name: server
            image: vllm/vllm-openai:v0.19.0
            command: ["/bin/bash", "-c"]
            args:
              - |
                vllm serve moonshotai/Kimi-K2.5 --headless --tensor-parallel-size 16 --trust-remote-code \\
                  --nnodes $(LWS_GROUP_SIZE) --node-rank $(LWS_WORKER_INDEX) --master-addr $(LWS_LEADER_ADDRESS)
            resources:
              limits: {nvidia.com/gpu: "8"}
---
apiVersion: v1
kind: Service
metadata: {name: kimi}
spec:
  selector: {app: kimi, role: leader}
  ports:
    - {port: 80, targetPort: 8000}
"""
WORDS = (
    *("no matches for kind", "is a text: Kubernetes", "Kubernetes wants the same", "refuses a request above"),
    *("of host memory for a server", "keeps its 64", "than the 64 MiB", "and no LWS", "the workers have these labels"),
    *("the port named",),
)


def found(text: str) -> list[Finding]:
    return [each for one in ask(text) for each in one.findings if any(words in each.message for words in WORDS)]


@pytest.mark.parametrize(
    ("text", "old", "new", "where"),
    [
        (DEPLOYMENT, "apps/v1", "apps/v1beta1", "apiVersion"),
        (DEPLOYMENT, "apps/v1", "app/v1", "apiVersion"),
        (DEPLOYMENT, "apps/v1", "v1", "apiVersion"),
        (DEPLOYMENT, "---\napiVersion: v1", "---\napiVersion: apps/v1", "apiVersion"),
        (GROUP, "leaderworkerset.x-k8s.io", "leaderworkerset.sigs.k8s.io", "apiVersion"),
        (DEPLOYMENT, "replicas: 1", 'replicas: "1"', "replicas"),
        (DEPLOYMENT, "periodSeconds: 10", "periodSeconds: 10s", "periodSeconds"),
        (DEPLOYMENT, "mountPath: /dev/shm", 'mountPath: /dev/shm, readOnly: "false"', "readOnly"),
        (DEPLOYMENT, 'requests: {memory: 256Gi, nvidia.com/gpu: "8"}', "requests: {memory: 768Gi}", "memory"),
        (DEPLOYMENT, 'gpu: "8"}\n          readiness', 'gpu: "4"}\n          readiness', "nvidia.com/gpu"),
        (DEPLOYMENT, "memory: 256Gi", "memory: 256Mi", "memory"),
        (DEPLOYMENT, "memory: 512Gi}", "memory: 512Mi}", "memory"),
        (DEPLOYMENT, "mountPath: /dev/shm", "mountPath: /dev/smh", "mountPath"),
        (DEPLOYMENT, "sizeLimit: 32Gi", "sizeLimit: 32Mi", "sizeLimit"),
        (DEPLOYMENT, "{name: http, ", "{name: api, ", "targetPort"),
        (DEPLOYMENT, "{name: http, ", "{", "targetPort"),
        (GROUP, "LWS_WORKER_INDEX", "LWS_WORKER_IDX", "LWS_WORKER_IDX"),
        (GROUP, "{app: kimi, role: leader}", "{app: kimi}", "spec.selector"),
        (GROUP, "{app: kimi, role: leader}", "{leaderworkerset.sigs.k8s.io/name: kimi}", "spec.selector"),
    ],
)
def test_it_is_refused_or_reaches_nothing(text: str, old: str, new: str, where: str) -> None:
    assert old in text
    assert [each.where for each in found(text.replace(old, new, 1))] == [where]


@pytest.mark.parametrize(
    "text",
    [
        DEPLOYMENT,
        GROUP,
        DEPLOYMENT.replace("---\napiVersion: v1", "---\napiVersion: serving.knative.dev/v1"),
        DEPLOYMENT.replace("mountPath: /dev/shm", "mountPath: /cache").replace("name: shm", "name: memory"),
        DEPLOYMENT.replace("replicas: 1", "replicas: ${REPLICAS}"),
        GROUP.replace("{app: kimi, role: leader}", '{app: kimi, leaderworkerset.sigs.k8s.io/worker-index: "0"}'),
        GROUP.replace("role: leader}\n  ports", "app: kimi}\n  clusterIP: None\n  ports").replace(
            "{app: kimi, a", "{a"
        ),
        GROUP.replace("leaderworkerset.x-k8s.io/v1", "leaderworkerset.x-k8s.io/v1alpha1"),
    ],
)
def test_it_is_right(text: str) -> None:
    assert found(text) == []
