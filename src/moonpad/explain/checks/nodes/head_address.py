"""Where a rank of another machine looks for the first: a port in the place of an address, the rank's own address, an
interface that leads nowhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import surrounding_names as around
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_ADDRESSES: Final = ("--data-parallel-address", "--master-addr", "--dist-init-addr")
_PORT: Final = re.compile(r"[1-9]\d{2,4}")
_INTERFACES: Final = ("GLOO_SOCKET_IFNAME", "HCCL_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME", "TP_SOCKET_IFNAME")
_OWN: Final = re.compile(
    r"\$\{?(?P<name>(?:local|own|my|self|current|pod)_?ip(?:_addr(?:ess)?)?)\}?(?::.*)?", re.IGNORECASE
)
_LOOPBACK: Final = re.compile(r"(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])(?::\d+)?")
_LONGEST: Final = 1000
_ASKED: Final = re.compile(r"\$\(\s*(?:hostname\s+-[iI]|curl\b|ip\s+(?:-\w+\s+)*(?:addr|route))[^)]*\)?.*", re.DOTALL)


def port_as_address(case: Case) -> Iterator[Remark]:
    """A number alone does not name a machine."""
    for flag in _ADDRESSES:
        place, text = case.option(flag), case.text(flag).strip("'\"")
        if place is not None and _PORT.fullmatch(text):
            message = f"{text} is a port, and the address of a machine is meant: no rank finds the first"
            remedy = f"write {place.written} with the first machine's address; the port is an option of its own"
            if flag == _ADDRESSES[-1]:
                remedy = f"write {place.written} ADDRESS:{text} with the first machine's address"
            yield make_remark(Severity.WARNING, Code.INVALID_VALUE, place.written, message, remedy, at=place.index)


def own_as_head(case: Case) -> Iterator[Remark]:
    """A rank of a later machine that asks itself."""
    node = case.first.node
    later = node.headless or (node.node_rank or 0) > 0 or (node.start_rank or 0) > 0
    for flag in _ADDRESSES if later else ():
        place = case.option(flag)
        if place is None or place.index >= len(case.commands[0].argv):
            continue
        last = min(place.index + place.length - 1, len(case.commands[0].argv) - 1)
        written = case.commands[0].argv[last].text.partition("=")[2] or case.commands[0].argv[last].text
        text = written if last == place.index else case.commands[0].argv[last].text
        own = _OWN.fullmatch(text.strip("'\""))
        host = text.strip("'\"").rpartition(":")[0] or text.strip("'\"")
        own_names = [name for name in case.commands[0].env if around.OWN_ADDRESS.search(name)]
        named = next((name for name in own_names if host and case.variable(name) == host), "")
        if named:
            message = f"{shortened(host, 40)} is this machine's own address ({named}), and the first machine's is meant"
            remedy = f"write {place.written} with the address of the machine that has rank 0"
            yield make_remark(Severity.WARNING, Code.INVALID_VALUE, place.written, message, remedy, at=place.index)
            continue
        if own is None and _ASKED.fullmatch(text.strip("'\"")) is None:
            continue
        name = own["name"] if own is not None else shortened(text, 40)
        message = f"{name} is this machine's own address, and the first machine's is meant: the ranks never meet"
        remedy = f"write {place.written} with the address of the machine that has rank 0"
        yield make_remark(Severity.WARNING, Code.INVALID_VALUE, place.written, message, remedy, at=place.index)


def _asked_on_each(case: Case, flag: str) -> str:
    """`$(hostname -i)`, where it stands in the command's own lines and the shell of each machine asks: what stands in
    quotes that the first machine's shell opens, it asks itself, and what the others ask has a backslash there."""
    numbers = [number for word in case.commands[0].words for number in (word.line, word.end_line)]
    lines = case.script.lines[min(numbers) - 1 : max(numbers)] if numbers else ()
    written = "\n".join(line[:_LONGEST] for line in lines)
    if "\\$" in written or '-c "' in written:
        return ""
    match = re.search(rf"{re.escape(flag)}[ =][\"']?(?P<asked>\$\(\s*hostname\s+-[iI]\s*\))", written)
    return match["asked"] if match is not None else ""


def own_of_all(case: Case) -> Iterator[Remark]:
    """One line for all machines, whose rank is a variable, that names the machine itself as the place to meet."""
    node, rank = case.first.node, case.text("--node-rank")
    if (node.nodes or 1) < 2 or not rank or not unresolved(rank):
        return
    for flag in _ADDRESSES:
        place, text = case.option(flag), case.text(flag).strip("'\"")
        if place is None or not (_LOOPBACK.fullmatch(text) or (asked := _asked_on_each(case, flag))):
            continue
        text = text if _LOOPBACK.fullmatch(text) else asked
        message = (
            f"{text} is each machine's own address: the ranks of other machines wait for themselves, and the group "
        )
        message += "is never complete"
        remedy = f"write {place.written} with the address of the machine that has rank 0"
        remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, place.written, message, remedy, at=place.index)
        yield replace(remark, stops=True)


def loopback_of_later(case: Case) -> Iterator[Remark]:
    """The same of commands that are written out for each machine, where one machine has not so many devices."""
    layout, most = case.first.layout, _ON_ASCEND if case.platform == "ascend" or "ascend" in case.base else _ON_ONE
    if not case.laid_out or layout.tp * layout.pp <= most or (case.cluster is not None and case.cluster.nodes < 2):
        return
    for number, (command, reading) in enumerate(zip(case.commands, case.readings, strict=False)):
        if (reading.node.nodes or 1) < 2 or (reading.node.node_rank or 0) < 1:
            continue
        if any(name.endswith("VISIBLE_DEVICES") for name in command.env):
            continue
        for flag in _ADDRESSES:
            place = reading.parsed.occurrence(flag)
            text = place.value.strip("'\"") if place is not None and isinstance(place.value, str) else ""
            if place is None or _LOOPBACK.fullmatch(text) is None:
                continue
            message = f"{text} is this machine itself, and the first rank is on another: the ranks never meet"
            remedy = f"write {place.written} with the address of the machine that has rank 0, on every machine"
            finding = make_remark(Severity.WARNING, Code.INVALID_VALUE, place.written, message, remedy).finding
            yield replace(Remark(finding, at=place.index, command=number), stops=True)
            return


_ON_ONE: Final = 8
"""Devices of a usual machine."""
_ON_ASCEND: Final = 16


def loopback_between(case: Case) -> Iterator[Remark]:
    """`GLOO_SOCKET_IFNAME=lo` on several machines: what ranks say to each other leaves none of them."""
    node = case.first.node
    if (node.nodes or 1) < 2 and not node.headless and (case.cluster is None or case.cluster.nodes < 2):
        return
    for number, command in enumerate(case.commands):
        for name in _INTERFACES:
            word = command.env.get(name)
            if word is None or word.text.strip("'\"") != "lo":
                continue
            message = f"{name}=lo is this machine alone: the ranks of the others are not reached over it"
            remedy = "name the interface that has the node's address, as ip addr shows it"
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, name, message, remedy)
            yield replace(remark, command=number, variable=name)


HEAD_CHECKS: Final = (port_as_address, own_as_head, own_of_all, loopback_of_later, loopback_between)
