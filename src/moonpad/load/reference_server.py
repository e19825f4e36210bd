"""A streaming server of known timing, in a process of its own: against it the client measures itself.

    python -m moonpad.load.reference_server

It prints its port, and ends when its stdin ends: nothing of it outlives the client. A request says in its body how many
tokens it wants, and the seconds before the first and between two. The server records each write on the machine's
monotonic clock, which is the client's too, and returns the records for `GET /times`.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Final, cast

from moonpad.load.event_loop import run_in_loop

HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
LAST: Final = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}\n\n'
DONE: Final = b"data: [DONE]\n\n"
TOKEN: Final = b'data: {"choices":[{"index":0,"delta":{"content":" four"}}]}\n\n'


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


TOKEN_CHUNK: Final = chunk(TOKEN)
END: Final = chunk(LAST) + chunk(DONE) + b"0\r\n\r\n"


class ReferenceServer(asyncio.Protocol):
    """One connection. `times[i]` are the writes of tokens of the request that calls itself i."""

    times: dict[int, list[float]]
    transport: asyncio.Transport

    def __init__(self, times: dict[int, list[float]]) -> None:
        self.times = times
        self.pending = b""
        self.loop = asyncio.get_running_loop()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self.pending += data
        while (end := self.pending.find(b"\r\n\r\n")) >= 0:
            head = self.pending[:end]
            length = next(
                (int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0
            )
            if len(self.pending) < end + 4 + length:
                return
            body, self.pending = self.pending[end + 4 : end + 4 + length], self.pending[end + 4 + length :]
            if head.startswith(b"GET"):
                self.tell()
            else:
                self.answer(json.loads(body))

    def tell(self) -> None:
        body = json.dumps(self.times).encode()
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
        self.transport.write(head + body)

    def answer(self, request: dict[str, float]) -> None:
        """The instants are fixed beforehand, so that a late write does not make the next one late."""
        notes = self.times[int(request["id"])] = []
        first_s = self.loop.time() + request["first_s"]
        for number in range(int(request["tokens"])):
            last = number + 1 == int(request["tokens"])
            self.loop.call_at(first_s + number * request["gap_s"], self.write, notes, number == 0, last)

    def write(self, notes: list[float], first: bool, last: bool) -> None:
        if self.transport.is_closing():
            return
        notes.append(time.perf_counter())
        self.transport.write((HEAD if first else b"") + TOKEN_CHUNK + (END if last else b""))


async def serve() -> None:
    loop = asyncio.get_running_loop()
    times: dict[int, list[float]] = {}
    server = await loop.create_server(lambda: ReferenceServer(times), "127.0.0.1", 0, backlog=4096)
    over = loop.create_future()
    await loop.connect_read_pipe(lambda: _Stdin(over), sys.stdin)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await over


class _Stdin(asyncio.Protocol):
    def __init__(self, over: asyncio.Future[None]) -> None:
        self.over = over

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.over.done():
            self.over.set_result(None)


if __name__ == "__main__":
    run_in_loop(serve())
