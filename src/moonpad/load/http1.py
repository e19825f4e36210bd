"""One HTTP/1.1 response, read as the bytes come: chunked, by content-length, or until the connection closes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from moonpad.load.failure import FailureKind, RequestFailed

MAX_HEAD_BYTES: Final = 64 * 1024
MAX_CHUNK_LINE_BYTES: Final = 4096
HEX: Final = frozenset(b"0123456789abcdefABCDEF")
PLAIN_SIZE_BYTES: Final = 10
"""A size of at most eight digits, with its line end."""
LAST_CHUNK: Final = b"0\r\n\r\n"
STATUS_LINE: Final = re.compile(rb"HTTP/1\.[01] (\d{3})(?: |$)")
CHUNK_SIZE: Final = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;.*)?")


class ResponseParser:
    """`status` is 0 until the head is whole; header names are lower case; `complete` once the body has ended."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.complete = False
        self._buffer = bytearray()
        self._left = 0  # body bytes still to come, of the body or of the current chunk
        self._until_close = False
        self._asks_keep_alive = False
        self._step: Callable[[], bytes | None] = self._head

    @property
    def between_chunks(self) -> bool:
        """The next byte begins a chunk."""
        return not self._buffer and self._step == self._chunk_size

    @property
    def keeps_alive(self) -> bool:
        """Whether the connection may carry another request: the body ended by itself, and nothing came after it."""
        return self.complete and not self._until_close and not self._buffer and self._asks_keep_alive

    def feed(self, data: bytes) -> bytes:
        """The body bytes among `data`.

        Raises:
            RequestFailed: this is not HTTP/1.1 (`bad-http`).
        """
        body: list[bytes] = []
        if self.between_chunks:
            data = self._whole_chunks(data, body)
        self._buffer += data
        while not self.complete and (piece := self._step()) is not None:
            body.append(piece)
        return b"".join(body)

    def _whole_chunks(self, data: bytes, body: list[bytes]) -> bytes:
        """Takes the plain chunks that `data` begins with; what is left is for the steps, which take anything."""
        at = 0
        while (end := data.find(b"\r\n", at, at + PLAIN_SIZE_BYTES)) > at:
            digits = data[at:end]
            size = int(digits, 16) if HEX.issuperset(digits) else 0
            last = end + 2 + size
            if not size or data[last : last + 2] != b"\r\n":
                break
            body.append(data[end + 2 : last])
            at = last + 2
        if data.startswith(LAST_CHUNK, at) and len(data) == at + len(LAST_CHUNK):
            self.complete = True
            return b""
        return data[at:] if at else data

    def end_of_connection(self) -> None:
        """The server closed: that ends a body of no stated length, and no other."""
        self.complete = self.complete or self._until_close

    # Each step takes what it can from the buffer and returns the body bytes in it; None means: more bytes are needed.

    def _head(self) -> bytes | None:
        end = self._buffer.find(b"\r\n\r\n")
        if end > MAX_HEAD_BYTES or (end < 0 and len(self._buffer) > MAX_HEAD_BYTES):
            raise _bad(f"the head is longer than {MAX_HEAD_BYTES} bytes")
        if end < 0:
            return None
        status_line, *fields = self._take(end + 4)[:-4].split(b"\r\n")
        match = STATUS_LINE.match(status_line)
        if not match:
            raise _bad(f"no HTTP/1.1 status line: {status_line[:80]!r}")
        status = int(match[1])
        if status < 200:  # 100 Continue, 103 Early Hints: the answer itself comes later
            return b""
        self.headers = dict(_field(field) for field in fields)
        self._asks_keep_alive = status_line.startswith(b"HTTP/1.1") and "close" not in self._header("connection")
        self.status = status
        self._begin_body()
        body: list[bytes] = []
        if self._step == self._chunk_size:
            self._buffer += self._whole_chunks(self._take(len(self._buffer)), body)
        return b"".join(body)

    def _begin_body(self) -> None:
        length = self._header("content-length")
        if self.status in (204, 304):
            self.complete = True
        elif "chunked" in self._header("transfer-encoding"):
            self._step = self._chunk_size
        elif not length:
            self._until_close = True
            self._step = self._rest
        elif length.isascii() and length.isdigit() and len(length) < 16:
            self._left = int(length)
            self.complete = self._left == 0
            self._step = self._by_length
        else:
            raise _bad(f"content-length is {length[:80]!r}")

    def _rest(self) -> bytes | None:
        return self._take(len(self._buffer)) or None

    def _by_length(self) -> bytes | None:
        piece = self._take(self._left)
        self._left -= len(piece)
        self.complete = self._left == 0
        return piece or None

    def _chunk_size(self) -> bytes | None:
        line = self._line()
        if line is None:
            return None
        match = CHUNK_SIZE.fullmatch(line)
        if not match:
            raise _bad(f"no chunk size: {line[:80]!r}")
        self._left = int(match[1], 16)
        self._step = self._chunk_data if self._left else self._trailers
        return b""

    def _chunk_data(self) -> bytes | None:
        piece = self._take(self._left)
        self._left -= len(piece)
        if self._left == 0:
            self._step = self._chunk_end
        return piece or None

    def _chunk_end(self) -> bytes | None:
        line = self._line()
        if line is None:
            return None
        if line:
            raise _bad(f"a chunk is longer than its size: {line[:80]!r}")
        self._step = self._chunk_size
        return b""

    def _trailers(self) -> bytes | None:
        line = self._line()
        if line is None:
            return None
        self.complete = not line
        return b""

    def _line(self) -> bytes | None:
        end = self._buffer.find(b"\r\n", 0, MAX_CHUNK_LINE_BYTES)
        if end < 0 and len(self._buffer) >= MAX_CHUNK_LINE_BYTES:
            raise _bad(f"a line between chunks is longer than {MAX_CHUNK_LINE_BYTES} bytes")
        return None if end < 0 else self._take(end + 2)[:-2]

    def _take(self, size: int) -> bytes:
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        return taken

    def _header(self, name: str) -> str:
        return self.headers.get(name, "").lower()


def _field(line: bytes) -> tuple[str, str]:
    name, _, value = line.partition(b":")
    return name.decode("latin-1").lower(), value.strip().decode("latin-1")


def _bad(text: str) -> RequestFailed:
    return RequestFailed(FailureKind.BAD_HTTP, text)
