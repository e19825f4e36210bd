"""Probes of Kubernetes that ask the engine at an address where none of the engines answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

import yaml
from yaml import MappingNode, Node, ScalarNode, SequenceNode

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")
_NOWHERE: Final = re.compile(
    r"/(?:healthz|livez?|readyz?|liveness|readiness|healthcheck|health/(?:live|ready)|status)/?"
)
"""What other servers answer at: the engines of the catalogue have /health."""
_DEEPEST: Final = 40
_LARGEST: Final = 200_000


def probe_path(case: Case) -> Iterator[Remark]:
    """Of the container whose command this is, and of the port that the engine listens on."""
    script, line = case.script, case.commands[0].line
    span = next(((low, high) for low, high in script.objects if low <= line <= high), None)
    if span is None:
        return
    text = "\n".join(script.lines[span[0] - 1 : span[1]])
    script.budget.work(len(text) // 100, "its YAML")
    if "httpGet" not in text or not _NOWHERE.search(text) or len(text) > _LARGEST:
        return
    script.budget.work(len(text) // 4, "its YAML")
    try:
        documents = list(yaml.compose_all(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    except (yaml.YAMLError, RecursionError):
        return
    place = line - span[0]
    for document in documents:
        for container in _containers(document, place, 0):
            yield from _of_container(container, case)


def _containers(node: Node | None, place: int, depth: int) -> Iterator[Mapping[str, Node]]:
    """The innermost mappings with an image and a command around a line."""
    if node is None or depth > _DEEPEST or not node.start_mark.line <= place <= node.end_mark.line:
        return
    if isinstance(node, SequenceNode):
        for item in node.value:
            yield from _containers(item, place, depth + 1)
    elif isinstance(node, MappingNode):
        fields = {key.value: value for key, value in node.value if isinstance(key, ScalarNode)}
        inner = [found for value in fields.values() for found in _containers(value, place, depth + 1)]
        if inner:
            yield from inner
        elif "image" in fields and ("args" in fields or "command" in fields):
            yield fields


def _of_container(fields: Mapping[str, Node], case: Case) -> Iterator[Remark]:
    ports, own = _named_ports(fields.get("ports")), case.first.serving.port or case.engine.command_line.port
    for name in _PROBES:
        get = _field(fields.get(name), "httpGet")
        path, port = (
            node.value if isinstance(node, ScalarNode) else "" for node in (_field(get, "path"), _field(get, "port"))
        )
        if _NOWHERE.fullmatch(path) and ports.get(port, port) == str(own):
            message = f"{name} asks for {shortened(path)}, where {case.engine.facts.title} does not answer (404)"
            if name != "readinessProbe":
                message += ": the container is killed and started again"
            yield make_remark(Severity.WARNING, Code.INVALID_VALUE, f"path: {path}", message, "write path: /health")


def _named_ports(node: Node | None) -> dict[str, str]:
    found = {}
    for item in node.value if isinstance(node, SequenceNode) else ():
        name, number = _field(item, "name"), _field(item, "containerPort")
        if isinstance(name, ScalarNode) and isinstance(number, ScalarNode):
            found[name.value] = number.value
    return found


def _field(node: Node | None, name: str) -> Node | None:
    if not isinstance(node, MappingNode):
        return None
    return next((value for key, value in node.value if isinstance(key, ScalarNode) and key.value == name), None)
