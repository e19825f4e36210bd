"""Names in a pod and in a graph of services that have to be one of a kind, or the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from yaml import Node

from moonpad.engines import surrounding_names as around
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import (
    Fields,
    fields_of,
    inner,
    items_of,
    object_of,
    own_container,
    pod_objects,
)
from moonpad.explain.checks.manifests.pod_objects import text_of as text
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_SIDES: Final = {"prefill": re.compile(r"prefill", re.IGNORECASE), "decode": re.compile(r"decode", re.IGNORECASE)}
_SPACE: Final = "dynamoNamespace"
_OPEN: Final = re.compile(r"[<>{}$]")


def port_name_twice(case: Case) -> Iterator[Remark]:
    """Two ports of one container with one name."""
    found = own_container(case)
    if found is None or found[0].templated:
        return
    holder, container, _ = found
    known: dict[str, Node | None] = {}
    for each in items_of(container.get("ports")):
        node = fields_of(each).get("name")
        name = text(node)
        if name and name in known and node is not None:
            where = case.script.where(holder.offset + node.start_mark.line)
            message = f"{where}: a second port of the container is called {shortened(name, 40)}: Kubernetes refuses "
            message += "the pod (Duplicate value), and a probe could not say which is meant"
            remark = make_remark(Severity.WARNING, Code.CONFLICT, "ports: name", message, "give it a name of its own")
            yield Remark(remark.finding, command=None)
            return
        known[name] = node


def spaces_of_one_graph(case: Case) -> Iterator[Remark]:
    """The workers for prefill and for decode of one graph, registered in two namespaces."""
    if not case.script.objects or not (objects := pod_objects(case.script)):
        return
    holder = object_of(case, objects)
    if holder is None or holder.kind != around.GRAPH or holder.templated:
        return
    spaces: dict[str, tuple[str, Node]] = {}
    for name, node in fields_of(inner(holder.fields, "spec", "services")).items():
        service = fields_of(node)
        space = service.get(_SPACE)
        side = next((side for side, sign in _SIDES.items() if sign.search(name)), "")
        if not side or space is None or _OPEN.search(text(space)) or side in spaces:
            continue
        spaces[side] = text(space), space
    if len(spaces) < len(_SIDES) or spaces["prefill"][0] == spaces["decode"][0]:
        return
    (mine, node), (other, _) = spaces["prefill"], spaces["decode"]
    where = case.script.where(holder.offset + node.start_mark.line)
    message = f"{where}: the workers for prefill register in {shortened(mine, 50)}, and those for decode in "
    message += f"{shortened(other, 50)}: each looks in its own namespace alone, and they never meet"
    remark = make_remark(Severity.WARNING, Code.CONFLICT, _SPACE, message, "write the same namespace in all services")
    if holder.first <= case.commands[0].line and _is_of_first(case, node, holder.fields, holder.offset):
        yield Remark(remark.finding, command=None)


def _is_of_first(case: Case, node: Node, fields: Fields, offset: int) -> bool:
    """Whether the command is of the service that the remark is about, so that it is said once."""
    line = case.commands[0].line - offset
    for service in fields_of(inner(fields, "spec", "services")).values():
        if service.start_mark.line <= node.start_mark.line <= service.end_mark.line:
            return service.start_mark.line <= line <= service.end_mark.line
    return False
