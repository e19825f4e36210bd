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
