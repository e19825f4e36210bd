"""Requests that go past the proxy of two pools, and pools that cannot know each other's servers apart."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from moonpad.engines.surrounding_names import SIDE_CHANNELS
from moonpad.engines.value_checks import as_json, unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Command
from moonpad.explain.grouping import value_of
from moonpad.explain.programs import base_name, program_named
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first, numbered
from moonpad.values.finding import Code, Severity

_TRANSFER: Final = "--kv-transfer-config"
_SIDES: Final[Mapping[str, str]] = {"kv_producer": "prefill", "kv_consumer": "decode"}
_HOSTS: Final = {
    "prefill": (("--prefiller-hosts", "--prefiller-host"), ("--prefiller-ports", "--prefiller-port")),
    "decode": (("--decoder-hosts", "--decoder-host"), ("--decoder-ports", "--decoder-port")),
}
"""Options of the engines' example proxies by the pool that they name."""
_DEFAULTS: Final = {"prefill": ("localhost", "8100"), "decode": ("localhost", "8200")}
_SENT: Final = re.compile(
    r"\bcurl\b[^|;&]*?(?P<host>localhost|(?:\d{1,3}\.){3}\d{1,3}):(?P<port>\d{4,5})/v1/(?:chat/)?completions\b"
)
_WITHOUT_HOSTS: Final = frozenset({"localhost", "127.0.0.1", "0.0.0.0"})  # noqa: S104 - what is written, not bound
_STORES: Final = re.compile(r"multi|store|offload|lmcache", re.IGNORECASE)
_COMMENT: Final = re.compile(r"\s*#")
_MOST: Final = 40


class Proxy(Struct, frozen=True):
    """A proxy's own port and the servers that it names, as hosts and ports by their pools."""

    command: Command
    port: str
    pools: Mapping[str, Sequence[tuple[str, str]]]
    given: frozenset[str]


def request_past_proxy(case: Case) -> Iterator[Remark]:
    """`curl` at a server of a pool, or at a port where nothing of the text listens, where a proxy stands in front."""
    script = case.script
    proxy = _proxy(case)
    if proxy is None or not proxy.port:
        return
    sent = [
        (number, match["host"], match["port"])
        for number, text in numbered(script, 1, len(script.lines))
        if (match := _SENT.search(text)) and not _COMMENT.match(text)
    ]
    if not sent or any(port == proxy.port for _, _, port in sent):
        return
    number, host, port = sent[0]
    where = script.where(number)
    for pool, servers in proxy.pools.items():
        if (host, port) in servers or (host in _WITHOUT_HOSTS and port in {each for _, each in servers}):
            message = (
                f"{where}: the request goes to a server for {pool} and past the proxy, which listens on {proxy.port}: "
            )
            message += (
                "its cache is handed to none"
                if pool == "prefill"
                else "it gets no cache, and computes the prompt itself"
            )
            yield _said(Code.CONFLICT, "curl", message, f"ask at port {proxy.port}")
            return
    elsewhere = re.compile(rf"(?<!\d){port}(?!\d)")
    if not any(
        elsewhere.search(text) and not _SENT.search(text) for _, text in numbered(script, 1, len(script.lines))
    ) and host in ("localhost", "127.0.0.1"):
        message = f"{where}: nothing of the text listens on {port}: the proxy does on {proxy.port}"
        yield _said(Code.INVALID_VALUE, "curl", message, f"ask at port {proxy.port}")


def servers_of_proxy(case: Case) -> Iterator[Remark]:
    """A proxy that names one server for both pools, or that asks this machine for a pool that is on another."""
    proxy = _proxy(case)
    if proxy is None:
        return
    where = case.script.where(proxy.command.line)
    both = {*proxy.pools["prefill"]} & {*proxy.pools["decode"]}
    if both:
        host, port = min(both)
        message = f"{where}: {host}:{port} is named for prefill and for decode: one of the two pools is never asked"
        yield _said(Code.CONFLICT, _HOSTS["decode"][0][0], message, "write the address of the other pool's server")
        return
    for pool, (hosts, ports) in _HOSTS.items():
        other = proxy.pools["decode" if pool == "prefill" else "prefill"]
        if proxy.given & {*hosts, *ports} or not other or any(host in _WITHOUT_HOSTS for host, _ in other):
            continue
        message = f"{where}: the proxy is told no server for {pool}, and asks localhost, where none of the text runs"
        yield _said(Code.MISSING_FLAG, hosts[0], message, f"add {hosts[0]} and {ports[0]} with the servers for {pool}")
        return


def ids_of_sides(case: Case) -> Iterator[Remark]:
    """One `engine_id` for the two sides of a transfer, or two connectors that do not speak with each other."""
    script, place = case.script, case.option(_TRANSFER)
    own = _config(case.commands[0])
    side = _SIDES.get(str(own.get("kv_role")))
    if place is None or side is None or len(script.commands) > _MOST:
        return
    for other in script.commands:
        its = _config(other)
        if other.line >= case.commands[0].line or _SIDES.get(str(its.get("kv_role"))) in (None, side):
            continue
        where, own_id = script.where(other.line), own.get("engine_id")
        if isinstance(own_id, str) and own_id and own_id == its.get("engine_id") and not unresolved(own_id):
            message = f"engine_id {shortened(own_id, 40)} is that of the other side too ({where}): "
            message += "what is known of the other side is kept under its id, over what this side knows of itself there"
            remedy = "give the servers of each side an engine_id of their own, or leave it out"
            by_id = own.get("kv_connector") in SIDE_CHANNELS
            severity = Severity.WARNING if by_id else Severity.NOTE  # examples of other connectors have one id
            yield make_remark(severity, Code.CONFLICT, f"{_TRANSFER}.engine_id", message, remedy, at=place.index)
            return
        mine, theirs = (str(each.get("kv_connector", "")) for each in (own, its))
        plain = mine.removesuffix("V1"), theirs.removesuffix("V1")
        if not mine or not theirs or plain[0] == plain[1] or any(_STORES.search(each) for each in plain):
            continue
        message = (
            f"{shortened(mine, 50)} here and {shortened(theirs, 50)} on the other side ({where}): they do not speak "
        )
        message += "with each other, and no cache is handed over"
        remedy = "write one connector on both sides"
        yield make_remark(Severity.WARNING, Code.CONFLICT, f"{_TRANSFER}.kv_connector", message, remedy, at=place.index)
        return


def _proxy(case: Case) -> Proxy | None:
    """The only one of a text, once for it."""
    script = case.script
    if len(script.commands) > _MOST or not is_first(case.commands, script):
        return None
    found = [each for command in script.commands if (each := _read(command)) is not None]
    return found[0] if len(found) == 1 else None


def _read(command: Command) -> Proxy | None:
    words = [word.text for word in (*command.prefix, *command.argv)]
    first = (*command.prefix, *command.argv)[:4]
    program = next((base_name(word) for word in first if word.text.endswith(".py")), "")
    known = program_named(command.program)
    if "proxy" not in program or (known is not None and known.kind == "server"):
        return None
    pools: dict[str, Sequence[tuple[str, str]]] = {}
    for pool, (hosts, ports) in _HOSTS.items():
        at, numbers = _behind(words, hosts), _behind(words, ports)
        if not at and not numbers and pool not in pools:
            pools[pool] = ()
            continue
        at, numbers = at or [_DEFAULTS[pool][0]], numbers or [_DEFAULTS[pool][1]]
        pools[pool] = [] if any(map(unresolved, (*at, *numbers))) else list(zip(at, numbers, strict=False))
    word = value_of(command.argv, ("--port",))
    port = word.text if word is not None and word.text.isdigit() else ""
    given = frozenset(each.partition("=")[0] for each in words if each.startswith("--"))
    return Proxy(command, port, pools, given) if any(pools.values()) else None


def _behind(words: Sequence[str], flags: Sequence[str]) -> list[str]:
    for at, word in enumerate(words):
        if word in flags:
            rest = words[at + 1 :]
            return list(rest[: next((n for n, each in enumerate(rest) if each.startswith("-")), len(rest))])
        if word.partition("=")[0] in flags:
            return [word.partition("=")[2]]
    return []


def _config(command: Command) -> Mapping[str, object]:
    word = value_of(command.argv, (_TRANSFER,))
    value = as_json(word.text.strip("'")) if word is not None else None
    return value if isinstance(value, Mapping) else {}


def _said(code: Code, where: str, message: str, remedy: str) -> Remark:
    return Remark(make_remark(Severity.WARNING, code, where, message, remedy).finding, command=None)
