"""One engine over several nodes: the head waits for the others before it loads, and neither outlives the other long.

The rendezvous is a TCP connection to `--master-addr:--master-port`, as torch's is; a connection that ends is a rank
that is lost, one that is only silent is noticed by nobody.
"""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable

from fake_engine.loop import GONE, READ, Loop
from fake_engine.say import say
from fake_engine.switches import Switches
from fake_engine.workers import start_workers

OUTLIVES_S = 2.0
"""So long a headless node of the real engine stayed after its head had stopped."""
AGAIN_S = 0.2


class Nodes:
    """What the command line says of them."""

    def __init__(self, words: list[str]) -> None:
        def value(flag: str, default: str) -> str:
            return words[words.index(flag) + 1] if flag in words else default

        self.count = int(value("--nnodes", "1"))
        self.rank = int(value("--node-rank", "0"))
        self.master = (value("--master-addr", "127.0.0.1"), int(value("--master-port", "29501")))
        self.headless = "--headless" in words


class Meeting:
    """The head's side: `met()` once all have come, `lost()` when one of them goes."""

    def __init__(self, loop: Loop, nodes: Nodes, met: Callable[[], None], lost: Callable[[], None]) -> None:
        self.loop, self.nodes, self.met, self.lost = loop, nodes, met, lost
        self.others: list[socket.socket] = []
        self.listener = socket.create_server(nodes.master)
        loop.watch(self.listener.fileno(), self.accept)

    def accept(self, _: int) -> None:
        other, _ = self.listener.accept()
        self.others.append(other)
        self.loop.watch(other.fileno(), lambda _: self.gone(other))
        if len(self.others) == self.nodes.count - 1:
            self.loop.forget(self.listener.fileno())
            self.listener.close()
            self.met()

    def gone(self, other: socket.socket) -> None:
        self.loop.forget(other.fileno())
        self.lost()


def run_headless(nodes: Nodes, switches: Switches, port: int) -> None:
    """A node without an API server. Ends with 0 when asked to, 1 once its head is gone."""
    address, number = nodes.master
    say("APIServer", f"Launching vLLM (v0.32.0) headless multiproc executor, with head node address {address}:{number}")
    started = start_workers(switches.workers, port, switches.ignore_term)
    loop = Loop()
    loop.on_signals((signal.SIGINT, signal.SIGTERM), lambda _: os._exit(0))
    for _, worker in started:
        loop.watch(worker.fileno(), lambda _: os._exit(1))

    def end() -> None:
        say("APIServer", "RuntimeError: Connection closed by peer", "ERROR")
        os._exit(1)

    def join() -> None:
        try:
            head = socket.create_connection(nodes.master, timeout=AGAIN_S)
        except OSError:
            loop.after(AGAIN_S, join)
            return
        say("Worker", f"world_size={nodes.count} rank={nodes.rank} backend=gloo")
        loop.watch(head.fileno(), lambda _: (loop.forget(head.fileno()), loop.after(OUTLIVES_S, end)), READ | GONE)
        held.append(head)

    held: list[socket.socket] = []
    loop.after(switches.late_s, join)
    loop.run()
