"""Addresses in the variables of a Compose file's other services: how they reach the engine's service."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.clients.request_names import is_one_group
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import numbered
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_SERVICES: Final = re.compile(r"services:[ ]*(?:#.*)?$")
_NAME: Final = re.compile(r"(?P<indent>[ ]+)(?P<name>[A-Za-z0-9][\w.-]*):[ ]*(?:#.*)?$")
_ASKS: Final = re.compile(
    r"(?P<name>\w*(?:URL|BASE|ENDPOINT|HOST)\w*)[\"']?[ ]*[:=][ ]*[\"']?https?://(?P<host>[\w.-]+):(?P<port>\d{2,5})"
    r"(?P<path>/[\w./-]{0,60})?"
)
_HOST: Final = re.compile(r"network_mode:[ ]*[\"']?(?:host|service:|container:)")
_LOCAL: Final = ("localhost", "127.0.0.1")


class _Service(NamedTuple):
    name: str
    lines: tuple[tuple[int, str], ...]


def address_of_service(case: Case) -> Iterator[Remark]:
    """`http://localhost:8000` in another service, and the port that is published to the machine alone."""
    command, script = case.commands[0], case.script
    container = command.container
    if container is None or not is_one_group(case) or case.open_ended:
        return
    place = case.option("--port")
    port = case.text("--port").strip("'\"") if place is not None else str(case.engine.command_line.port or "")
    services = _services(list(numbered(script, 1, len(script.lines))))
    own = next((each for each in services if any(at == command.line for at, _ in each.lines)), None)
    if own is None or not port.isdigit() or unresolved(port) or any(_HOST.search(text) for _, text in own.lines):
        return
    published = {parts[-2]: parts[-1] for value in container.values("--publish") if len(parts := value.split(":")) > 1}
    for service in services:
        if service.name == own.name or any(_HOST.search(text) for _, text in service.lines):
            continue
        for number, text in service.lines:
            match = _ASKS.search(text)
            if match is None or text.lstrip().startswith("#"):
                continue
            host, asked = match["host"], match["port"]
            if host in _LOCAL and asked in (port, *published) and not _listens(service, asked):
                what = f"localhost in {match['name']} is the container of {shortened(service.name, 30)} itself"
            elif host == own.name and asked != port and published.get(asked) == port:
                what = f"{asked} is the port on the machine, and {shortened(own.name, 30)} listens on {port} in the "
                what += "network of the services"
            elif host == own.name and asked != port and asked not in published and not _listens(own, asked):
                what = f"{shortened(own.name, 30)} listens on {port}, and not on {asked}"
            else:
                continue
            message = f"{script.where(number)}: {what}: connection refused"
            remedy = f"write http://{shortened(own.name, 30)}:{port}{match['path'] or ''}"
            remark = make_remark(Severity.WARNING, Code.CONFLICT, match["name"], message, remedy)
            yield replace(remark, command=None)
            return


def _listens(service: _Service, port: str) -> bool:
    """Whether the service has that port itself, in another line than an address."""
    number = re.compile(rf"(?<!\d){port}(?!\d)")
    return any(number.search(_ASKS.sub("", text)) for _, text in service.lines)


def _services(lines: list[tuple[int, str]]) -> list[_Service]:
    found: list[_Service] = []
    indent, name, held = -1, "", list[tuple[int, str]]()
    for number, text in [*lines, (0, "end:")]:
        if _SERVICES.match(text):
            indent, name, held = 0, "", []
            continue
        if indent < 0 or not text.strip():
            continue
        depth = len(text) - len(text.lstrip())
        head = _NAME.match(text)
        if depth == 0 or (head is not None and indent in (0, depth)):
            if name:
                found.append(_Service(name, tuple(held)))
            indent = -1 if depth == 0 else depth
            name, held = (head["name"] if head is not None and depth else ""), []
        held.append((number, text))
    return found
