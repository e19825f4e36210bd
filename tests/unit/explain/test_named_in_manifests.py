"""Keys, ports and health that a manifest names and does not have."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.script import read_files
from moonpad.explain.target_detection import Question


def messages(text: str, name: str) -> list[str]:
    return [finding.message for each in judge(read_files([(name, text)]), Question()) for finding in each.findings]


def said(text: str, part: str, name: str = "a.yaml") -> int:
    return sum(part in message for message in messages(text, name))


COMPOSE = """services:
  engine:
    image: {}
    command: --model moonshotai/Kimi-K2.5 -tp 8
    gpus: all
    environment:
      - {}
{}  web:
    image: ghcr.io/open-webui/open-webui:main
    depends_on:
      engine:
        condition: service_healthy
"""
IMAGE, CHECK = "vllm/vllm-openai:v0.22.0", "    healthcheck:\n      test: curl -f localhost:8000/health\n"


def test_health_that_is_never_found() -> None:
    assert said(COMPOSE.format(IMAGE, "A=1", ""), "has no healthcheck, and its image brings none") == 1
    assert said(COMPOSE.format(IMAGE, "A=1", CHECK), "has no healthcheck") == 0
    assert said(COMPOSE.format("my/engine:1", "A=1", ""), "has no healthcheck") == 0
    started = COMPOSE.format(IMAGE, "A=1", "").replace("service_healthy", "service_started")
    assert said(started, "has no healthcheck") == 0


def test_a_mapping_among_variables() -> None:
    assert said(COMPOSE.format(IMAGE, "HF_HOME: /data", CHECK), "HF_HOME is a mapping in the list of environment") == 1
    assert said(COMPOSE.format(IMAGE, "HF_HOME=/data", CHECK), "is a mapping in the list") == 0


POD = """apiVersion: v1
kind: Pod
metadata:
  name: engine
spec:
  containers:
    - name: engine
      image: vllm/vllm-openai:v0.22.0
      args: [--model, moonshotai/Kimi-K2.5, -tp, "8"]
      env:
        - name: HF_TOKEN
          valueFrom:
            {}:
              {}
      resources:
        limits:
          nvidia.com/gpu: 8
"""


@pytest.mark.parametrize("kind", ["secretKeyRef", "configMapKeyRef"])
def test_a_reference_without_its_key(kind: str) -> None:
    assert said(POD.format(kind, "name: hub"), f"{kind} of hub has no key") == 1
    assert said(POD.format(kind, "key: token"), f"{kind} has no name") == 1
    assert said(POD.format(kind, "name: hub\n              key: token"), f"{kind} of hub has no") == 0


SERVICE = """---
apiVersion: v1
kind: Service
metadata:
  name: engine
spec:
  ports:
    - port: 80
      targetPort: 8000
"""


def guide(command: str) -> str:
    pod = POD.format("secretKeyRef", "name: hub\n              key: token")
    return f"```yaml\n{pod}{SERVICE}```\n\n```bash\n{command}\n```\n"


@pytest.mark.parametrize(
    ("command", "count"),
    [
        ("kubectl port-forward svc/engine 8000:8000", 1),
        ("kubectl -n ai port-forward service/engine 8000", 1),
        ("kubectl port-forward svc/engine 8000:80", 0),
        ("kubectl port-forward svc/other 8000:8000", 0),
        ("kubectl port-forward pod/engine 8000:8000", 0),
    ],
)
def test_a_port_that_is_forwarded(command: str, count: int) -> None:
    assert said(guide(command), "does not have a service port", "a.md") == count


def test_a_draft_at_an_address() -> None:
    line = "llama-server -m /models/kimi.gguf --model-draft {} --port 8000\n"
    assert said(line.format("http://draft:8001"), "is an address, not a file", "run.sh") == 1
    assert said(line.format("/models/draft.gguf"), "is an address, not a file", "run.sh") == 0


@pytest.mark.parametrize(("option", "value"), [("-c", "CTX"), ("-ub", "UB"), ("-c", "~200000")])
def test_what_stands_for_a_number(option: str, value: str) -> None:
    assert said(f"llama-server -m a.gguf {option} {value}\n", f"{value} stands for a number", "run.sh") == 1


def test_the_pin_of_a_build_without_a_tag() -> None:
    (judged,) = judge(
        read_files([("run.sh", "pip install vllm==0.1.dev8000+g1234567\nvllm serve a/b -tp 8\n")]), Question()
    )
    assert not judged.version.startswith("0.1")


def test_examples_are_no_machine() -> None:
    serve = "\n```bash\nvllm serve Qwen/Qwen3-32B -tp 1\n```\n"
    (judged,) = judge(read_files([("a.md", f"You need a GPU (e.g., A100, A40).\n{serve}")]), Question())
    assert judged.cluster is None
    (judged,) = judge(read_files([("a.md", f"We run it on an A100.\n{serve}")]), Question())
    assert judged.cluster is not None
