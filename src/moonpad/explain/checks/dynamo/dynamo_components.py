"""Services of a DynamoGraphDeployment: what they are called, and the claims that they mount."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from yaml import Node

from moonpad.engines.dynamo_names import GONE_OPTIONS
from moonpad.engines.surrounding_names import GRAPH
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import (
    Fields,
    PodObject,
    fields_of,
    inner,
    items_of,
    pod_objects,
    text_of,
)
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity

_KIND: Final = "componentType"
_WORKERS: Final = ("worker", "prefill", "decode")
_NO_WORKERS: Final = ("main", "frontend", "planner", "default")
_MODULE: Final = re.compile(rf"\bdynamo\.(?:{'|'.join(GONE_OPTIONS)})\b(?!\.)")
_LINES: Final = 400


def worker_of_another_kind(case: Case) -> Iterator[Remark]:
    """`componentType: main` around a command that is a worker's."""
    for each, services in _graphs(case):
        for name, service in services.items():
            kind = fields_of(service).get(_KIND)
            if text_of(kind) not in _NO_WORKERS or kind is None or not _runs_worker(case, each, service):
                continue
            line = case.script.where(each.offset + kind.start_mark.line)
            message = f"{line}: {shortened(name, 40)} runs a worker, and {_KIND} {text_of(kind)} is none: the operator "
            message += "gives it neither a worker's ports and probes nor its place among the endpoints"
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, _KIND, message, f"write {_KIND}: worker")
            yield Remark(remark.finding, command=None)
            return


def worker_without_volume(case: Case) -> Iterator[Remark]:
    """One worker mounts the claim of the weights and another does not."""
    for each, services in _graphs(case):
        claims = {text_of(fields_of(claim).get("name")) for claim in items_of(inner(each.fields, "spec", "pvcs"))}
        workers = {
            name: fields_of(node) for name, node in services.items() if text_of(fields_of(node).get(_KIND)) in _WORKERS
        }
        mounted = {name: _mounts(fields) & claims for name, fields in workers.items()}
        common = set[str]().union(*mounted.values()) if mounted else set[str]()
        for name, fields in workers.items():
            pod = fields_of(fields.get("extraPodSpec"))
            if not common or mounted[name] or pod.get("volumes") is not None or not _runs_worker(case, each, fields):
                continue
            line = case.script.where(each.offset + services[name].start_mark.line)
            message = f"{line}: the worker {shortened(name, 40)} mounts nothing, and another one mounts "
            message += (
                f"{shortened(min(common), 40)}: what lies there is not in this pod, and it downloads the model by "
            )
            message += "itself, or does not find it"
            remedy = "give it the volumeMounts of the other one"
            remark = make_remark(Severity.WARNING, Code.MISSING_FLAG, "volumeMounts", message, remedy)
            yield Remark(remark.finding, command=None)
            return


def _graphs(case: Case) -> Iterator[tuple[PodObject, Mapping[str, Node]]]:
    if not is_first_server(case.commands, case.script):
        return
    for each in pod_objects(case.script):
        if each.kind == GRAPH and not each.templated:
            yield each, fields_of(inner(each.fields, "spec", "services"))


def _mounts(fields: Fields) -> set[str]:
    return {text_of(fields_of(mount).get("name")) for mount in items_of(fields.get("volumeMounts"))}


def _runs_worker(case: Case, each: PodObject, service: Node | Fields) -> bool:
    nodes = [service] if isinstance(service, Node) else [node for node in service.values() if isinstance(node, Node)]
    first = min((node.start_mark.line for node in nodes), default=0)
    last = max((node.end_mark.line for node in nodes), default=0)
    case.script.budget.work(min(last - first, _LINES), "the objects of its YAML")
    lines = case.script.lines[each.offset + first - 1 : each.offset + min(last, first + _LINES)]
    return any(_MODULE.search(line) for line in lines)
