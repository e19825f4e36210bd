"""`control.sock`: one JSON line in, one JSON line out.

status · attend · ready {generation, asked_s} · stop {drain_s, grace_s, reason} · hurry · fail {reason} ·
cycle {reason} · start · end {reason}
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import socket
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

from moonpad.run.keeper.event_loop import EventLoop

NAME = "control.sock"
REQUEST_BYTES = 1 << 16
ANSWER_BYTES = 1 << 16
CLIENTS = 16


def request(folder: Path, document: dict[str, Any], timeout_s: float) -> dict[str, Any]:
    """The answer of the keeper in that run folder.

    Raises:
        OSError: no keeper listens, or no answer came in time.
        ValueError: the answer is not a JSON object.
    """
    # A socket's path may have 107 bytes and a run folder more, so it is reached through a descriptor of the folder.
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(timeout_s)
            connection.connect(f"/proc/self/fd/{handle}/{NAME}")
            connection.sendall(json.dumps(document).encode() + b"\n")
            answer = b""
            while not answer.endswith(b"\n") and len(answer) < ANSWER_BYTES and (piece := connection.recv(4096)):
                answer += piece
    finally:
        os.close(handle)
    reply = json.loads(answer)
    if not isinstance(reply, dict):
        raise ValueError(f"the answer is not a JSON object: {answer[:80]!r}")
    return reply


class ControlSocket:
    """The keeper's end, in the current directory and for our own user only. No client can block us."""

    def __init__(self, loop: EventLoop, handle: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        self._loop = loop
        self._handle = handle
        self._clients: dict[socket.socket, bytes] = {}
        with contextlib.suppress(FileNotFoundError):
            os.unlink(NAME)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        before = os.umask(0o177)
        try:
            self._listener.bind(NAME)  # in the run folder: the whole path may be longer than a socket's
        finally:
            os.umask(before)
        self._listener.listen()
        self._listener.setblocking(False)
        loop.selector.register(self._listener, selectors.EVENT_READ, self._accept)

    def _accept(self) -> None:
        try:
            client, _ = self._listener.accept()
        except OSError:
            return
        client.setblocking(False)
        uid = struct.unpack("3i", client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1]
        if uid not in (os.getuid(), 0):
            client.close()
            return
        if len(self._clients) >= CLIENTS:
            self._drop(next(iter(self._clients)))  # the oldest, which has sent no request yet
        self._clients[client] = b""
        self._loop.selector.register(client, selectors.EVENT_READ, lambda: self._read(client))

    def _read(self, client: socket.socket) -> None:
        try:
            piece = client.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        self._clients[client] += piece
        line, end, _ = self._clients[client].partition(b"\n")
        if end:
            self._answer(client, line)
        elif not piece or len(line) > REQUEST_BYTES:
            self._drop(client)

    def _answer(self, client: socket.socket, line: bytes) -> None:
        try:
            document = json.loads(line)
            answer = self._handle(document) if isinstance(document, dict) else {"ok": False, "why": "not an object"}
        except (ValueError, RecursionError, TypeError) as error:
            answer = {"ok": False, "why": str(error)}
        with contextlib.suppress(OSError):
            client.send(json.dumps(answer).encode() + b"\n")
        self._drop(client)

    def _drop(self, client: socket.socket) -> None:
        self._loop.selector.unregister(client)
        del self._clients[client]
        client.close()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            os.unlink(NAME)
        self._listener.close()
