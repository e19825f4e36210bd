"""Groups of pods with a leader and workers: the variables that they get, and a Service that takes the workers in."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import PodObject, fields_of, inner, pod_objects, text_of
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server, numbered
from moonpad.values.finding import Code, Severity

_KIND: Final = "LeaderWorkerSet"
_GIVEN: Final = ("LWS_LEADER_ADDRESS", "LWS_GROUP_SIZE", "LWS_WORKER_INDEX")
_USED: Final = re.compile(r"\$[({]?(?P<name>LWS_[A-Z_]{1,40})(?![A-Za-z0-9])")
_SET: Final = re.compile(
    r"(?:name:[ \t]*[\"']?|export[ ]+|(?<![\w$({]))(?P<name>LWS_[A-Z_]{1,40})[\"']?(?:=|[ \t,}]*$|,)"
)
_ANSWERS_NOT: Final = re.compile(r"--headless|\bray start\b|--ray[-_]address|--node[-_]rank|--dist-init-addr")
"""What a worker is started with that answers no requests itself."""
_OF_SET: Final = "leaderworkerset.sigs.k8s.io/name"
_COMMENT: Final = re.compile(r"\s*#")
Labels = Mapping[str, str]


def variables_of_set(case: Case) -> Iterator[Remark]:
    """`$(LWS_WORKER_IDX)`, which no pod of the group gets."""
    script = case.script
    if not script.objects or not is_first_server(case.commands, script):
        return
    spans = [(each.first, each.last) for each in pod_objects(script) if each.kind == _KIND and not each.templated]
    if not spans:
        return
    lines = [(at, text) for at, text in numbered(script, 1, len(script.lines)) if not _COMMENT.match(text)]
    known = {*_GIVEN} | {match["name"] for _, text in lines for match in _SET.finditer(text)}
    for number, text in lines:
        if not any(low <= number <= high for low, high in spans):
            continue
        for match in _USED.finditer(text):
            name = match["name"]
            if name in known:
                continue
            near = difflib.get_close_matches(name, _GIVEN, n=1, cutoff=0)[0]
            message = (
                f"{script.where(number)}: a pod of the group gets {', '.join(_GIVEN[:2])} and {_GIVEN[2]}, and no "
            )
            message += f"{name}: it stays as it is written, or is empty"
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, name, message, f"write {near}")
            yield Remark(remark.finding, command=None)
            return


def workers_behind_service(case: Case) -> Iterator[Remark]:
    """A Service whose labels the workers have as well: they answer nothing, and every other request is refused."""
    script = case.script
    if not script.objects or not is_first_server(case.commands, script):
        return
    objects = pod_objects(script)
    groups = [each for each in objects if each.kind == _KIND and not each.templated]
    if len(groups) != 1:
        return
    labels, name = _labels_of_workers(groups[0]), text_of(inner(groups[0].fields, "metadata", "name"))
    worker = inner(groups[0].fields, "spec", "leaderWorkerTemplate", "workerTemplate")
    if worker is None or not name or inner(groups[0].fields, "spec", "leaderWorkerTemplate", "leaderTemplate") is None:
        return
    first, last = groups[0].offset + worker.start_mark.line, groups[0].offset + worker.end_mark.line
    if not any(_ANSWERS_NOT.search(text) for _, text in numbered(script, first, last)):
        return
    for service in objects:
        asked = {key: text_of(node) for key, node in fields_of(inner(service.fields, "spec", "selector")).items()}
        if service.kind != "Service" or service.templated or not asked:
            continue
        if text_of(inner(service.fields, "spec", "clusterIP")) == "None":
            continue
        if not asked.items() <= {**labels, _OF_SET: name}.items():
            continue
        node = inner(service.fields, "spec", "selector")
        where = script.where(service.offset + (node.start_mark.line if node is not None else 0))
        message = f"{where}: the workers have these labels too, and answer no requests: the Service sends to them as "
        message += "well, and those requests are refused"
        remedy = 'add a label that the leader alone has, leaderworkerset.sigs.k8s.io/worker-index: "0"'
        remark = make_remark(Severity.WARNING, Code.CONFLICT, "spec.selector", message, remedy)
        yield Remark(remark.finding, command=None)
        return


def _labels_of_workers(group: PodObject) -> Labels:
    template = fields_of(inner(group.fields, "spec", "leaderWorkerTemplate", "workerTemplate"))
    labels = fields_of(inner(template, "metadata", "labels"))
    return {key: text_of(node) for key, node in labels.items()}
