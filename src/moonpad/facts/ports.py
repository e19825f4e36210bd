"""Whether a TCP port is free for us, and if not, whose it is."""

from __future__ import annotations

import errno
import ipaddress
import socket
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

COMMAND_WORDS = 3
"""Of a stranger's command line: enough to know it (`python -m http.server`), too few to show a key among arguments."""
WORD_CHARACTERS = 40
LOOKS = 5
LOOK_PAUSE_S = 0.05


@dataclass(frozen=True, slots=True)
class PortOwner:
    """`pid` is None where the system does not tell us (another user's process); `command` then says so."""

    pid: int | None
    command: str

    def __str__(self) -> str:
        return f"pid {self.pid} ({self.command})" if self.pid else self.command


@dataclass(frozen=True, slots=True)
class Listener:
    address: str
    port: int
    pid: int | None


def owner_of_port(host: str, port: int) -> PortOwner | None:
    """None where we can bind it. Where the system forbids it for another reason, that reason stands in `command`.

    The bind is the truth, the list of sockets only gives the name. It is made without SO_REUSEPORT on purpose: vLLM
    sets that, and two servers of one user would share the port, each getting some of the requests. Who binds
    it for a moment only, as this very look in another process does, does not count.
    """
    refusal = _lasting_refusal(host, port)
    if refusal is None:
        return None
    if getattr(refusal, "errno", None) != errno.EADDRINUSE:
        return PortOwner(None, f"the system, which refuses it: {getattr(refusal, 'strerror', None) or refusal}")
    numeric = str(socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0][4][0])  # as the list of sockets has it
    pid = pid_on(numeric, port, _listeners())
    return PortOwner(pid, _command(pid) if pid else "a process that is not ours to see")


def pid_on(host: str, port: int, listeners: Iterable[Listener]) -> int | None:
    """Who listens where `host:port` would, the exact address before a wildcard."""
    pids = {
        listener.address: listener.pid
        for listener in listeners
        if listener.port == port and listener.pid and _overlaps(listener.address, host)
    }
    return pids.get(host) or next(iter(pids.values()), None)


def listens(pids: Iterable[int], port: int) -> bool:
    """Whether one of these processes listens on the TCP port. Those that are gone, or not ours to see, do not."""
    import psutil

    for pid in pids:
        with suppress(psutil.Error):
            for connection in psutil.Process(pid).net_connections(kind="tcp"):
                if connection.status == psutil.CONN_LISTEN and connection.laddr.port == port:
                    return True
    return False


def _overlaps(listening: str, host: str) -> bool:
    return listening == host or _any_address(listening) or _any_address(host)


def _any_address(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_unspecified
    except ValueError:
        return False


def _lasting_refusal(host: str, port: int) -> OSError | OverflowError | None:
    for _ in range(LOOKS - 1):
        refusal = _try_to_bind(host, port)
        if getattr(refusal, "errno", None) != errno.EADDRINUSE:
            return refusal
        time.sleep(LOOK_PAUSE_S)
    return _try_to_bind(host, port)


def _try_to_bind(host: str, port: int) -> OSError | OverflowError | None:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as sock:
            # Connections of an earlier server in TIME_WAIT do not count as taken.
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind((address[0], port, *address[2:]))
            # With SO_REUSEADDR Linux lets the bind pass beside a socket that is bound and does not listen yet.
            sock.listen(1)
    except (OSError, OverflowError) as error:
        return error
    return None


def _listeners() -> list[Listener]:
    import psutil

    try:
        connections = psutil.net_connections(kind="tcp")
    except psutil.Error:  # macOS shows an ordinary user none
        return []
    return [
        Listener(connection.laddr.ip, connection.laddr.port, connection.pid)
        for connection in connections
        if connection.status == psutil.CONN_LISTEN and connection.laddr
    ]


def _command(pid: int) -> str:
    import psutil

    try:
        process = psutil.Process(pid)
        words = [" ".join(word.split())[:WORD_CHARACTERS] for word in process.cmdline()[:COMMAND_WORDS]]
        return " ".join(words) or process.name()
    except psutil.Error:
        return "ended, or not ours to see"
