"""Two containers of one machine: the ports that they publish, and the devices that they begin with."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

FILE = """services:
  chat:
    image: vllm/vllm-openai:v0.20.0
    ports: ['{ports[0]}']
    command: --model moonshotai/Kimi-Linear-48B-A3B-Instruct -tp 2{more}
    {given[0]}
  vision:
    image: vllm/vllm-openai:v0.20.0
    ports: ['{ports[1]}']
    command: --model moonshotai/Kimi-VL-A3B-Instruct{more}
    {given[1]}
"""
APART = ("8000:8000", "8001:8000")
RESERVED = "deploy: {resources: {reservations: {devices: [{capabilities: [gpu], %s}]}}}"
OWN = (RESERVED % "device_ids: ['0', '1']", RESERVED % "device_ids: ['2']")
COUNTED = (RESERVED % "count: 2", RESERVED % "count: 1")
ALL = ("gpus: all", "gpus: all")
RUN = "docker run -d --name {0} --gpus '\"device={1}\"' --ipc=host -p {2} vllm/vllm-openai:v0.20.0 --model {3}{4}"
PORT = "is already allocated"
DEVICE = "begins with too"


def told(text: str, words: str) -> int:
    return sum(words in finding.message for judged in ask(text) for finding in judged.findings)


def compose(ports: tuple[str, str] = APART, given: tuple[str, str] = OWN, more: str = "") -> str:
    return FILE.format(ports=ports, given=given, more=more)


def script(between: str = "", devices: tuple[str, str] = ("0,1", "2"), port: str = "8000:8000", name: str = "b") -> str:
    first = RUN.format("a", devices[0], "8000:8000", "moonshotai/Kimi-Linear-48B-A3B-Instruct", " -tp 2")
    return f"{first}\n{between}\n{RUN.format(name, devices[1], port, 'moonshotai/Kimi-VL-A3B-Instruct', '')}\n"


@pytest.mark.parametrize(
    "text",
    [
        compose(("8000:8000", "8000:8000")),
        compose(("0.0.0.0:8000:8000", "127.0.0.1:8000:8001")),
        script(),
    ],
)
def test_a_port_that_two_containers_publish(text: str) -> None:
    assert told(text, PORT) == 1


@pytest.mark.parametrize(
    "text",
    [
        compose(),
        compose(("10.0.0.1:8000:8000", "10.0.0.2:8000:8000")),
        compose(("8000", "8000")),
        compose(("8000:8000", "8000:8000"), (f"profiles: [a]\n    {OWN[0]}", f"profiles: [b]\n    {OWN[1]}")),
        compose(("8000:8000", "8000:8000"), (f"network_mode: host\n    {OWN[0]}", f"network_mode: host\n    {OWN[1]}")),
        script(port="8001:8000"),
        script("docker rm -f a"),
        script("# on the second machine"),
        script("# or, with pictures"),
        script("# 10.0.0.2"),
        script(name="a"),
        script().replace("docker run -d", "docker run"),
    ],
)
def test_ports_of_containers_that_do_not_meet(text: str) -> None:
    assert told(text, PORT) == 0


@pytest.mark.parametrize(
    "text",
    [
        compose(given=ALL),
        compose(given=COUNTED),
        compose(given=(OWN[0], ALL[1])),
        script("", ("0,1", "1"), "8001:8000"),
    ],
)
def test_devices_that_two_servers_begin_with(text: str) -> None:
    assert told(text, DEVICE) == 1


@pytest.mark.parametrize(
    "text",
    [
        compose(),
        compose(given=ALL, more=" --gpu-memory-utilization 0.45"),
        compose(given=(f"environment: {{CUDA_VISIBLE_DEVICES: '1,2'}}\n    {ALL[0]}", ALL[1])),
        compose(given=(f"profiles: [a]\n    {ALL[0]}", ALL[1])),
        script(port="8001:8000"),
    ],
)
def test_devices_of_servers_that_do_not_meet(text: str) -> None:
    assert told(text, DEVICE) == 0
