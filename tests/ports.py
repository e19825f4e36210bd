"""Ports for tests that run beside one another."""

from __future__ import annotations

import random
import socket
from contextlib import ExitStack, suppress

# Below the range from which the system takes the ports of outgoing connections, and above the fixed ports of engines.
RANGE = range(20_000, 30_000, 2)


def free_port() -> int:
    """A port that is free on the loopback, as is the next one. Not from `random` itself: Hypothesis seeds it."""
    return free_ports(2)[0]


def free_ports(count: int) -> tuple[int, ...]:
    """So many adjacent ports that are free on the loopback."""
    for port in random.SystemRandom().sample(RANGE, 100):
        with ExitStack() as sockets, suppress(OSError):
            for number in range(count):
                sockets.enter_context(socket.socket()).bind(("127.0.0.1", port + number))
            return tuple(range(port, port + count))
    raise AssertionError(f"no {count} adjacent ports are free")
