"""Services of a compose file that are waited for until they are healthy, and variables in two forms at once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from yaml import MappingNode, Node

from moonpad.engines.image_names import WITHOUT_HEALTHCHECK
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.containers.compose_files import compose_files
from moonpad.explain.checks.load_time import load_of
from moonpad.explain.checks.manifests.pod_objects import fields_of, items_of, text_of
from moonpad.explain.checks.manifests.probe_paths import is_nowhere
from moonpad.explain.commands import Script
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity

_SPAN: Final = re.compile(r"(?:(?P<h>\d{1,4})h)?(?:(?P<m>\d{1,5})m(?!s))?(?:(?P<s>\d{1,6}(?:\.\d+)?)s)?")
_SPANS: Final = (("start_period", "0s"), ("interval", "30s"))
"""What Docker takes where nothing is written: https://docs.docker.com/reference/dockerfile/#healthcheck."""
_URL: Final = re.compile(
    r"https?://(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])(?::(?P<port>\d{2,5}))?(?P<path>/[\w./-]*)?(?![\w:$])"
)
_MOST_LINES: Final = 3_000
_HEALTHY: Final = "service_healthy"
_PULLED: Final = ("build", "extends", "<<")
_Said = tuple[str, str, str, Node]


def compose_health(case: Case) -> Iterator[Remark]:
    """`depends_on: {engine: {condition: service_healthy}}` where nothing says how the health is found."""
    if is_first_server(case.commands, case.script):
        yield from compose_health_in(case.script)
    yield from _patience(case)
    yield from _asked_elsewhere(case)


def _patience(case: Case) -> Iterator[Remark]:
    """A healthcheck that gives the engine up before its weights can be read, and a service that waits for it."""
    load = load_of(case) if not case.script.markdown and len(case.script.lines) < _MOST_LINES else None
    if load is None:
        return
    for first, _, services in compose_files(case.script):
        waited = {name for fields in services.values() for name in _waited_for(fields)}
        for name, fields in services.items():
            check = fields.get("healthcheck")
            if check is None or name not in waited or not _is_own(fields, case.commands[0].line - first):
                continue
            lasts = _lasts(fields_of(check))
            if lasts is None or lasts >= load.needed:
                continue
            line = case.script.where(first + check.start_mark.line)
            message = f"{line}: healthcheck gives up {lasts:,.0f} s after the start, and {load.words}: Compose does "
            message += "not start what waits for it"
            remedy = f"write start_period: {-(-round(4 * load.needed) // 60)}m"
            remark = make_remark(Severity.WARNING, Code.SUBOPTIMAL, "healthcheck", message, remedy)
            yield Remark(remark.finding, command=None)
            return


def _asked_elsewhere(case: Case) -> Iterator[Remark]:
    """A healthcheck of the engine's own container that asks where the engine does not answer."""
    command, port = case.commands[0], case.first.serving.port
    container = command.container
    if container is None or command.custom or is_fragment(command) or command.wrappers[-1] is not container:
        return
    if port is None:
        port = None if case.option("--port") is not None or case.open_ended else case.engine.command_line.port
    for line, text in _health_commands(case):
        for match in _URL.finditer(text):
            given = match["port"] or "80"
            where = f"{case.script.where(line)}: " if line else ""
            title = case.engine.facts.title
            if port is not None and given != str(port):
                message = f"{where}the healthcheck asks at port {given}, and {title} listens on {port} in the container"
                remedy = f"ask at http://localhost:{port}{shortened(match['path'] or '/health', 40)}"
            elif is_nowhere(case, match["path"] or ""):
                message = f"{where}the healthcheck asks for {shortened(match['path'], 40)}, where {title} does not "
                message += "answer (404)"
                remedy = "ask for /health"
            else:
                continue
            remark = make_remark(
                Severity.WARNING, Code.INVALID_VALUE, "healthcheck", f"{message}: it stays unhealthy", remedy
            )
            yield Remark(remark.finding, command=None)
            return


def _health_commands(case: Case) -> Iterator[tuple[int, str]]:
    """The command of a healthcheck, and its line where it is a service's."""
    container = case.commands[0].container
    for given in container.values("--health-cmd") if container is not None else ():
        yield 0, given
    if container is None or container.words or case.script.objects:
        return
    for first, _, services in compose_files(case.script):
        for fields in services.values():
            test = fields_of(fields.get("healthcheck")).get("test")
            if test is not None and _is_own(fields, case.commands[0].line - first):
                yield first + test.start_mark.line, text_of(test) or " ".join(map(text_of, items_of(test)))


def _waited_for(fields: Mapping[str, Node]) -> Iterator[str]:
    for name, node in fields_of(fields.get("depends_on")).items():
        if text_of(fields_of(node).get("condition")) == _HEALTHY:
            yield name


def _is_own(fields: Mapping[str, Node], line: int) -> bool:
    """Whether the command, at that line of the file, stands in the service."""
    return any(node.start_mark.line <= line <= node.end_mark.line for node in fields.values())


def _lasts(check: Mapping[str, Node]) -> float | None:
    """Seconds until the service is unhealthy; None where a number is not known."""
    spans = [_seconds(text_of(check[key]) if key in check else default) for key, default in _SPANS]
    retries = text_of(check["retries"]) if "retries" in check else "3"
    start, interval = spans
    if start is None or interval is None or not retries.isdigit():
        return None
    return start + interval * int(retries)


def _seconds(text: str) -> float | None:
    match = _SPAN.fullmatch(text)
    if match is None or not text:
        return None
    return sum(float(match[unit] or 0) * length for unit, length in (("h", 3600), ("m", 60), ("s", 1)))


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
