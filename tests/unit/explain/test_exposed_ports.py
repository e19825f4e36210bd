"""The port that a job opens, against the one of its server."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

JOB = """{
  "ops": [
    {
      "type": "container/run",
      "args": {
        "cmd": ["/bin/sh", "-c", "vllm serve a/b --tensor-parallel-size 1 %s"],
        "image": "docker.io/vllm/vllm-openai:v0.20.0",
        "expose": %s
      }
    }
  ]
}
"""


@pytest.mark.parametrize(
    ("option", "exposed", "told"),
    [("--port 8888", "9000", True), ("--port 9000", "9000", False), ("--port $PORT", "9000", False)],
)
def test_the_port_of_a_job(option: str, exposed: str, told: bool) -> None:
    messages = [each.message for judged in ask(JOB % (option, exposed)) for each in judged.findings]
    assert any("is opened, and" in message for message in messages) is told


SERVICE = """type: %s
name: k2
image: lmsysorg/sglang:v0.5.10
commands:
  - python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --tp 8 --host 0.0.0.0 --port 30000
port: %s
resources: {gpu: 80GB:8}
"""


@pytest.mark.parametrize(
    ("kind", "port", "told"),
    [("service", "8000", True), ("service", "30000", False), ("service", "80:30000", False), ("task", "8000", False)],
)
def test_the_port_of_a_service_of_dstack(kind: str, port: str, told: bool) -> None:
    messages = [each.message for judged in ask(SERVICE % (kind, port)) for each in judged.findings]
    assert any("is opened, and" in message for message in messages) is told
