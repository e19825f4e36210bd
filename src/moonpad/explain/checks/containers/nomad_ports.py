"""Ports of a job of Nomad: where they lead in the container, against the port of the engine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_ports import own_port
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server, numbered
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_DRIVER: Final = re.compile(r"^[ \t]*driver[ \t]*=[ \t]*\"(?:docker|podman)\"")
_PORT: Final = re.compile(r"^[ \t]*port[ \t]+\"(?P<name>[\w-]+)\"[ \t]*\{(?P<rest>.*)")
_TO: Final = re.compile(r"(?<!\w)to[ \t]*=[ \t]*(?P<port>\d{1,5})")
_GIVEN: Final = re.compile(r"^[ \t]*ports[ \t]*=[ \t]*\[(?P<names>[^\]]*)\]")
_OF_HOST: Final = re.compile(r"network_mode[ \t]*=[ \t]*\"host\"")
_LONGEST_BLOCK: Final = 6


def port_of_nomad(case: Case) -> Iterator[Remark]:
    """`to = 8080` of the port that a task is given, and an engine that listens on 8000."""
    script = case.script
    if not is_in_lines(_DRIVER, script.lines, 1000) or not is_first_server(case.commands, script):
        return
    port = own_port(case)
    lines = list(numbered(script, 1, len(script.lines)))
    given = [match["names"] for _, text in lines if (match := _GIVEN.match(text)) is not None]
    if port is None or len(given) != 1 or any(_OF_HOST.search(text) for _, text in lines):
        return
    names = re.findall(r"\"([\w-]+)\"", given[0])
    targets = {}
    for at, (_, text) in enumerate(lines):
        opened = _PORT.match(text)
        if opened is None or opened["name"] not in names:
            continue
        for number, inside in [(lines[at][0], opened["rest"]), *lines[at + 1 : at + _LONGEST_BLOCK]]:
            if (to := _TO.search(inside)) is not None:
                targets[int(to["port"])] = number
            if "}" in inside:
                break
    if len(targets) != len(names) or not targets or port in targets:
        return
    target, number = next(iter(targets.items()))
    message = (
        f"{script.where(number)} leads to port {target} of the container, and {case.engine.facts.title} listens on "
    )
    message += f"{port} in it"
    remark = make_remark(Severity.WARNING, Code.CONFLICT, "to", message, f"write to = {port}")
    yield replace(remark, command=None)
