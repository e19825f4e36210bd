"""A router in front of servers of both roles: told of them, each at its own place, and not on a server's port."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Final

from moonpad.engines.foreign_names import ROUTERS
from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Command
from moonpad.explain.grouping import value_of
from moonpad.explain.programs import is_router, is_server
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_ROLE: Final = ("--disaggregation-mode",)
_URL: Final = re.compile(r"(?:https?|grpc)://(?P<place>[\w.-]+:\d{2,5})/?")
_LISTS: Final = ("--worker-urls", "--worker-url")
_ROLES: Final = ("prefill", "decode")
_HERE: Final = ("127.0.0.1", "localhost", "0.0.0.0", "")  # noqa: S104 what is written, not what is bound
_MOST: Final = 100


def roles_of_router(case: Case) -> Iterator[Remark]:
    """`--prefill` with the address of a decode server; workers of both roles without a word of it; a port that a
    server of this machine has."""
    script = case.script
    if script.objects or len(script.commands) > _MOST or not is_first(case.commands, script):
        return
    routers = [command for command in script.commands if is_router(command.program)]
    servers = [command for command in script.commands if is_server(command.program)]
    roles = {_place(server): _text(server, _ROLE) for server in servers if _place(server)}
    for router in routers:
        told = _swapped(router, roles) or _not_told(router, servers, roles)
        told = told or _same_port(case, router, servers) if len(routers) == 1 else told
        if told is not None:
            message = f"{script.where(router.line)}: {told[1]}"
            remark = make_remark(Severity.WARNING, Code.CONFLICT, told[0], message, told[2])
            yield replace(remark, command=None)
            return


def _swapped(router: Command, roles: dict[str, str]) -> tuple[str, str, str] | None:
    """The option, what happens, the remedy."""
    for role, other in (_ROLES, _ROLES[::-1]):
        for address in _behind(router, f"--{role}"):
            match = _URL.fullmatch(address)
            if match is not None and roles.get(match["place"]) == other:
                what = f"--{role} {shortened(address, 40)} is the {other} server of this text: requests fail"
                return f"--{role}", what, f"write --{other} before it"
    return None


def _not_told(router: Command, servers: Sequence[Command], roles: dict[str, str]) -> tuple[str, str, str] | None:
    listed = [match["place"] for flag in _LISTS for text in _behind(router, flag) if (match := _URL.fullmatch(text))]
    known = {*_ROLES} <= {roles.get(place, "") for place in listed} and len(servers) >= len(_ROLES)
    if not known and not (len(listed) == len(servers) and {_text(each, _ROLE) for each in servers} == {*_ROLES}):
        return None
    words = " ".join(word.text for word in router.argv)
    if ROUTERS.search(words) or router.more:
        return None
    what = "the workers are prefill and decode servers, and the router takes them for equals: no request is finished"
    return _LISTS[0], what, "write --pd-disaggregation, --prefill ADDRESS and --decode ADDRESS"


def _same_port(case: Case, router: Command, servers: Sequence[Command]) -> tuple[str, str, str] | None:
    port, host = _text(router, ("--port",)), _text(router, ("--host",))
    if not port.isdigit() or host not in _HERE or router.container is not None:
        return None
    listed = {
        match["place"]
        for flag in (*_LISTS, "--prefill", "--decode")
        for text in _behind(router, flag)
        if (match := _URL.fullmatch(text))
    }
    if not listed & {f"localhost:{port}", f"127.0.0.1:{port}"} or not servers:
        return None
    what = (
        f"it listens on port {port}, and sends to a server on the same port of this machine: one of them cannot start"
    )
    return "--port", what, "give it a port of its own"


def _place(server: Command) -> str:
    """`10.0.0.1:30000`, where both are written."""
    host, port = _text(server, ("--host",)), _text(server, ("--port",))
    named = port.isdigit() and host not in _HERE and re.fullmatch(r"[\w.-]+", host)
    return f"{host}:{port}" if named and server.container is None else ""


def _behind(command: Command, flag: str) -> Iterator[str]:
    words = command.argv
    for at, word in enumerate(words):
        if word.text == flag:
            yield from (each.text for each in takewhile(lambda each: not each.text.startswith("-"), words[at + 1 :]))


def _text(command: Command, flags: tuple[str, ...]) -> str:
    word = value_of(command.argv, flags)
    return word.text.strip("'\"") if word is not None and not word.unresolved else ""
