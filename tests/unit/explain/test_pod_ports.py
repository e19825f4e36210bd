"""Ports of containers, probes and Services against the engine's."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

POD = """apiVersion: v1
kind: Service
metadata: {{name: {service}}}
spec:
  selector: {{app: {app}}}
  ports:
  - {{port: 80, targetPort: {target}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: k2}}
spec:
  template:
    metadata: {{labels: {{app: k2, tier: model}}}}
    spec:
      {pod}
      containers:
      - name: server
        image: vllm/vllm-openai:v0.20.0
        args: [--model, moonshotai/Kimi-K2.5, -tp, '8'{more}]
        ports:
        - {{containerPort: 8080, name: http}}
        - {{containerPort: 8000, name: api}}
        readinessProbe: {{httpGet: {{path: /health, port: {port}{scheme}}}}}
        resources: {{limits: {{nvidia.com/gpu: '8'}}}}
"""
RUN = "docker run --gpus all --ipc host {options} vllm/vllm-openai:v0.20.0 --model moonshotai/Kimi-K2.5 -tp 8{more}\n"
COMPOSE = """services:
  server:
    image: lmsysorg/sglang:v0.5.9
    command: python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --tp-size 8 --host 0.0.0.0{more}
    ipc: host
    ports: ['{ports}']
"""


def told(text: str, words: str) -> list[str]:
    findings = [finding for judged in ask(text) for finding in judged.findings]
    return [finding.where for finding in findings if words in finding.message]


def pod(**given: str) -> str:
    default = {"service": "k2", "app": "k2", "target": "8000", "pod": "", "more": "", "port": "8000", "scheme": ""}
    return POD.format(**default | given)


@pytest.mark.parametrize(
    "given",
    [{"port": "8080"}, {"port": "http"}, {"more": ", --port, '9000'"}, {"more": ", --port=8080", "port": "api"}],
)
def test_a_probe_of_another_port(given: dict[str, str]) -> None:
    assert told(pod(**given), "asks at port") == ["readinessProbe: port"]


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"port": "api"},
        {"port": "http", "more": ", --port, '8080'"},
        {"port": "metrics"},
        {"port": "8080", "more": ", --port, $(PORT)"},
        {"port": "8080", "pod": "initContainers: [{name: proxy, image: proxy:1, restartPolicy: Always}]"},
        {"port": "8080", "more": ", --config, /etc/k2.yaml"},
    ],
)
def test_a_probe_that_may_be_right(given: dict[str, str]) -> None:
    assert told(pod(**given), "asks at port") == []


def test_a_probe_by_https() -> None:
    assert told(pod(scheme=", scheme: HTTPS"), "HTTPS") == ["readinessProbe: scheme"]
    keys = ", --ssl-keyfile, /tls/tls.key, --ssl-certfile, /tls/tls.crt"
    assert told(pod(scheme=", scheme: HTTPS", more=keys), "HTTPS") == []


@pytest.mark.parametrize("given", [{"target": "8080"}, {"target": "http"}, {"more": ", --port, '9000'"}])
def test_a_service_of_another_port(given: dict[str, str]) -> None:
    assert told(pod(**given), "sends to port") == ["targetPort"]


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"target": "api"},
        {"target": "8080", "app": "router"},
        {"target": "8080", "more": ", --kv-transfer-config, '{}'"},
        {"target": "8080", "pod": "initContainers: [{name: proxy, image: proxy:1, restartPolicy: Always}]"},
    ],
)
def test_a_service_that_may_be_right(given: dict[str, str]) -> None:
    assert told(pod(**given), "sends to port") == []


def test_a_service_of_the_engines_name() -> None:
    assert told(pod(service="vllm"), "for a Service") == ["name: vllm"]
    assert told(pod(service="vllm", pod="enableServiceLinks: false"), "for a Service") == []
    assert told(pod(service="vllm-k2"), "for a Service") == []


@pytest.mark.parametrize(
    "text",
    [
        RUN.format(options="-p 8000:8000", more=" --port 30000"),
        RUN.format(options="-p 127.0.0.1:8080:8080", more=""),
        COMPOSE.format(ports="8000:8000", more=""),
        COMPOSE.format(ports="${PORT:-8000}:8000", more=" --port 30000"),
    ],
)
def test_a_published_port_of_nobody(text: str) -> None:
    assert len(told(text, "leads to port")) == 1


@pytest.mark.parametrize(
    "text",
    [
        RUN.format(options="-p 8080:8000", more=""),
        RUN.format(options="-p 8000:8000 --network host", more=" --port 30000"),
        RUN.format(options="-p 8000:8000 -p 30000:30000", more=" --port 30000"),
        RUN.format(options="-p 8000:$PORT", more=" --port $PORT"),
        RUN.format(options="-p 8000-8010:8000-8010", more=" --port 8001"),
        COMPOSE.format(ports="8000:30000", more=""),
        COMPOSE.format(ports="8000:${PORT}", more=" --port ${PORT}"),
        RUN.format(options="-p 8080:80", more="").replace("vllm/vllm-openai:v0.20.0", "registry.example.com/vllm:1"),
        "docker run --gpus all -p 8080:80 vllm/vllm-openai:v0.20.0 bash -c 'nginx; vllm serve a/b --port 8000'\n",
    ],
)
def test_a_published_port_that_may_be_right(text: str) -> None:
    assert told(text, "leads to port") == []
