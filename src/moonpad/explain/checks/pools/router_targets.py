"""Where a router sends requests, against the servers that the same text starts; and ranks on a network of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Final

from moonpad.catalog.options import option_set
from moonpad.engines import foreign_names as names
from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Command, Word
from moonpad.explain.grouping import value_of
from moonpad.explain.programs import is_router, is_server
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.records import replace

_URL: Final = re.compile(r"(?:https?://)?(?:127\.0\.0\.1|localhost|0\.0\.0\.0):(?P<port>\d{2,5})/?")
_ANY: Final = re.compile(r"(?:https?|grpc)://[^\s:/]+:(?P<port>\d{2,5})/?")
_OF_HOST: Final = re.compile(r"(?:https?|grpc)://(?P<host>[A-Za-z0-9][\w.-]*):(?P<port>\d{2,5})/?", re.ASCII)
_TARGETS: Final = ("--prefill", "--decode", "--worker-urls", "--worker-url")
_PREFILL: Final = "--prefill"
_ROLE: Final = "--disaggregation-mode"
_BOOTSTRAP: Final = "--disaggregation-bootstrap-port"
_DEFAULT_BOOTSTRAP: Final = 8998
_GRPC: Final = ("--grpc-mode", "--smg-grpc-mode", "--grpc-port", "--config")
_RUST: Final = "_RUST_SERVER"
"""The ending of a variable with which the bootstrap is served at the server's own port."""
_INSIDE: Final = re.compile(r"(?:.*:)?(?P<inside>\d{1,5}(?:-\d{1,5})?)(?:/tcp)?")
_MOST: Final = 200
_LOOPBACK: Final = ("127.0.0.1", "localhost")


def router_target(case: Case) -> Iterator[Remark]:
    """A router that sends to a port of this machine on which no server of the text listens."""
    both = _routers_and_servers(case)
    if both is None:
        return
    routers, servers = both
    ports = [_port(server) for server in servers]
    known: set[int] = set()
    if None in ports:
        return
    for router in routers:
        for flag, words in _targets(router):
            for word in words:
                match = _URL.fullmatch(word.text)
                if match is None and (there := _OF_HOST.fullmatch(word.text)) is not None:
                    bound = [server for server in servers if there["host"] in (_host(server), _machine(server))]
                    match, known = there if bound else None, {port for server in bound if (port := _port(server))}
                elif match is not None:
                    known = {port for port in ports if port is not None}
                if match is None or word.unresolved or int(match["port"]) in known:
                    continue
                line, listed = case.script.where(word.line), ", ".join(map(str, sorted(known)))
                message = f"{line}: {flag} sends to {shortened(word.text, 40)}, and the servers here listen on {listed}"
                remark = make_remark(Severity.WARNING, Code.CONFLICT, flag, message, "name the port of a server")
                yield replace(remark, command=None)
                return


def router_protocol(case: Case) -> Iterator[Remark]:
    """`grpc://` in front of a server that speaks HTTP: it is never healthy for the router."""
    both = _routers_and_servers(case)
    if both is None or case.base != names.EXPERTS_BY_OPTION:
        return
    routers, servers = both
    speaks = {port: _speaks_grpc(server) for server in servers if (port := _port(server)) is not None}
    if len(speaks) < len(servers):
        return  # two at one port of several machines, or one that is not known
    for router in routers:
        for flag, words in _targets(router):
            for word in words:
                match = _ANY.fullmatch(word.text)
                if match is None or word.unresolved or speaks.get(int(match["port"])) is not False:
                    continue
                if not word.text.startswith("grpc://"):
                    continue
                message = (
                    f"{case.script.where(word.line)}: {flag} {shortened(word.text, 40)} is asked by gRPC, and the "
                )
                message += "server there speaks HTTP alone: the router finds it not healthy"
                remedy = f"start the servers with {_GRPC[0]}, or write http:// for grpc://"
                yield replace(make_remark(Severity.WARNING, Code.CONFLICT, flag, message, remedy), command=None)
                return


def _speaks_grpc(server: Command) -> bool:
    """Or may do so: a variable of several words may hold the switch."""
    return any(word.text.partition("=")[0] in _GRPC or word.text.startswith("$") for word in server.argv)


def bootstrap_port(case: Case) -> Iterator[Remark]:
    """The number behind `--prefill URL` is the port where the prefill server tells its ranks."""
    both = _routers_and_servers(case)
    if both is None or case.base != names.EXPERTS_BY_OPTION:
        return
    routers, servers = both
    prefill = [server for server in servers if (role := value_of(server.argv, (_ROLE,))) and role.text == "prefill"]
    own = [_number(value_of(server.argv, (_BOOTSTRAP,)), _DEFAULT_BOOTSTRAP) for server in prefill]
    if not prefill or None in own or any(name.endswith(_RUST) for server in prefill for name in server.env):
        return
    for router in routers:
        for flag, words in _targets(router):
            url, number = (*words, None, None)[:2]
            if flag != _PREFILL or url is None or number is None or not _ANY.fullmatch(url.text):
                continue
            if not number.text.isdigit() or number.unresolved or int(number.text) in own:
                continue
            listed = ", ".join(str(each) for each in dict.fromkeys(own))
            line = case.script.where(number.line)
            message = f"{line}: {flag} … {number.text}, and the prefill server's bootstrap port is {listed}: decode "
            message += "servers ask there and find nothing"
            remedy = f"write {listed} behind the address, or start it with {_BOOTSTRAP} {number.text}"
            remark = make_remark(Severity.WARNING, Code.CONFLICT, flag, message, remedy)
            yield replace(remark, command=None)
            return


def bridged_nodes(case: Case) -> Iterator[Remark]:
    """Ranks of several machines in containers that have Docker's bridge, where the others do not reach them."""
    for number, (command, reading) in enumerate(zip(case.commands, case.readings, strict=False)):
        container, node = command.container, reading.node
        if container is None or container.kind != "docker run" or (node.nodes or 1) < 2 or not container.words:
            continue
        if command.custom or command.more or case.script.objects or not node.master:
            continue
        host = node.master.rpartition(":")[0] or node.master
        if container.has("--network") or container.given("--network") or host in ("127.0.0.1", "localhost"):
            continue
        if any(container.given(flag) for flag in ("--ip", "--add-host", "--link", "--hostname", "--pod", "--uts")):
            continue
        message = (
            f"{node.nodes} nodes, and no --network: in Docker's own bridge each rank has an address that the other "
        )
        message += "machines do not reach, and the start waits for them"
        finding = Finding(Severity.WARNING, Code.MISSING_FLAG, "--network", message, "add --network host")
        yield Remark(finding, word=container.image, command=number)
        return


def unpublished_bootstrap(case: Case) -> Iterator[Remark]:
    """A server for prefill in a container that publishes its own port alone: decode servers ask at another one too."""
    command, container = case.commands[0], case.commands[0].container
    if container is None or container.kind != "docker run" or not container.words or command.custom or command.more:
        return
    role, given = value_of(command.argv, (_ROLE,)), value_of(command.argv, (_BOOTSTRAP,))
    port = _number(given, _DEFAULT_BOOTSTRAP)
    if case.base != names.EXPERTS_BY_OPTION or role is None or role.text != "prefill" or port is None:
        return
    if container.has("--network") or any(name.endswith(_RUST) for name in command.env):
        return
    published = [option for option in container.given("--publish") if option.value]
    inside = [_INSIDE.fullmatch(option.value or "") for option in published]
    if not published or not all(inside) or any(match and _holds(match["inside"], port) for match in inside):
        return
    message = f"decode servers ask the prefill server at its bootstrap port {port} too, which is not published: from "
    message += "outside of this machine's bridge they do not reach it"
    word = published[0].words[-1] if published[0].words else container.image
    remedy = f"add -p {port}:{port}, or the host's network, as its transfers take any port"
    yield make_remark(Severity.WARNING, Code.CONFLICT, f"-p {published[0].value}", message, remedy, word=word)


def loopback_for_router(case: Case) -> Iterator[Remark]:
    """A server that listens on 127.0.0.1, and a router that asks it at the address of its machine."""
    script, command = case.script, case.commands[0]
    known = options.named("--host") if (options := option_set(case.engine.program, case.version or None)) else None
    host = case.text("--host").strip("'\"") or (str(known.default) if known is not None else "")
    port = case.text("--port").strip("'\"") or str(case.engine.command_line.port or "")
    if host not in _LOOPBACK or not port.isdigit() or command.container is not None or script.objects or command.custom:
        return
    if len(script.commands) > _MOST or command.embedded or any(name.endswith("_HOST") for name in command.env):
        return
    if (case.first.node.node_rank or 0) > 0 or case.first.node.headless or command.more:
        return
    asked: dict[str, Word] = {}
    for router in (each for each in script.commands if is_router(each.program)):
        for _, words in _targets(router):
            for word in words:
                there = _OF_HOST.fullmatch(word.text)
                if there is not None and there["port"] == port and there["host"] not in (*_LOOPBACK, "0.0.0.0"):  # noqa: S104
                    asked.setdefault(there["host"], word)
    servers = [each for each in script.commands if is_server(each.program) and _at_port(each, int(port))]
    others = sum((_host(each) or host) not in _LOOPBACK for each in servers)
    if len(asked) <= others or len(asked) > len(servers):
        return
    name, word = next(iter(asked.items()))
    message = f"it listens on {host}{'' if case.option('--host') else ' by default'}, and the router of "
    message += (
        f"{script.where(word.line)} asks servers at addresses like {shortened(name, 40)}: it is not reached there"
    )
    place = case.option("--host")
    remark = make_remark(
        Severity.WARNING,
        Code.CONFLICT,
        "--host",
        message,
        "write --host 0.0.0.0, or the address that the router asks",
        at=place.index if place is not None else None,
    )
    yield remark


def _at_port(server: Command, port: int) -> bool:
    own = value_of(server.argv, ("--port",))
    return own is None or own.text == str(port)


def _holds(ports: str, port: int) -> bool:
    """Whether `8998` or `8990-9000` has it."""
    first, _, last = ports.partition("-")
    return int(first) <= port <= int(last or first)


def _routers_and_servers(case: Case) -> tuple[Sequence[Command], Sequence[Command]] | None:
    script = case.script
    if len(script.commands) > _MOST or script.objects or not is_first(case.commands, script):
        return None
    routers = [command for command in script.commands if is_router(command.program)]
    servers = [command for command in script.commands if is_server(command.program)]
    if any(command.program == "fragment" for command in script.commands) or not routers or not servers:
        return None
    return routers, servers


def _targets(router: Command) -> Iterator[tuple[str, Sequence[Word]]]:
    """Each option with the words behind it."""
    words = router.argv
    for at, word in enumerate(words):
        if word.text in _TARGETS:
            yield word.text, [*takewhile(lambda each: not each.text.startswith("-"), words[at + 1 :])]


def _host(server: Command) -> str:
    word = value_of(server.argv, ("--host",))
    return word.text if word is not None and not word.unresolved else ""


def _machine(server: Command) -> str:
    """The machine that `ssh` starts it on; "" where it is not said."""
    remote = next((wrapper for wrapper in server.wrappers if wrapper.kind == "ssh"), None)
    words = [word.text for word in remote.words if not word.unresolved] if remote is not None else []
    return words[-1].rpartition("@")[2] if len(words) > 1 and not words[-1].startswith("-") else ""


def _port(server: Command) -> int | None:
    """Where it serves, by an option alone: the text may map others."""
    container = server.container
    if container is not None and container.given("--publish"):
        return None
    return _number(value_of(server.argv, ("--port",)), None)


def _number(word: Word | None, default: int | None) -> int | None:
    if word is None:
        return default
    return int(word.text) if word.text.isdigit() and not word.unresolved and len(word.text) < 6 else None
