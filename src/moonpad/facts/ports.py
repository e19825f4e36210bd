"""Whether a TCP port of the loopback is free for us, and if not, whose it is."""

from __future__ import annotations

import errno
import socket
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from moonpad.values.redaction import remember_words

HOST = "127.0.0.1"
WILDCARDS = ("0.0.0.0", "::")  # noqa: S104 - what others listen on
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


def owner_of_port(port: int) -> PortOwner | None:
    """Who has the port on the loopback, None where we can bind it. Where the system forbids it for another reason, that
    reason stands in `command`.

    The bind is the truth, the list of sockets only gives the name. It is made without SO_REUSEPORT on purpose: vLLM
    sets that, and two servers of one user would share the port, each getting some of the requests. Who binds
    it for a moment only, as this very look in another process does, does not count.
    """
    refusal = _lasting_refusal(port)
    if refusal is None:
        return None
    if getattr(refusal, "errno", None) != errno.EADDRINUSE:
        return PortOwner(None, f"the system, which refuses it: {getattr(refusal, 'strerror', None) or refusal}")
    pid = pid_on(port, _listeners())
    return PortOwner(pid, _command(pid) if pid else "a process of another user")


def pid_on(port: int, listeners: Iterable[Listener]) -> int | None:
    """Who listens on the port of the loopback, that address before a wildcard."""
    pids = {listener.address: listener.pid for listener in listeners if listener.port == port and listener.pid}
    return next((pids[address] for address in (HOST, *WILDCARDS) if address in pids), None)


def listens(pids: Iterable[int], port: int) -> bool:
    """Whether one of these processes listens on the TCP port. Those that have ended, or are another user's, do not."""
    import psutil

    for pid in pids:
        with suppress(psutil.Error):
            for connection in psutil.Process(pid).net_connections(kind="tcp"):
                if connection.status == psutil.CONN_LISTEN and connection.laddr.port == port:
                    return True
    return False


def _lasting_refusal(port: int) -> OSError | OverflowError | None:
    for _ in range(LOOKS - 1):
        refusal = _try_to_bind(port)
        if getattr(refusal, "errno", None) != errno.EADDRINUSE:
            return refusal
        time.sleep(LOOK_PAUSE_S)
    return _try_to_bind(port)


def _try_to_bind(port: int) -> OSError | OverflowError | None:
    try:
        with socket.socket() as sock:
            # Connections of an earlier server in TIME_WAIT do not count as taken.
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind((HOST, port))
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
        remember_words(process.cmdline())  # before the words are cut: half a key is not recognised
        words = [" ".join(word.split())[:WORD_CHARACTERS] for word in process.cmdline()[:COMMAND_WORDS]]
        return " ".join(words) or process.name()
    except psutil.Error:
        return "ended, or of another user"
