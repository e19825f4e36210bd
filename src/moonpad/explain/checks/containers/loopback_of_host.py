"""Ports that a compose file publishes on 127.0.0.1, asked for by host.docker.internal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from yaml import Node

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.containers.compose_files import compose_files
from moonpad.explain.checks.manifests.pod_objects import items_of, text_of
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server, numbered
from moonpad.values.finding import Code, Severity

_ASKED: Final = re.compile(r"\bhost\.docker\.internal:(?P<port>\d{2,5})\b")
_GATEWAY: Final = re.compile(r"host\.docker\.internal[:=]host-gateway")
_LOOPBACK: Final = re.compile(r"127\.0\.0\.1:(?P<host>\d{2,5}):(?P<inside>\d{2,5})(?:/tcp)?")
_SHARES: Final = re.compile(r"host|(?:service|container):.+")
_COMMENT: Final = re.compile(r"[ \t]*(?:#|//)")


def loopback_of_host(case: Case) -> Iterator[Remark]:
    """From a container that is told the gateway's address, which is not 127.0.0.1 on Linux."""
    script = case.script
    if script.markdown or not is_first_server(case.commands, script):
        return
    if not any("host.docker.internal" in line for line in script.lines):
        return
    for _, _, services in compose_files(script):
        ports = {match["host"]: name for name, match in _published(services)}
        if not ports or not any(_asks_gateway(fields) for fields in services.values()):
            continue
        for number, text in numbered(script, 1, len(script.lines)):
            match = None if _COMMENT.match(text) else _ASKED.search(text)
            if match is None or match["port"] not in ports:
                continue
            port = match["port"]
            message = (
                f"{script.where(number)}: host.docker.internal is the gateway of the containers on Linux, and port "
            )
            message += f"{port} of {ports[port]} is published on 127.0.0.1 alone: connection refused"
            remedy = (
                f"ask {ports[port]} by its name in the network of the services, or give the client network_mode: host"
            )
            yield Remark(make_remark(Severity.WARNING, Code.CONFLICT, port, message, remedy).finding, command=None)
            return


def _asks_gateway(fields: Mapping[str, Node]) -> bool:
    hosts = fields.get("extra_hosts")
    if _SHARES.fullmatch(text_of(fields.get("network_mode"))):
        return False
    return any(_GATEWAY.fullmatch(text_of(item)) for item in items_of(hosts))


def _published(services: Mapping[str, Mapping[str, Node]]) -> Iterator[tuple[str, re.Match[str]]]:
    for name, fields in services.items():
        for item in items_of(fields.get("ports")):
            match = _LOOPBACK.fullmatch(text_of(item))
            if match is not None:
                yield name, match
