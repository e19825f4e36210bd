"""Compose's own schema, what its interpolation makes of what we write, and what the files promise."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given, settings

from moonpad.render.compose import render_compose
from tests.unit.render.deployments import SPECS, contained, of_argv
from tests.unit.render.test_kubernetes import HOSTILE

COMPOSE = json.loads((Path(__file__).parent / "schemas" / "compose.json").read_text())


def service(name: str, node: str = "node-0") -> dict[str, Any]:
    document = yaml.safe_load(render_compose(contained(name))[f"{node}/compose.yaml"].text)
    (engine_service,) = (service for name, service in document["services"].items() if name != "front")
    return dict(engine_service)


@pytest.mark.parametrize("name", SPECS)
def test_schema_and_the_same_bytes(name: str) -> None:
    files = render_compose(contained(name))
    assert files == render_compose(contained(name))
    for file in files.values():
        jsonschema.validate(yaml.safe_load(file.text), COMPOSE)


def test_the_schema_can_refuse() -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"services": {"a": service("tiny") | {"comand": []}}}, COMPOSE)


def test_one_file_a_node() -> None:
    assert list(render_compose(contained("data-parallel"))) == [f"node-{rank}/compose.yaml" for rank in range(4)]
    command = service("data-parallel", "node-3")["command"]
    assert command[command.index("--data-parallel-start-rank") + 1] == "24"
    assert "healthcheck" not in service("data-parallel", "node-3")


def test_who_is_reached_from_where() -> None:
    """Faults 61 and 62."""
    assert service("keyed")["ports"] == ["127.0.0.1:${MOONPAD_PORT_API:-8000}:${MOONPAD_PORT_API:-8000}"]
    assert service("exposed")["ports"] == ["${MOONPAD_PORT_API:-8000}:${MOONPAD_PORT_API:-8000}"]
    head = service("two-nodes")
    assert (head["network_mode"], "ports" in head) == ("host", False)
    assert head["command"][head["command"].index("--host") + 1] == "127.0.0.1", (
        "the host's network is no container's own"
    )
    assert not any("privileged" in service(name) for name in SPECS)


def test_devices_and_the_key() -> None:
    (gpus,) = service("keyed")["deploy"]["resources"]["reservations"]["devices"]
    assert gpus == {"driver": "nvidia", "count": 8, "capabilities": ["gpu"]}
    assert service("exposed")["devices"] == ["/dev/kfd", "/dev/dri"]
    for name in ("keyed", "sglang"):
        env = service(name)["environment"]
        assert env["MOONPAD_API_KEY"].startswith("${MOONPAD_API_KEY:?")
    assert service("two-nodes")["restart"] == "no"


def interpolated(text: str, env: Mapping[str, str]) -> str:
    """Compose's interpolation, from its documentation: `$$` is a dollar, `${NAME:-default}`, `${NAME:?complaint}`
    (https://docs.docker.com/reference/compose-file/interpolation/). A dollar of another kind is a mistake there."""

    def value(match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "$"
        assert match["name"], f"a lone dollar in {text!r}"
        return env.get(match["name"]) or match["default"]

    return re.sub(r"\$\$|\$\{(?P<name>\w+):(?:-(?P<default>[^}]*)|\?[^}]*)\}|\$", value, text)


@settings(max_examples=150, deadline=None)
@given(HOSTILE, HOSTILE)
def test_no_text_is_interpreted(word: str, value: str) -> None:
    """Fault 51: YAML, the interpolation, and nothing else stands between our text and the engine."""
    files = render_compose(of_argv(contained("keyed"), "serve", word, A=value))
    document = yaml.safe_load(files["node-0/compose.yaml"].text)
    assert set(document) == {"name", "services"}
    (engine_service,) = document["services"].values()
    assert [interpolated(each, {"MOONPAD_API_KEY": "s3"}) for each in engine_service["command"]] == ["serve", word]
    assert interpolated(engine_service["environment"]["A"], {}) == value
