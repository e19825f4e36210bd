"""Reports the start to a service manager: systemd's `sd_notify` (man 3), for units with `Type=notify`."""

from __future__ import annotations

import os
import socket
from contextlib import suppress

SEND_LIMIT_S = 0.2


class ServiceManager:
    """`READY=1`, `STOPPING=1`, `STATUS=…` to $NOTIFY_SOCKET; nothing where that is not set.

    The variable is removed from the environment: our children are not the service, and must not report for it.
    """

    def __init__(self) -> None:
        address = os.environ.pop("NOTIFY_SOCKET", "")
        # "@" stands for the NUL of an abstract socket; other kinds (vsock:…) are for virtual machines.
        self._address = "\0" + address[1:] if address.startswith("@") else address if address.startswith("/") else ""

    def tell(self, *lines: str) -> None:
        """Best effort: it returns within SEND_LIMIT_S whether the service manager listens or not."""
        if not self._address:
            return
        text = "\n".join(line.replace("\n", " ") for line in lines)
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
            sock.settimeout(SEND_LIMIT_S)
            sock.sendto(text.encode(), self._address)
