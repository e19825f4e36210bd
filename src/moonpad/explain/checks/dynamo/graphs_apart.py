"""A frontend and its workers in two graphs of services, each of which the operator gives a namespace of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.surrounding_names import GRAPH
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import PodObject, fields_of, inner, items_of, pod_objects, text_of
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity

_KINDS: Final = ("componentType", "type")
_FRONT: Final = "frontend"
_WORKERS: Final = frozenset({"worker", "prefill", "decode"})
_OTHERWISE: Final = re.compile(
    r"(?i)dynamo[_-]?namespace|dyn_namespace|--namespace|namespace-prefix|global[_-]router|DeploymentRequest"
)
"""Words of a text that says by itself in which namespace they meet."""


def graphs_apart(case: Case) -> Iterator[Remark]:
    """One graph has the frontend alone, and another one the workers alone."""
    script = case.script
    if not script.objects or not is_first_server(case.commands, script):
        return
    graphs = [each for each in pod_objects(script) if each.kind == GRAPH]
    names = [text_of(inner(each.fields, "metadata", "name")) for each in graphs]
    if len(graphs) < 2 or len(set(names)) != len(names) or any(each.templated for each in graphs):
        return
    kinds = [_kinds(each) for each in graphs]
    fronts = [name for name, kind in zip(names, kinds, strict=True) if _FRONT in kind]
    if len(fronts) != 1 or any(_FRONT in kind and kind & _WORKERS for kind in kinds):
        return
    script.budget.work(len(script.lines), "its graphs")
    if any(_OTHERWISE.search(line) for line in script.lines):
        return
    for each, name, kind in zip(graphs, names, kinds, strict=True):
        if kind & _WORKERS:
            message = (
                f"{script.where(each.first)}: the workers of {shortened(name, 40)} stand in another {GRAPH} than the "
                f"frontend, {shortened(fronts[0], 40)}: the operator gives each a namespace of its own, the frontend "
                "looks in its own alone, and lists no model"
            )
            remedy = f"put the frontend and its workers into one {GRAPH}"
            remark = make_remark(Severity.WARNING, Code.CONFLICT, "metadata: name", message, remedy)
            yield Remark(remark.finding, command=None)
            return


def _kinds(each: PodObject) -> frozenset[str]:
    """Of its services, as a mapping or as a list."""
    services = inner(each.fields, "spec", "services")
    nodes = [*fields_of(services).values(), *items_of(inner(each.fields, "spec", "components"))]
    found = (text_of(fields_of(node).get(key)).lower() for node in nodes for key in _KINDS)
    return frozenset(kind for kind in found if kind)
