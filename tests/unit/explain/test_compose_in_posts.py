"""Files of Compose that a post or a guide shows among its sentences."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

FILE = """services:
  engine:
    image: vllm/vllm-openai:v0.20.0
    command: --model moonshotai/Kimi-VL-A3B-Instruct --trust-remote-code
    ipc: host
    ports: ["8000:8000"]
    healthcheck: {test: "curl -f http://localhost:8000/v1/health"}
    deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 1, capabilities: [gpu]}]}}}
  chat:
    image: ghcr.io/open-webui/open-webui:main
    environment: {OPENAI_API_BASE_URL: "http://localhost:8000/v1"}
"""
PLAIN = f"Hi, this is my docker-compose.yml:\n\n{FILE}\nThe chat says connection refused. What is wrong?\n"
GUIDE = """# Kimi-VL at home

1. Write the file:

   ```yaml
{}   ```

2. Start it:

   ```bash
   docker compose up -d
   ```
"""
CUT = """services:
  engine:
    image: vllm/vllm-openai:v0.20.0
    command: --model moonshotai/Kimi-VL-A3B-Instruct --trust-remote-code
    depends_on: [cache]
    environment: {ENGINE_URL: "http://gateway:9000/v1"}
"""


def guide(text: str) -> str:
    return GUIDE.format("".join(f"   {line}\n" for line in text.splitlines()))


def told(text: str) -> list[str]:
    parts = ("the container itself", "stays unhealthy", "no such service", "no service of that name", "gets no device")
    findings = [finding for judged in ask(text) for finding in judged.findings]
    return sorted(part for finding in findings for part in parts if part in finding.message)


@pytest.mark.parametrize("text", [FILE, PLAIN, guide(FILE)])
def test_a_file_is_read_wherever_it_stands(text: str) -> None:
    assert told(text) == ["stays unhealthy", "the container itself"]


@pytest.mark.parametrize("text", [PLAIN, guide(FILE)])
def test_a_line_is_that_of_the_text(text: str) -> None:
    (message,) = [f.message for each in ask(text) for f in each.findings if "the container itself" in f.message]
    number = next(at for at, line in enumerate(text.splitlines(), 1) if "OPENAI_API_BASE_URL" in line)
    assert message.startswith(f"line {number}: ")


@pytest.mark.parametrize("text", [guide(CUT), guide(FILE.replace("    ports", "    # ...\n    ports"))])
def test_what_a_guide_leaves_out_is_not_missed(text: str) -> None:
    assert told(text) == []
