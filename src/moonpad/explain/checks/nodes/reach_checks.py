"""Servers that nobody reaches, and names that an engine's register does not have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.options import option_set, values_of, versions
from moonpad.engines.foreign_names import EXPERTS_BY_VARIABLE, NO_METHODS
from moonpad.engines.host_expert_names import OLD_PROGRAMS
from moonpad.engines.value_checks import unresolved
from moonpad.explain.change_edits import with_value
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.dynamo.dynamo_workers import is_worker
from moonpad.explain.checks.models.other_families import is_of_own_build
from moonpad.explain.documents.installed_plugins import bringing_line
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import numbered
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.versions import since

_LOOPBACK: Final = ("127.0.0.1", "localhost")
_POD_PORT: Final = re.compile(r"[ \t]*(?:-[ \t]+)?[\"']?containerPort[\"']?:|[ \t]*readinessProbe:")
_RUN: Final = re.compile(r"^run:[ \t]*[|>]")
_RESOURCES: Final = re.compile(r"^resources:[ \t]*$")
_LONGEST: Final = 300
_MODES: Final = ("prefill", "decode")


def unreachable(case: Case) -> Iterator[Remark]:
    """Without --host some engines listen on the loopback alone, which ends at the container, the pod or the machine."""
    options, command, facts = option_set(case.engine.program, case.version or None), case.commands[0], case.engine.facts
    known = options.named("--host") if options else None
    if known is None or known.default not in _LOOPBACK or case.option("--host") is not None or case.open_ended:
        return
    node = case.first.node
    other_rank = node.node_rank not in (None, 0) or node.headless
    if command.program in OLD_PROGRAMS or other_rank or command.embedded or command.custom or facts.gguf_only:
        return
    if is_worker(command, case.script):
        return
    if any(name.endswith("_HOST") for name in command.env):
        return
    container, script = command.container, case.script
    by_host = container is None or container.value("--network") == "host"
    ports = [value for value in container.values("--publish") if value] if container is not None else []
    span = next(((low, high) for low, high in script.objects if low <= command.line <= high), None)
    opened = _opened_by_task(case)
    where = f"port {opened}, which the task opens, leads nowhere" if opened and by_host else ""
    if ports and not by_host:
        where = f"the published port {shortened(ports[0])} of the container leads nowhere"
    elif span is not None and any(_POD_PORT.match(text) for _, text in numbered(script, *span)):
        where = "probes, the service and other pods do not reach it"
    elif case.text("--disaggregation-mode") in _MODES and (node.nodes or 1) > 1:
        where = "a router on another machine does not reach it"
    if where:
        message = f"{case.engine.facts.title} listens on {known.default} by default: {where}"
        # Who publishes the port has said that it is to be reached.
        is_published = bool(opened) or (bool(ports) and not by_host)
        edits = (Edit(len(command.argv), 0, ("--host", "0.0.0.0")),) if is_published else ()  # noqa: S104
        finding = Finding(Severity.WARNING, Code.MISSING_FLAG, "--host", message, "add --host 0.0.0.0")
        yield Remark(finding, command=0, edits=edits)


def _opened_by_task(case: Case) -> str:
    """The server's port, where a task of SkyPilot opens it: `resources: {ports: 30000}` beside `run: |`."""
    port, lines = case.text("--port"), case.script.lines
    if not port or case.script.markdown:
        return ""
    case.script.budget.once("ports of a task", len(lines), "the text around its engine commands")
    is_task = is_in_lines(_RUN, lines, _LONGEST) and is_in_lines(_RESOURCES, lines, _LONGEST)
    opens = re.compile(rf"^[ \t]+(?:ports:[ \t]*|-[ \t]+)[\"']?{re.escape(port)}[\"']?[ \t]*(?:#.*)?$")
    return port if is_task and is_in_lines(opens, lines, _LONGEST) else ""


def loopback_in_container(case: Case) -> Iterator[Remark]:
    """`--host 127.0.0.1` behind an image whose port is published: Docker's bridge does not reach it there."""
    place, container = case.option("--host"), case.commands[0].container
    if place is None or container is None or case.commands[0].custom or place.value not in _LOOPBACK:
        return
    ports = [value for value in container.values("--publish") if value]
    if not ports or container.value("--network") or container.value("--net"):
        return
    message = f"{case.engine.facts.title} listens inside of the container alone: the published port "
    message += f"{shortened(ports[0])} leads nowhere"
    remedy = f"write {place.written} 0.0.0.0, and publish the port on 127.0.0.1 where others are not to reach it"
    edits = with_value(case.commands[0].argv, place.names, "0.0.0.0")  # noqa: S104
    yield make_remark(Severity.WARNING, Code.CONFLICT, place.written, message, remedy, at=place.index, edits=edits)


def quantization_name(case: Case) -> Iterator[Remark]:
    """A method of quantisation that the release does not register."""
    place = case.option("--quantization")
    if place is None or case.engine.command_line.build is not None or not isinstance(place.value, str):
        return
    given, options = place.value, option_set(case.engine.program, case.version or None)
    names = values_of(case.engine.program, case.version or None, "quantization")
    # The letters' case does not count: the configuration makes them small before it looks the name up.
    if not names or given.lower() in (*names, "none", "auto") or unresolved(given) or options is None:
        return
    if place.problem is not None or (case.version and not since(case.version, options.version)):
        return
    if any("plugin" in word.text.casefold() for word in (*case.commands[0].words, *case.commands[0].env.values())):
        return
    message = f"{case.engine.facts.title} {options.version} has no quantisation method {shortened(given)}"
    remedy = "leave it out: the method is read from the weights"
    never = given.casefold() in NO_METHODS and case.engine.name == EXPERTS_BY_VARIABLE
    others = _releases_with_method(case.engine.program, given.casefold())
    case.script.budget.work(len(case.script.lines), "what its text installs")
    if not never and not others and (line := bringing_line(given, case.script.lines)):
        message = f"{shortened(given)} is not a method of a release: {case.script.where(line)} brings a plugin of this "
        message += "name, which every process of the engine loads, on each machine"
        remedy = "install it on each machine, or in the image that all of them run"
        yield make_remark(Severity.NOTE, Code.INVALID_VALUE, "--quantization", message, remedy, at=place.index)
        return
    if not never and is_of_own_build(given.casefold(), case.engine):
        if build := case.commands[0].fork:
            message = f"{message}; {build} may have it"
            remedy = "keep it where the build has it"
            yield make_remark(Severity.NOTE, Code.INVALID_VALUE, "--quantization", message, remedy, at=place.index)
            return
        message = f"{message}, unless it is somebody's own build"
    elif not case.version and others:
        message = f"{message}; {others[0]} to {others[-1]} have it: --engine-version says which is meant"
    severity = Severity.ERROR if never else Severity.WARNING
    quantised = case.checkpoint is not None and bool(case.checkpoint.quantization.method)
    edits = [Edit(place.index, place.length, ())] if never and quantised else []
    code, where = Code.INVALID_VALUE, "--quantization"
    yield make_remark(severity, code, where, message, remedy, at=place.index, edits=edits)


def _releases_with_method(program: str, method: str) -> list[str]:
    return [release for release in versions(program) if method in values_of(program, release, "quantization")]
