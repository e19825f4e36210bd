"""HTTP/1.1 over one connection: requests one after the other, answers whole or streamed, nothing ever blocks."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable

from fake_engine.loop import GONE, PIECE_BYTES, READ, WRITE, Loop

REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 500: "Internal Server Error"}
LAST_CHUNK = b"0\r\n\r\n"


def http_chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


class HttpRequest:
    def __init__(self, method: str, path: str, headers: dict[str, str], body: bytes) -> None:
        self.method, self.path, self.headers, self.body = method, path, headers, body


class Connection:
    """`handle(self, request)` answers now or later. `gone()` is called when the client leaves before its answer is
    whole, `closed(self)` at the end of the connection, whoever ended it."""

    def __init__(
        self,
        loop: Loop,
        sock: socket.socket,
        handle: Callable[[Connection, HttpRequest], None],
        closed: Callable[[Connection], None],
    ) -> None:
        self._loop, self._socket, self._handle, self._closed = loop, sock, handle, closed
        self.gone: Callable[[], None] | None = None
        self._unread = b""
        self._unsent = bytearray()
        self._busy = False
        self._ending = False
        self.open = True
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        loop.watch(sock.fileno(), self._on_event)

    def answer(self, status: int, body: object, content_type: str = "application/json") -> None:
        """The whole answer. Text goes as it is, anything else as JSON."""
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        head = f"HTTP/1.1 {status} {REASONS.get(status, 'Unavailable')}\r\nContent-Type: {content_type}\r\n"
        self.send(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)
        self._next()

    def begin_stream(self) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
        self.send(head + b"Transfer-Encoding: chunked\r\n\r\n")

    def end_stream(self) -> None:
        self.send(LAST_CHUNK)
        self._next()

    def send(self, data: bytes) -> None:
        if not self.open:
            return
        if not self._unsent:
            try:
                data = data[self._socket.send(data) :]
            except BlockingIOError:
                pass
            except OSError:
                return  # its end will be read
        if data:
            self._unsent += data
            self._loop.watch(self._socket.fileno(), self._on_event, READ | WRITE)

    def close(self) -> None:
        if self.open:
            self.open = False
            self._loop.forget(self._socket.fileno())
            self._socket.close()
            self._closed(self)

    def _on_event(self, events: int) -> None:
        if events & WRITE:
            self._flush()
        if self.open and events & (READ | GONE):
            self._read()

    def _flush(self) -> None:
        try:
            del self._unsent[: self._socket.send(self._unsent)]
        except BlockingIOError:
            return
        except OSError:
            self._left()
            return
        if not self._unsent:
            self._loop.watch(self._socket.fileno(), self._on_event, READ)
            if self._ending:
                self.close()

    def _read(self) -> None:
        try:
            data = self._socket.recv(PIECE_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._left()
            return
        self._unread += data
        if not self._busy:
            self._parse()

    def _left(self) -> None:
        self.close()
        if self._busy and self.gone:
            self.gone()

    def _next(self) -> None:
        """The answer is whole. What the client has sent meanwhile comes now."""
        self._busy, self.gone = False, None
        if self._ending and not self._unsent:
            self.close()
        elif self.open and self._unread and not self._ending:
            self._loop.after(0.0, lambda: None if self._busy else self._parse())

    def _parse(self) -> None:
        head, separator, rest = self._unread.partition(b"\r\n\r\n")
        if not separator or not self.open:
            return
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = int(headers.get("content-length") or 0)
        if len(rest) < length:
            return
        self._unread = rest[length:]
        self._busy = True
        method, path, _ = f"{first}  ".split(" ", 2)
        self._ending = headers.get("connection", "").lower() == "close"
        self._handle(self, HttpRequest(method, path.partition("?")[0], headers, rest[:length]))
