"""Probes of Kubernetes that ask the engine at an address where none of the engines answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import surrounding_names as around
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import fields_of, items_of, own_container, text_of
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")
_NOWHERE: Final = re.compile(
    r"/(?:healthz|livez?|readyz?|liveness|readiness|healthcheck|health/(?:live|ready)|status)/?"
)
"""What other servers answer at: the engines of the catalogue have /health."""


def probe_path(case: Case) -> Iterator[Remark]:
    """Of the container whose command this is, and of the port that the engine listens on."""
    found = own_container(case)
    if found is None:
        return
    _, container, _ = found
    named = [fields_of(each) for each in items_of(container.get("ports"))]
    ports = {text_of(each.get("name")): text_of(each.get("containerPort")) for each in named}
    own = str(case.first.serving.port or case.engine.command_line.port)
    for name in _PROBES:
        get = fields_of(fields_of(container.get(name)).get("httpGet"))
        path, port = text_of(get.get("path")), text_of(get.get("port"))
        if is_nowhere(case, path) and ports.get(port, port) == own:
            message = f"{name} asks for {shortened(path)}, where {case.engine.facts.title} does not answer (404)"
            if name != "readinessProbe":
                message += ": the container is killed and started again"
            yield make_remark(Severity.WARNING, Code.INVALID_VALUE, f"path: {path}", message, "write path: /health")


def is_nowhere(case: Case, path: str) -> bool:
    """Whether the engine answers an address by 404."""
    other = around.NO_HEALTH.get(case.base)
    return _NOWHERE.fullmatch(path) is not None or (other is not None and other.fullmatch(path) is not None)
