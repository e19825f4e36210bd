"""Servers for prefill and for decode in one text, which reach each other by addresses that they are given."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from moonpad.catalog.options import option_set
from moonpad.engines.surrounding_names import SIDE_CHANNELS
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.dynamo.dynamo_workers import by_module
from moonpad.explain.commands import Command, Script
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.grouping import model_of, value_of
from moonpad.explain.programs import program_named
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_CONNECTOR, (_PORT, _HOST) = next(iter(SIDE_CHANNELS.items()))
_TRANSFER: Final = "--kv-transfer-config"
_IP: Final = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}")
_LOOPBACK: Final = re.compile(r"localhost|127\..*|0\.0\.0\.0")
_SIDES: Final = {
    "prefill": re.compile(r"prefill|预填|\bproducer\b", re.IGNORECASE),
    "decode": re.compile(r"decod|解码|\bconsumer\b", re.IGNORECASE),
}
_HANDS_OVER: Final = re.compile(
    r"kv[-_.]?transfer|kv[-_]?connector|kv_?role|nixl_?role|enablePD|lmcache|inference-sim|--config\b|_ARGS\b",
    re.IGNORECASE,
)
_HOSTS_OF_PROXY: Final = re.compile(
    r"(?<![\w-])--(?P<role>prefill|decode)(?:r|er)?-hosts?[ =]+(?P<hosts>[\w.]+(?:[ ,]+\d[\w.]*)*)"
)
_LONGEST: Final = 4000
_MOST: Final = 20


def side_channels(case: Case) -> Iterator[Remark]:
    """The address of the other side's machine, or one that no other machine reaches."""
    command = case.commands[0]
    mine = _setting(command, _HOST)
    if not mine and _HOST not in command.env and not command.more and by_side_channel(command):
        yield from _left_at_loopback(case) or _apart_by_proxy(case)
        return
    if not mine:
        return
    for other in of_other_side(case):
        its = _setting(other, _HOST)
        if not its:
            continue
        where = case.script.where(other.line)
        if _LOOPBACK.fullmatch(mine) and _IP.fullmatch(its) and not _LOOPBACK.fullmatch(its):
            message = f"{mine} is told to the other side, which is at {its}: it asks for the cache on its own machine"
            remark = make_remark(Severity.WARNING, Code.CONFLICT, _HOST, message, "write the address of this machine")
        elif mine == its and _IP.fullmatch(mine) and not _LOOPBACK.fullmatch(mine) and _same_port(command, other):
            if other.line > command.line:
                continue
            message = (
                f"{mine} and the same port, as of the server of {where}: one of the two cannot bind them, or they "
            )
            message += "are on two machines, and this address is of the other"
            remark = make_remark(Severity.WARNING, Code.CONFLICT, _HOST, message, "write the address of each machine")
        else:
            continue
        yield replace(remark, variable=_HOST)
        return
    if _LOOPBACK.fullmatch(mine) and by_side_channel(command) and (apart := _apart(case)) is not None:
        message = f"{mine} is told to the other side, and the proxy names {apart[0]} for prefill and {apart[1]} for "
        message += "decode: it asks for the cache on its own machine"
        remark = make_remark(Severity.WARNING, Code.CONFLICT, _HOST, message, "write the address of this machine")
        yield replace(remark, variable=_HOST)


def by_side_channel(command: Command) -> bool:
    word = value_of(command.argv, (_TRANSFER,))
    return word is not None and _CONNECTOR in word.text


def _left_at_loopback(case: Case) -> list[Remark]:
    """A side that does not say its address, of which the other side's text says that it is another machine's."""
    for other in of_other_side(case):
        its = _setting(other, _HOST)
        if not its or not _IP.fullmatch(its) or _LOOPBACK.fullmatch(its) or not by_side_channel(other):
            continue
        where = case.script.where(other.line)
        message = f"the other side ({where}) has {its}, and this one is told no address: it announces localhost, where "
        message += "the other looks for it on its own machine"
        remedy = f"export {_HOST} with the address of this machine"
        return [replace(make_remark(Severity.WARNING, Code.MISSING_FLAG, _HOST, message, remedy), command=None)]
    return []


def _apart_by_proxy(case: Case) -> list[Remark]:
    """A side that does not say its address, where a proxy names servers of both roles on machines of their own."""
    apart = _apart(case)
    if apart is None or any(_HOST in line for line in case.script.lines):
        return []
    message = f"the proxy names {apart[0]} for prefill and {apart[1]} for decode, and this side is told no address:"
    message += " it announces localhost, where the other looks for it on its own machine"
    remedy = f"export {_HOST} with the address of this machine, on both"
    return [replace(make_remark(Severity.WARNING, Code.MISSING_FLAG, _HOST, message, remedy), command=None)]


def _apart(case: Case) -> tuple[str, str] | None:
    """A machine for prefill and one for decode, where the proxy names none that has both."""
    lines = case.script.lines
    case.script.budget.once("hosts of a proxy", len(lines), "the text around its engine commands")
    prefill, decode = _hosts_of_proxy(lines)
    return (min(prefill), min(decode)) if prefill and decode and not prefill & decode else None


@lru_cache(maxsize=64)
def _hosts_of_proxy(lines: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """Addresses of other machines than this one, by role."""
    found: tuple[set[str], set[str]] = (set(), set())
    for line in lines:
        for match in _HOSTS_OF_PROXY.finditer(line[:_LONGEST]):
            hosts = {host for host in re.split(r"[ ,]+", match["hosts"].strip()) if host}
            found[match["role"].startswith("d")].update(hosts)
    whole = all(_IP.fullmatch(host) and not _LOOPBACK.fullmatch(host) for hosts in found for host in hosts)
    return (frozenset(found[0]), frozenset(found[1])) if whole else (frozenset(), frozenset())


def _same_port(one: Command, other: Command) -> bool:
    ports = [_setting(each, _PORT) or "5600" for each in (one, other)]
    return ports[0] == ports[1] and ports[0].isdigit()


def _setting(command: Command, name: str) -> str:
    word = command.env.get(name)
    value = word.text.removeprefix(f"{name}=").strip("'\"") if word is not None and not word.unresolved else ""
    return "" if unresolved(value) else value


def side_without_connector(case: Case) -> Iterator[Remark]:
    """A server that its title calls one for decode, without a connector, beside one for prefill that has one."""
    command = case.commands[0]
    if is_fragment(command) or case.open_ended or command.more or command.custom or by_module(command):
        return
    if _given(command) or side_of(command) == "" or any("config" in word.text for word in command.argv):
        return
    with_it = [other for other in of_other_side(case) if _given(other)]
    same = [other for other in case.script.commands if other is not command and side_of(other) == side_of(command)]
    if not with_it or any(_given(other) for other in same):
        return
    side, where = side_of(command), case.script.where(with_it[0].line)
    message = (
        f"the server for {side} has no {_TRANSFER}, and the one of {where} has: no cache is handed over, and this "
    )
    message += "one computes the prompts again"
    yield make_remark(Severity.WARNING, Code.MISSING_FLAG, _TRANSFER, message, f"add the same {_TRANSFER} here")


def pools_without_connector(case: Case) -> Iterator[Remark]:
    """Servers for prefill and for decode of one manifest, of which none has a connector."""
    command, script = case.commands[0], case.script
    if command.role != "decode" or case.open_ended or command.more or command.custom or by_module(command):
        return
    options = option_set(case.engine.program, case.version or None)
    if options is None or options.named(_TRANSFER) is None or is_fragment(command):
        return
    others = [
        other for other in script.commands[:_MOST] if other.role == "prefill" and other.program == command.program
    ]
    if not all(each.prefix or _in_object(each.line, script) for each in (command, *others)):
        return  # a chart writes them, and may add what is needed
    if (
        not others
        or _given(command)
        or any(each.more or each.custom or model_of(each) != model_of(command) for each in others)
    ):
        return
    script.budget.work(len(script.lines), "its pools")
    if any(_HANDS_OVER.search(line[:2000]) for line in script.lines):
        return
    message = (
        f"the servers for decode and those for prefill ({script.where(others[0].line)}) have no {_TRANSFER}: no cache "
    )
    message += "is handed over, and those for decode compute the prompts again"
    remedy = f"""add {_TRANSFER} '{{"kv_connector": "{_CONNECTOR}", "kv_role": "kv_both"}}' to both"""
    yield make_remark(Severity.WARNING, Code.MISSING_FLAG, _TRANSFER, message, remedy)


def _in_object(line: int, script: Script) -> bool:
    return any(first <= line <= last for first, last in script.objects)


def _given(command: Command) -> bool:
    return value_of(command.argv, (_TRANSFER,)) is not None


def of_other_side(case: Case) -> Iterator[Command]:
    command = case.commands[0]
    side = side_of(command)
    for other in case.script.commands[:_MOST] if side else ():
        program = program_named(other.program)
        if other is command or program is None or program.kind != "server" or model_of(other) != model_of(command):
            continue
        if side_of(other) not in ("", side):
            yield other


def side_of(command: Command) -> str:
    """By its label, else its heading, where one of the two sides alone is named."""
    for text in (command.role, command.label or "", command.heading or ""):
        found = [side for side, words in _SIDES.items() if words.search(text)]
        if found:
            return found[0] if len(found) == 1 else ""
    return ""
