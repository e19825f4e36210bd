"""Networks of Compose: the one of the machine against those of the file."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

FILE = """services:
  engine:
    image: vllm/vllm-openai:v0.20.0
    container_name: big-engine
    gpus: all
    {network}
    command: --model Qwen/Qwen3-8B --port 8000
  chat:
    image: registry.example.com/team/chat:1
    {of_chat}
    environment:
      - ENGINE_URL=http://{host}:8000/v1
"""
HOST = "network_mode: host"
NAMELESS = "no name in the networks"
EXCLUDE = "exclude each other"


def said(part: str, network: str, host: str = "engine", of_chat: str = "") -> bool:
    text = FILE.format(network=network, host=host, of_chat=of_chat)
    return any(part in f.message for each in ask(text) for f in each.findings)


@pytest.mark.parametrize("host", ["engine", "big-engine"])
def test_a_service_in_the_network_of_the_machine_has_no_name(host: str) -> None:
    assert said(NAMELESS, HOST, host)


@pytest.mark.parametrize(
    ("network", "host", "of_chat"),
    [
        ("restart: always", "engine", ""),
        (HOST, "host.docker.internal", ""),
        (HOST, "engine", HOST),
        (HOST, "engine", "extra_hosts: ['engine:host-gateway']"),
        ("network_mode: bridge", "engine", ""),
    ],
)
def test_others_are_found_or_are_asked_in_another_way(network: str, host: str, of_chat: str) -> None:
    assert not said(NAMELESS, network, host, of_chat)


def test_a_mode_and_networks() -> None:
    assert said(EXCLUDE, f"{HOST}\n    networks: [own]")
    assert not said(EXCLUDE, HOST)
    assert not said(EXCLUDE, "networks: [own]")
