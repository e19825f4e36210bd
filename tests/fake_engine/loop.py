"""One thread that waits for files, timers and signals. asyncio alone would take longer to import than the start."""

from __future__ import annotations

import heapq
import json
import os
import select
import signal
import socket
import time
from collections.abc import Callable, Iterable
from typing import Any

READ, WRITE = select.EPOLLIN, select.EPOLLOUT
GONE = select.EPOLLHUP | select.EPOLLERR
PIECE_BYTES = 1 << 16


class Loop:
    """Make it after the last fork: what it holds is not to be shared."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._watched: dict[int, Callable[[int], None]] = {}
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._made = 0

    def watch(self, handle: int, callback: Callable[[int], None], events: int = READ) -> None:
        """`callback(events)` whenever one of the events, or the other side's end, is there."""
        if handle in self._watched:
            self._epoll.modify(handle, events)
        else:
            self._epoll.register(handle, events)
        self._watched[handle] = callback

    def forget(self, handle: int) -> None:
        if self._watched.pop(handle, None) is not None:
            self._epoll.unregister(handle)

    def after(self, delay_s: float, callback: Callable[[], None]) -> None:
        self._made += 1
        heapq.heappush(self._timers, (time.monotonic() + delay_s, self._made, callback))

    def on_signals(self, numbers: Iterable[int], callback: Callable[[int], None]) -> None:
        """From now on these signals are events; those that were held back until now come first."""
        here, there = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(there, warn_on_full_buffer=False)
        for number in numbers:
            signal.signal(number, lambda *_: None)

        def read(_: int) -> None:
            for number in os.read(here, 64):
                if number in numbers:
                    callback(number)

        self.watch(here, read)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)

    def run(self) -> None:
        """For ever: a process of the fake engine ends by os._exit."""
        while True:
            now = time.monotonic()
            while self._timers and self._timers[0][0] <= now:
                heapq.heappop(self._timers)[2]()
            wait_s = max(0.0, self._timers[0][0] - time.monotonic()) if self._timers else None
            for handle, events in self._epoll.poll(wait_s):
                callback = self._watched.get(handle)
                if callback is not None:
                    callback(events)


class Channel:
    """JSON lines both ways over a connected socket; `ended()` once the other side is gone."""

    def __init__(
        self, loop: Loop, sock: socket.socket, received: Callable[[list[Any]], None], ended: Callable[[], None]
    ) -> None:
        self._loop, self._socket, self._received, self._ended = loop, sock, received, ended
        self._rest = b""
        self._backlog = b""
        self.open = True
        sock.setblocking(False)
        loop.watch(sock.fileno(), self._on_event)

    def send(self, *message: object) -> None:
        if self.open:
            self._backlog += json.dumps(message).encode() + b"\n"
            self._flush()

    def _on_event(self, events: int) -> None:
        if events & WRITE:
            self._flush()
        if not events & (READ | GONE) or not self.open:
            return
        try:
            data = self._socket.recv(PIECE_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._close()
            return
        *whole, self._rest = (self._rest + data).split(b"\n")
        for line in whole:
            self._received(json.loads(line))

    def _flush(self) -> None:
        try:
            self._backlog = self._backlog[self._socket.send(self._backlog) :] if self._backlog else b""
        except BlockingIOError:
            pass
        except OSError:
            return  # its end is read, and said once
        self._loop.watch(self._socket.fileno(), self._on_event, READ | WRITE if self._backlog else READ)

    def _close(self) -> None:
        self.open = False
        self._loop.forget(self._socket.fileno())
        self._socket.close()
        self._ended()
