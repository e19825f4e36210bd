"""A Service beside the pods of an engine where a chart's templates keep both from being read as YAML, or where the pods
are those of a LeaderWorkerSet: its port against the one of the engine."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_ports import BESIDE, OTHER_PORTS
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity

_ENDS: Final = re.compile(r"[ \t]*(?:---|`{3,}|~{3,})[ \t]*(?:#.*|\w*)?")
_KIND: Final = re.compile(r"(?P<blanks>[ \t]*)kind:[ \t]*(?P<kind>\w+)[ \t]*(?:#.*)?")
_WORKLOADS: Final = frozenset({"Deployment", "StatefulSet", "DaemonSet", "Pod", "LeaderWorkerSet"})
_PORT: Final = re.compile(
    r"[ \t]*(?:-[ \t]+)?(?P<key>targetPort|port):[ \t]*['\"]?(?P<port>\d{2,5})['\"]?[ \t]*(?:#.*)?"
)
_ANY_PORT: Final = re.compile(r"[ \t]*(?:-[ \t]+)?targetPort:")
_SELECTED: Final = re.compile(r"[ \t]+(?P<key>[\w./-]+):[ \t]*(?P<value>\S.*?)[ \t]*")
_OF_GROUP: Final = "leaderworkerset.sigs.k8s.io/"
_HEADLESS: Final = re.compile(r"[ \t]*clusterIP:[ \t]*['\"]?None['\"]?[ \t]*")
_LONGEST: Final = 500


class _Object(NamedTuple):
    """A document of the text by its lines."""

    kind: str
    first: int
    lines: Sequence[str]


def chart_port(case: Case) -> Iterator[Remark]:
    """The only Service of a text, and the only pods."""
    command, script = case.commands[0], case.script
    port, place = case.first.serving.port, case.option("--port")
    if place is None or port is None or not str(place.value).isdigit() or is_fragment(command):
        return
    if any(case.option(flag) is not None for flag in OTHER_PORTS if flag not in ("--nnodes", "--disaggregation-mode")):
        return
    script.budget.once("objects of charts", len(script.lines), "the objects of its YAML")
    objects = _objects(script.lines, script.origins)
    pods = [each for each in objects if each.kind in _WORKLOADS]
    services = [each for each in objects if each.kind == "Service" and not any(map(_HEADLESS.fullmatch, each.lines))]
    if len(pods) != 1 or len(services) != 1:
        return
    holder, service = pods[0], services[0]
    inside = holder.first <= command.line < holder.first + len(holder.lines)
    templated = any("{{" in line for line in (*holder.lines, *service.lines))
    if not inside or any(BESIDE.search(line) for line in holder.lines) or not _chooses(service, holder):
        return
    if not templated and holder.kind != "LeaderWorkerSet":
        return  # read as YAML, and judged there
    sent = [(at, match) for at, line in enumerate(service.lines) if (match := _PORT.fullmatch(line))]
    targets = [(at, match) for at, match in sent if match["key"] == "targetPort"]
    if not targets and any(_ANY_PORT.match(line) for line in service.lines):
        return
    chosen = targets or sent
    if not chosen or any(int(match["port"]) == port or _has(holder, match["port"]) for _, match in chosen):
        return
    at, match = chosen[0]
    message = f"{script.where(service.first + at)}: the Service sends to port {match['port']} of the pods, and "
    message += f"{case.engine.facts.title} listens on {port}"
    remedy = f"write targetPort: {port}, or start it with --port {match['port']}"
    remark = make_remark(Severity.WARNING, Code.CONFLICT, match["key"], message, remedy)
    yield Remark(remark.finding, command=None)


@lru_cache(maxsize=2)  # each engine command of a text asks
def _objects(lines: tuple[str, ...], origins: tuple[tuple[str, int], ...]) -> tuple[_Object, ...]:
    """Of all files, which begin at `origins`."""
    found, first, held = list[_Object](), 1, list[str]()
    starts = {line for _, line in origins}
    for number, line in enumerate((*lines, "---"), 1):
        ended = _ENDS.fullmatch(line[:_LONGEST]) is not None
        if not ended and number not in starts:
            held.append(line[:_LONGEST])
            continue
        kinds = [match for text in held if (match := _KIND.fullmatch(text))]
        outer = min(kinds, key=lambda match: len(match["blanks"]), default=None)
        if outer is not None:
            found.append(_Object(outer["kind"], first, tuple(held)))
        first, held = (number + 1, []) if ended else (number, [line[:_LONGEST]])
    return tuple(found)


def _chooses(service: _Object, holder: _Object) -> bool:
    """Whether each label that the Service asks for stands in the pods, as it is written."""
    start = next((at for at, line in enumerate(service.lines) if line.strip() == "selector:"), None)
    if start is None:
        return False
    depth = len(service.lines[start]) - len(service.lines[start].lstrip())
    asked = list[tuple[str, str]]()
    for line in service.lines[start + 1 :]:
        if line.strip() and len(line) - len(line.lstrip()) <= depth:
            break
        if match := _SELECTED.fullmatch(line):
            asked.append((match["key"], match["value"].strip("'\"")))
    labels = {
        (match["key"], match["value"].strip("'\"")) for line in holder.lines if (match := _SELECTED.fullmatch(line))
    }
    own = [pair for pair in asked if not pair[0].startswith(_OF_GROUP)]
    return bool(asked) and {*own} <= labels and (bool(own) or holder.kind == "LeaderWorkerSet")


def _has(holder: _Object, port: str) -> bool:
    return any(re.search(rf"(?<![\d.]){port}(?![\d.])", line) for line in holder.lines)
