"""Ports that a proxy's own options name (`--prefiller-ports`), against the servers that the same text starts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Command
from moonpad.explain.grouping import value_of
from moonpad.explain.programs import is_server, program_named
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first, numbered
from moonpad.values.finding import Code, Severity

_ROLE: Final = r"(?:encoder|prefiller|prefill|decoder|decode|pd)"
_PORTS: Final = re.compile(
    rf"(?<![\w-])(?P<flag>--{_ROLE}-ports?)[ =]+(?P<ports>\d{{4,5}}(?:[ ,]+\d{{4,5}})*)(?=[ \t\\`\"')]|$)"
)
_HOSTS: Final = r"{}-hosts?[ =]+(?P<hosts>[^-\\\n]*)"
_HERE: Final = frozenset({"127.0.0.1", "localhost", "0.0.0.0"})  # noqa: S104 - what is written, not what is bound
_COUNTED: Final = re.compile(r"start[-_]port|port[-_](?:base|start|offset)|external-lb|--data-parallel-rank|\bseq\b")
"""Servers whose ports are counted up from one."""
_NO_SERVER: Final = re.compile(r"SIDE_CHANNEL|kv_port|rpc[-_]port|BOOTSTRAP|master[-_]port", re.IGNORECASE)
"""Lines with ports of other services than the server's own."""
_IP: Final = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}")
_SCRIPTS: Final = re.compile(r"toy_proxy_server\.py|load_balance_proxy_\w*\.py|disagg_proxy_\w*\.py")
_COMMAS: Final = re.compile(rf"(?<![\w-])(?P<flag>--{_ROLE}-(?:ports|hosts))[ =]+(?P<list>[\w.-]+(?:,[\w.-]+)+)")
_SIDES: Final = (("kv_producer", re.compile(r"--prefill")), ("kv_consumer", re.compile(r"--decode")))
"""What says that a server is for prefill or for decode, and the options that name such."""
_BOTH: Final = "kv_both"
_NEAR: Final = 8
_MOST: Final = 100
_LONGEST: Final = 4000


def proxy_ports(case: Case) -> Iterator[Remark]:
    """A port of this machine on which nothing of the text listens."""
    script = case.script
    if script.objects or len(script.commands) > _MOST or not is_first(case.commands, script):
        return
    lines = list(numbered(script, 1, len(script.lines)))
    named = [(number, match) for number, text in lines for match in _PORTS.finditer(text)]
    if not named or any(_COUNTED.search(text) for _, text in lines):
        return
    known = _listened(script.commands, str(case.engine.command_line.port or ""))
    asked = [port for _, match in named for port in re.findall(r"\d+", match["ports"])]
    if not known or known.isdisjoint(asked):
        return
    not_shown = _not_shown(script.commands)
    for number, match in named:
        if any(side.match(match["flag"]) for side in not_shown):
            continue
        near = "\n".join(text for at, text in lines if abs(at - number) <= _NEAR)
        hosts = re.search(_HOSTS.format(re.escape(match["flag"].rpartition("-")[0])), near)
        if hosts is None:
            continue
        named_hosts = {*re.split(r"[ ,]+", hosts["hosts"].strip())}
        if not named_hosts <= _HERE and not _are_of_the_text(named_hosts, lines):
            continue
        for port in re.findall(r"\d+", match["ports"]):
            others = [text for _, text in lines if not _PORTS.search(text) and not _NO_SERVER.search(text)]
            elsewhere = any(re.search(rf"(?<!\d){port}(?!\d)", text) for text in others)
            if port in known or elsewhere:
                continue
            message = f"{script.where(number)}: {match['flag']} sends to {port}, and the servers here listen on "
            message += ", ".join(sorted(known))
            remedy = "name the port of a server of that role, and no more ports than there are servers"
            remark = make_remark(Severity.WARNING, Code.CONFLICT, match["flag"], message, remedy)
            yield Remark(remark.finding, command=None)
            break


def _not_shown(commands: Sequence[Command]) -> Sequence[re.Pattern[str]]:
    """Options about servers of which the text shows none: each of two halves that it starts is the other one. A server
    that hands no cache over is neither."""
    servers = [command for command in commands if is_server(command.program)]
    words = [" ".join(word.text for word in command.argv) for command in servers]
    sides = {said for text in words for said, _ in _SIDES if said in text}
    if len(sides) != 1 or any(_BOTH in text for text in words):
        return ()
    return [option for said, option in _SIDES if said not in sides]


def _are_of_the_text(hosts: set[str], lines: Sequence[tuple[int, str]]) -> bool:
    """Addresses that other lines name as well, as those of the machines that the servers are started on."""
    others = "\n".join(text for _, text in lines if not _PORTS.search(text) and "-host" not in text)
    return all(_IP.fullmatch(host) and re.search(rf"(?<![\d.]){re.escape(host)}(?!\d)", others) for host in hosts)


_STARTED: Final = re.compile(r"--(?:[a-z]+-)?start-port[ =]+(?P<first>\d{4,5})(?!\d)")
_HERE_OF: Final = re.compile(r"--(?:dp|data-parallel)-size-local[ =]+(?P<ranks>\d{1,3})(?!\d)")
_LEAST: Final = 2


def counted_ports(case: Case) -> Iterator[Remark]:
    """Ports of a proxy where the servers are started by a script that counts theirs up, from `…-start-port 9100` on."""
    script = case.script
    if len(script.commands) > _MOST or not is_first(case.commands, script):
        return
    joined = list(_joined(numbered(script, 1, len(script.lines))))
    started = [(match, _HERE_OF.search(text)) for _, text in joined if (match := _STARTED.search(text))]
    named = [(number, match) for number, text in joined for match in _PORTS.finditer(text)]
    if not started or not named or any(ranks is None for _, ranks in started):
        return
    known = {
        int(match["first"]) + at for match, ranks in started if ranks is not None for at in range(int(ranks["ranks"]))
    }
    others = "\n".join(text for _, text in joined if not _PORTS.search(text))
    for number, match in named:
        ports = list(dict.fromkeys(re.findall(r"\d+", match["ports"])))
        if any(int(port) in known or re.search(rf"(?<!\d){port}(?!\d)", others) for port in ports):
            continue
        firsts = sorted({int(each["first"]) for each, _ in started})
        message = f"{script.where(number)}: {match['flag']} sends to {' and '.join(ports[:_LEAST])}, and the servers "
        message += f"here are counted from {' and '.join(map(str, firsts[:3]))}"
        remedy = "name the first port of that role's servers and those behind it, one for each local rank"
        remark = make_remark(Severity.WARNING, Code.CONFLICT, match["flag"], message, remedy)
        yield Remark(remark.finding, command=None)


def _joined(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Lines that end in a backslash with those behind them, under the number of the first."""
    first, held = 0, ""
    for number, text in lines:
        first = first or number
        held += text.rstrip().removesuffix("\\")
        if text.rstrip().endswith("\\") and len(held) < _LONGEST:
            held += " "
            continue
        yield first, held
        first, held = 0, ""
    if held:
        yield first, held


def _listened(commands: Sequence[Command], usual: str) -> set[str]:
    """Empty where a server's port is not a number of the text. `usual`: that of a server that is told none."""
    found: set[str] = set()
    for command in commands:
        program = program_named(command.program)
        if program is None or program.kind != "server":
            continue
        word = value_of(command.argv, ("--port",))
        text = word.text.strip("'\"") if word is not None else ""
        if word is None and not command.more and not command.custom:
            text = usual
        if not text.isdigit() or (command.container is not None and command.container.given("--publish")):
            return set()
        found.add(text)
    return found


def comma_of_proxy(case: Case) -> Iterator[Remark]:
    """`--prefiller-ports 9100,9101` of a proxy that takes its lists with blanks."""
    script = case.script
    if len(script.commands) > _MOST or not is_first(case.commands, script):
        return
    for number, text in _joined(numbered(script, 1, len(script.lines))):
        match = _COMMAS.search(text) if _SCRIPTS.search(text) else None
        if match is not None:
            message = (
                f"{script.where(number)}: the proxy takes a list with blanks, and {match['list'][:40]} is one word: "
            )
            message += "a port is refused (invalid int value), a host is not found"
            remedy = f"write {match['flag']} {match['list'][:60].replace(',', ' ')}"
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, match["flag"], message, remedy)
            yield Remark(remark.finding, command=None)
            return
