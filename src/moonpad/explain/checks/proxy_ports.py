"""Ports that a proxy's own options name (`--prefiller-ports`), against the servers that the same text starts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Command
from moonpad.explain.grouping import value_of
from moonpad.explain.programs import program_named
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first, numbered
from moonpad.values.finding import Code, Severity

_ROLE: Final = r"(?:encoder|prefiller|prefill|decoder|decode|pd)"
_PORTS: Final = re.compile(
    rf"(?<![\w-])(?P<flag>--{_ROLE}-ports?)[ =]+(?P<ports>\d{{4,5}}(?:[ ,]+\d{{4,5}})*)(?=[ \t\\]|$)"
)
_HOSTS: Final = r"{}-hosts?[ =]+(?P<hosts>[^-\\\n]*)"
_HERE: Final = frozenset({"127.0.0.1", "localhost", "0.0.0.0"})  # noqa: S104 - what is written, not what is bound
_COUNTED: Final = re.compile(r"start[-_]port|port[-_](?:base|start|offset)|external-lb|--data-parallel-rank|\bseq\b")
"""Servers whose ports are counted up from one."""
_NEAR: Final = 8
_MOST: Final = 100


def proxy_ports(case: Case) -> Iterator[Remark]:
    """A port of this machine on which nothing of the text listens."""
    script = case.script
    if script.objects or len(script.commands) > _MOST or not is_first(case.commands, script):
        return
    lines = list(numbered(script, 1, len(script.lines)))
    named = [(number, match) for number, text in lines for match in _PORTS.finditer(text)]
    if not named or any(_COUNTED.search(text) for _, text in lines):
        return
    known = _listened(script.commands)
    asked = [port for _, match in named for port in re.findall(r"\d+", match["ports"])]
    if not known or known.isdisjoint(asked):
        return
    for number, match in named:
        near = "\n".join(text for at, text in lines if abs(at - number) <= _NEAR)
        hosts = re.search(_HOSTS.format(re.escape(match["flag"].rpartition("-")[0])), near)
        if hosts is None or not {*re.split(r"[ ,]+", hosts["hosts"].strip())} <= _HERE:
            continue
        for port in re.findall(r"\d+", match["ports"]):
            elsewhere = any(re.search(rf"(?<!\d){port}(?!\d)", text) for _, text in lines if not _PORTS.search(text))
            if port in known or elsewhere:
                continue
            message = f"{script.where(number)}: {match['flag']} sends to {port}, and the servers here listen on "
            message += ", ".join(sorted(known))
            remedy = "name the port of a server of that role, and no more ports than there are servers"
            remark = make_remark(Severity.WARNING, Code.CONFLICT, match["flag"], message, remedy)
            yield Remark(remark.finding, command=None)
            break


def _listened(commands: Sequence[Command]) -> set[str]:
    """Empty where a server's port is not a number of the text."""
    found: set[str] = set()
    for command in commands:
        program = program_named(command.program)
        if program is None or program.kind != "server":
            continue
        word = value_of(command.argv, ("--port",))
        text = word.text.strip("'\"") if word is not None else ""
        if not text.isdigit() or (command.container is not None and command.container.given("--publish")):
            return set()
        found.add(text)
    return found
