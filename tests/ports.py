"""Ports for tests that run beside one another."""

from __future__ import annotations

import random
import socket
from contextlib import suppress

# Below the range from which the system takes the ports of outgoing connections, and above the fixed ports of engines.
RANGE = range(20_000, 30_000, 2)


def free_port() -> int:
    """A port that is free on the loopback, as is the next one. Not from `random` itself: Hypothesis seeds it."""
    for port in random.SystemRandom().sample(RANGE, 100):
        with socket.socket() as first, socket.socket() as second, suppress(OSError):
            first.bind(("127.0.0.1", port))
            second.bind(("127.0.0.1", port + 1))
            return port
    raise AssertionError("no two adjacent ports are free")
