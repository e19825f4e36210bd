"""HTTP/1.1 responses, read as the bytes come: chunked, by content-length, or until the connection closes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from moonpad.load.failure import FailureKind, RequestFailed

MAX_HEAD_BYTES: Final = 64 * 1024


class Head(NamedTuple):
    """`headers` have lower case names."""

    status: int
    headers: Mapping[str, str]

    def header(self, name: str) -> str:
        return self.headers.get(name, "").lower()

    def check_not_packed(self) -> None:
        """A packed answer of a kilobyte may be a gigabyte, and nothing here asks for one.

        Raises:
            RequestFailed: it is packed (`bad-http`).
        """
        if (packed := self.header("content-encoding").strip()) not in ("", "identity"):
            raise _bad(f"the answer has content-encoding {packed[:40]!r}, which was not asked for")


NO_HEAD: Final = Head(0, {})


class ResponseParser:
    """The responses of one connection, one after the other.

    head: its status is 0 until it is whole. complete: the body has ended.
    keeps_alive: the connection may carry another request: the body ended by itself, and nothing came after it.
    """

    __slots__ = ("_body", "_bodyless_bytes", "_headers", "_parser", "complete", "head", "keeps_alive", "on_body")

    def __init__(self) -> None:
        self._headers: dict[str, str] = {}
        self._body: list[bytes] = []
        self.on_body = self._body.append
        self.begin()
        # A reference cycle, and work for the garbage collector: so there is one for each connection, not each answer.
        self._parser = HttpResponseParser(self)
        self._parser.set_dangerous_leniencies(
            lenient_headers=True, lenient_chunked_length=True, lenient_spaces_after_chunk_size=True
        )

    def begin(self) -> None:
        """What comes next is a new response; the one before was complete."""
        self.head = NO_HEAD
        self.complete = self.keeps_alive = False
        self._bodyless_bytes = 0  # since the last byte of the body: heads, or the line with a chunk's size

    def feed(self, data: bytes) -> bytes:
        """The body bytes among `data`.

        Raises:
            RequestFailed: this is not HTTP/1.1 (`bad-http`).
        """
        pieces = self._body
        pieces.clear()
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as error:
            if not self.complete:
                ours = error.__context__  # what a method below raised
                raise _bad(f"{ours if isinstance(ours, ValueError) else error}: {data[:80]!r}") from error
            self.keeps_alive = False
        if pieces:
            self._bodyless_bytes = 0
            return pieces[0] if len(pieces) == 1 else b"".join(pieces)
        if not self.complete:
            self._bodyless_bytes += len(data)
            if self._bodyless_bytes > MAX_HEAD_BYTES:
                what = "what stands between chunks" if self.head.status else "the head"
                raise _bad(f"{what} is longer than {MAX_HEAD_BYTES} bytes")
        return b""

    def end_of_connection(self) -> None:
        """The server closed, which ends a body without a stated length."""
        by_length = "content-length" in self.head.headers or "chunked" in self.head.header("transfer-encoding")
        self.complete = self.complete or (self.head.status > 0 and not by_length)

    # What httptools calls.

    def on_message_begin(self) -> None:
        if self.complete:
            raise ValueError("bytes after the answer")
        self._headers = {}

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self.head.status:
            self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status < 100:  # "HTTP/1.1 000": the parser takes any three digits
            raise ValueError(f"there is no status {status:03}")
        if status >= 200:  # 100 Continue, 103 Early Hints: the answer itself comes later
            self.head, self._headers = Head(status, self._headers), {}

    def on_message_complete(self) -> None:
        if self.head.status:
            self.complete, self.keeps_alive = True, self._parser.should_keep_alive()


def _bad(text: str) -> RequestFailed:
    return RequestFailed(FailureKind.BAD_HTTP, text)
