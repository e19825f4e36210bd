"""Fault 61: in every dialect an exposed engine is reached through the front alone. What the front passes on is asked of
a real one in tests/faults/test_front.py."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from moonpad.render.targets import THERE, render_for
from moonpad.spec.loader import parse_spec
from tests.configurations import make_plan
from tests.unit.render.deployments import DIGEST, SPECS
from tests.unit.render.test_kubernetes import templates

HEADS = {"exposed": "own network", "sglang": "the hosts' network"}
PASSED = {"/health", "/v1/models", "/v1/chat/completions", "/v1/completions", "/"}


def files(name: str, target: str, more: str = "") -> dict[str, str]:
    spec = parse_spec(SPECS[name] + more, name=name)
    return {path: file.text for path, file in render_for(target, spec, make_plan(spec, 0)).files.items()}


def compose(name: str) -> dict[str, Any]:
    return dict(yaml.safe_load(files(name, "compose")["node-0/compose.yaml"])["services"])


@pytest.mark.parametrize("target", THERE)
@pytest.mark.parametrize("name", HEADS)
def test_the_engine_is_on_the_loopback_and_the_front_is_not(name: str, target: str) -> None:
    text = "\n".join(files(name, target).values())
    assert not re.search(r"--host\W+0\.0\.0\.0", text)

    assert set(re.findall(r"location (?:= )?(/\S*) {", text)) == PASSED
    assert text.count("0.0.0.0") == 1, "the front listens"


@pytest.mark.parametrize("target", THERE)
def test_no_front_where_nobody_asked_for_one(target: str) -> None:
    assert not any("nginx" in text for text in files("keyed", target).values())


def test_shell_and_docker_have_a_script_for_it() -> None:
    assert list(files("exposed", "shell")) == ["node-0/run.sh", "node-0/front.sh", "node-0/stop.sh"]
    run, front = files("exposed", "docker").values()
    assert '--publish "${MOONPAD_PORT_API}":"${MOONPAD_PORT_API}"' in run, "for the front, which shares its network"
    assert "--network container:moonpad-exposed-" in front
    assert "--publish" not in front
    assert "--mount" not in front
    assert "--network host" in files("sglang", "docker")["node-0/front.sh"]
    assert "node-1/front.sh" not in files("sglang", "docker")


def test_compose_publishes_the_port_of_the_front() -> None:
    services = compose("exposed")
    (engine,) = (service for name, service in services.items() if name != "front")
    assert engine["ports"] == ["${MOONPAD_PORT_API:-8000}:${MOONPAD_PORT_API:-8000}"]
    assert engine["command"][engine["command"].index("--port") + 1].endswith("_API:-8001}")
    assert services["front"]["network_mode"].removeprefix("service:") in services
    assert not {"volumes", "ports", "devices", "deploy"} & set(services["front"])
    assert compose("sglang")["front"]["network_mode"] == "host"


def test_a_pod_is_reached_through_its_front() -> None:
    (template,) = templates("exposed")
    engine, front = template["spec"]["containers"]
    assert "ports" not in engine
    assert front["ports"] == [{"name": "api", "containerPort": 8000}]
    assert front["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "runAsNonRoot": True,
    }
    for probe in ("readinessProbe", "livenessProbe"):
        assert "httpGet" not in engine[probe], "the kubelet asks from outside, where the engine does not listen"
        assert "http://127.0.0.1:8001/health" in engine[probe]["exec"]["command"]
    assert "volumeMounts" not in front
    leader, worker = templates("sglang")
    assert [len(workload["spec"]["containers"]) for workload in (leader, worker)] == [2, 1]


def test_its_image_can_be_pinned() -> None:
    more = f'front_image = "nginx@{DIGEST}"\n'
    assert "front_image" in files("exposed", "compose")["node-0/compose.yaml"], "how, where it is not"
    text = files("exposed", "compose", more)["node-0/compose.yaml"]
    assert f"image: nginx@{DIGEST}" in text
    assert "front_image" not in text


def test_the_firewall_leaves_the_front_open_and_knows_nothing_of_the_port_behind_it() -> None:
    text = files("sglang", "shell")["node-0/firewall.sh"]
    assert "tcp dport ${MOONPAD_PORT_API} accept" in text
    assert "_API}" not in text.replace("${MOONPAD_PORT_API}", "")
