"""Services of a compose file that are waited for until they are healthy, and variables in two forms at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from yaml import MappingNode, Node

from moonpad.engines.image_names import WITHOUT_HEALTHCHECK
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.containers.compose_words import compose_files
from moonpad.explain.checks.manifests.pod_objects import fields_of, items_of, text_of
from moonpad.explain.commands import Script
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity

_HEALTHY: Final = "service_healthy"
_PULLED: Final = ("build", "extends", "<<")
_Said = tuple[str, str, str, Node]


def compose_health(case: Case) -> Iterator[Remark]:
    """`depends_on: {engine: {condition: service_healthy}}` where nothing says how the health is found."""
    if is_first_server(case.commands, case.script):
        yield from compose_health_in(case.script)


def compose_health_in(script: Script) -> Iterator[Remark]:
    """One remark of each file."""
    if script.markdown:
        return
    for first, _, services in compose_files(script):
        for where, message, remedy, node in _found(services):
            line = script.where(first + node.start_mark.line)
            remark = make_remark(Severity.WARNING, Code.CONFLICT, where, f"{line}: {message}", remedy)
            yield Remark(remark.finding, command=None)
            break


def _found(services: Mapping[str, Mapping[str, Node]]) -> Iterator[_Said]:
    for fields in services.values():
        for name, node in fields_of(fields.get("depends_on")).items():
            asked = services.get(name)
            if text_of(fields_of(node).get("condition")) == _HEALTHY and asked is not None and _has_none(asked):
                message = (
                    f"{shortened(name, 40)} has no healthcheck, and its image brings none: Compose ends by 'has no "
                    "healthcheck configured'"
                )
                yield (
                    "depends_on",
                    message,
                    f"give {shortened(name, 40)} a healthcheck, or wait for service_started",
                    node,
                )
    for fields in services.values():
        for item in items_of(fields.get("environment")):
            if isinstance(item, MappingNode) and item.value:
                key = text_of(item.value[0][0])
                message = (
                    f"{shortened(key, 40)} is a mapping in the list of environment: Compose refuses the file (must "
                    "be a string)"
                )
                yield "environment", message, f"write - {shortened(key, 40)}=…", item


def _has_none(fields: Mapping[str, Node]) -> bool:
    checked = fields_of(fields.get("healthcheck"))
    if text_of(checked.get("disable")) == "true":
        return True
    if "healthcheck" in fields or any(key in fields for key in _PULLED):
        return False
    return WITHOUT_HEALTHCHECK.fullmatch(text_of(fields.get("image"))) is not None
