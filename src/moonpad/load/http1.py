"""One HTTP/1.1 response, read as the bytes come: chunked, by content-length, or until the connection closes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from moonpad.load.failure import FailureKind, RequestFailed

MAX_HEAD_BYTES: Final = 64 * 1024
MAX_CHUNK_LINE_BYTES: Final = 4096
HEX: Final = frozenset(b"0123456789abcdefABCDEF")
PLAIN_SIZE_BYTES: Final = 10
"""A size of at most eight digits, with its line end."""
LAST_CHUNK: Final = b"0\r\n\r\n"
STATUS_LINE: Final = re.compile(rb"HTTP/1\.[01] (\d{3})(?: |$)")
CHUNK_SIZE: Final = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;.*)?")
MOST_HEADS: Final = 64


class Head(NamedTuple):
    """`headers` have lower case names."""

    status: int
    headers: Mapping[str, str]
    asks_keep_alive: bool

    def header(self, name: str) -> str:
        return self.headers.get(name, "").lower()


NO_HEAD: Final = Head(0, {}, False)


class HeadCache:
    """Parses each distinct head once: a server repeats the same one for at least a second."""

    def __init__(self) -> None:
        self._parsed: dict[bytes, Head] = {}

    def read(self, head: bytes) -> Head:
        """
        Raises:
            RequestFailed: not an HTTP head (`bad-http`).
        """
        parsed = self._parsed.get(head)
        if parsed is None:
            parsed = _read_head(head)
            if len(self._parsed) == MOST_HEADS:
                self._parsed.clear()
            self._parsed[head] = parsed
        return parsed


class ResponseParser:
    """`head.status` is 0 until the head is whole; `complete` once the body has ended."""

    __slots__ = ("_buffer", "_heads", "_left", "_step", "_until_close", "complete", "head")

    def __init__(self, heads: HeadCache | None = None) -> None:
        """`heads`: of the answers of one server, to be shared by all who read them."""
        self.head = NO_HEAD
        self.complete = False
        self._heads = heads or HeadCache()
        self._buffer = bytearray()
        self._left = 0  # body bytes still to come, of the body or of the current chunk
        self._until_close = False
        # The class's functions: a bound method would be a reference cycle, and work for the garbage collector.
        self._step: Callable[[ResponseParser], bytes | None] = ResponseParser._head

    @property
    def between_chunks(self) -> bool:
        """The next byte begins a chunk."""
        return not self._buffer and self._step is ResponseParser._chunk_size

    @property
    def keeps_alive(self) -> bool:
        """Whether the connection may carry another request: the body ended by itself, and nothing came after it."""
        return self.complete and not self._until_close and not self._buffer and self.head.asks_keep_alive

    def feed(self, data: bytes) -> bytes:
        """The body bytes among `data`.

        Raises:
            RequestFailed: this is not HTTP/1.1 (`bad-http`).
        """
        body: list[bytes] = []
        if not self._buffer:
            data = self._at_once(data, body)
        if data:
            self._buffer += data
            while not self.complete and (piece := self._step(self)) is not None:
                body.append(piece)
        return b"".join(body)

    def _at_once(self, data: bytes, body: list[bytes]) -> bytes:
        """What almost all reads are: a whole head, whole chunks, or both. What is left is for the steps."""
        if self._step is ResponseParser._head and 0 < (end := data.find(b"\r\n\r\n")) <= MAX_HEAD_BYTES:
            self._begin(data[: end + 4])
            data = data[end + 4 :]
        return self._whole_chunks(data, body) if self._step is ResponseParser._chunk_size else data

    def _whole_chunks(self, data: bytes, body: list[bytes]) -> bytes:
        """Takes the plain chunks that `data` begins with."""
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
        """The server closed, which ends a body without a stated length."""
        self.complete = self.complete or self._until_close

    # Each step takes what it can from the buffer and returns the body bytes in it; None means: more bytes are needed.

    def _head(self) -> bytes | None:
        end = self._buffer.find(b"\r\n\r\n")
        if end > MAX_HEAD_BYTES or (end < 0 and len(self._buffer) > MAX_HEAD_BYTES):
            raise _bad(f"the head is longer than {MAX_HEAD_BYTES} bytes")
        if end < 0:
            return None
        self._begin(self._take(end + 4))
        return b""

    def _begin(self, head: bytes) -> None:
        parsed = self._heads.read(head)
        if parsed.status < 200:  # 100 Continue, 103 Early Hints: the answer itself comes later
            return
        self.head = parsed
        length = parsed.header("content-length")
        if parsed.status in (204, 304):
            self.complete = True
        elif "chunked" in parsed.header("transfer-encoding"):
            self._step = ResponseParser._chunk_size
        elif not length:
            self._until_close = True
            self._step = ResponseParser._rest
        elif length.isascii() and length.isdigit() and len(length) < 16:
            self._left = int(length)
            self.complete = self._left == 0
            self._step = ResponseParser._by_length
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
            raise _bad(f"not a chunk size: {line[:80]!r}")
        self._left = int(match[1], 16)
        self._step = ResponseParser._chunk_data if self._left else ResponseParser._trailers
        return b""

    def _chunk_data(self) -> bytes | None:
        piece = self._take(self._left)
        self._left -= len(piece)
        if self._left == 0:
            self._step = ResponseParser._chunk_end
        return piece or None

    def _chunk_end(self) -> bytes | None:
        line = self._line()
        if line is None:
            return None
        if line:
            raise _bad(f"a chunk is longer than its size: {line[:80]!r}")
        self._step = ResponseParser._chunk_size
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


def _read_head(head: bytes) -> Head:
    status_line, *fields = head[:-4].split(b"\r\n")
    match = STATUS_LINE.match(status_line)
    if not match:
        raise _bad(f"not an HTTP/1.1 status line: {status_line[:80]!r}")
    headers = dict(_field(field) for field in fields)
    closes = "close" in headers.get("connection", "").lower()
    return Head(int(match[1]), headers, status_line.startswith(b"HTTP/1.1") and not closes)


def _field(line: bytes) -> tuple[str, str]:
    name, _, value = line.partition(b":")
    return name.decode("latin-1").lower(), value.strip().decode("latin-1")


def _bad(text: str) -> RequestFailed:
    return RequestFailed(FailureKind.BAD_HTTP, text)
