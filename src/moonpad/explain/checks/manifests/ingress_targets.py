"""Where an Ingress sends, against the Services of the same text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from yaml import MappingNode, Node, SequenceNode

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import (
    PodObject,
    fields_of,
    inner,
    items_of,
    number_of,
    pod_objects,
    text_of,
)
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_DEEPEST: Final = 12


def target_of_ingress(case: Case) -> Iterator[Remark]:
    """A Service of another name than all of the text, or a port that it does not have."""
    if not case.script.objects or not is_first_server(case.commands, case.script):
        return
    objects = pod_objects(case.script)
    services = {_name(each): each for each in objects if each.kind == "Service" and not each.templated}
    if not services or any(each.templated for each in objects):
        return
    for ingress in objects:
        if ingress.kind != "Ingress":
            continue
        targets = list(_targets(inner(ingress.fields, "spec"), 0))
        for service in targets:
            fields = fields_of(service)
            name, where = text_of(fields.get("name")), case.script.where(ingress.offset + service.start_mark.line)
            known = services.get(name)
            port = number_of(inner(fields, "port", "number"))
            if known is None and name and len(services) == len(targets) == 1:
                (only,) = services
                message = f"{where}: the Ingress sends to the Service {shortened(name, 40)}, and the one here is "
                told = "service", f"{message}{shortened(only, 40)}: 503", f"write {shortened(only, 40)}"
            elif known is not None and port is not None and (ports := _ports(known)) and port not in ports:
                message = f"{where}: the Ingress sends to port {port} of the Service {shortened(name, 40)}, which has "
                told = "port", f"{message}{', '.join(map(str, sorted(ports)))}: 503", f"write number: {min(ports)}"
            else:
                continue
            remark = make_remark(Severity.WARNING, Code.CONFLICT, f"Ingress: {told[0]}", told[1], told[2])
            yield replace(remark, command=None)
            return


def _targets(node: Node | None, depth: int) -> Iterator[MappingNode]:
    """What stands behind each `service`."""
    if depth > _DEEPEST:
        return
    if isinstance(node, MappingNode):
        for key, value in node.value:
            if text_of(key) == "service" and isinstance(value, MappingNode):
                yield value
            else:
                yield from _targets(value, depth + 1)
    elif isinstance(node, SequenceNode):
        for item in node.value:
            yield from _targets(item, depth + 1)


def _name(each: PodObject) -> str:
    return text_of(inner(each.fields, "metadata", "name"))


def _ports(service: PodObject) -> set[int]:
    """Nothing where one of them is not a number."""
    items = items_of(inner(service.fields, "spec", "ports"))
    numbers = [number_of(fields_of(item).get("port")) for item in items]
    return {number for number in numbers if number is not None} if None not in numbers else set()
