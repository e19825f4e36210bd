"""Talks to a run's keeper over the socket in its folder: one JSON line there, one back (see run/keeper.py)."""

from __future__ import annotations

import json
import os
import socket
from typing import Any

from moonpad.store.run_folder import RunFolder
from moonpad.values.errors import ContactLost

ANSWER_LIMIT_S = 5.0
ANSWER_BYTES = 1 << 16


def tell(folder: RunFolder, do: str, timeout_s: float = ANSWER_LIMIT_S, **fields: object) -> dict[str, Any]:
    """The keeper's answer, whose `ok` says whether it will do it, and `why` why not.

    Raises:
        ContactLost: nobody listens, or no answer came in time.
    """
    try:
        return _ask(folder, {"do": do, **fields}, timeout_s)
    except (OSError, ValueError) as error:
        raise ContactLost(
            f"the keeper of {folder.name} does not answer: {error}", remedy=f"moonpad status {folder.name}"
        ) from error


def _ask(folder: RunFolder, request: dict[str, object], timeout_s: float) -> dict[str, Any]:
    # A socket's path may have 107 bytes and a run folder more, so it is reached through a descriptor of the folder.
    handle = os.open(folder.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(timeout_s)
            connection.connect(f"/proc/self/fd/{handle}/control.sock")
            connection.sendall(json.dumps(request).encode() + b"\n")
            answer = b""
            while not answer.endswith(b"\n") and len(answer) < ANSWER_BYTES:
                piece = connection.recv(4096)
                if not piece:
                    break
                answer += piece
    finally:
        os.close(handle)
    document = json.loads(answer)
    if not isinstance(document, dict):
        raise ValueError(f"an answer that is no object: {answer[:80]!r}")
    return document
