"""One plain request with its JSON answer: what a run asks the server before it begins."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Any, Final, cast

import orjson

from moonpad.load.client import Connector
from moonpad.load.failure import FailureKind, RequestFailed
from moonpad.load.http1 import ResponseParser
from moonpad.load.target import Target
from moonpad.values.units import MIB

MAX_ANSWER_BYTES: Final = 16 * MIB


@dataclass(frozen=True, slots=True)
class Answer:
    """`json` is None where the body is no JSON."""

    status: int
    json: Any
    text: str


async def fetch(target: Target, wire: bytes, *, timeout_s: float) -> Answer:
    """
    Raises:
        RequestFailed: no connection, or no whole answer within `timeout_s`.
    """
    connector = Connector(target, time.perf_counter, timeout_s)
    whole = asyncio.get_running_loop().create_future()
    protocol = await connector.open_with(lambda: _PlainAnswer(wire, whole))
    try:
        async with asyncio.timeout(timeout_s):
            return cast(Answer, await whole)
    except TimeoutError as error:
        text = f"{target.host}:{target.port} did not answer within {timeout_s:g} s"
        raise RequestFailed(FailureKind.TOTAL_TIMEOUT, text) from error
    finally:
        protocol.close()


class _PlainAnswer(asyncio.Protocol):
    """Writes the request as soon as the connection is open, and reads one answer."""

    def __init__(self, wire: bytes, whole: asyncio.Future[Any]) -> None:
        self._wire, self._whole = wire, whole
        self._transport: asyncio.Transport | None = None
        self._response = ResponseParser()
        self._body = bytearray()

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.write(self._wire)

    def data_received(self, data: bytes) -> None:
        if self._whole.done():
            return
        try:
            self._body += self._response.feed(data)
            if len(self._body) > MAX_ANSWER_BYTES:
                raise RequestFailed(FailureKind.TOO_LARGE, f"the answer is over {MAX_ANSWER_BYTES // MIB} MiB")
        except RequestFailed as failed:
            self._whole.set_exception(failed)
            return
        self._end_if_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._response.end_of_connection()
        self._end_if_complete()
        if not self._whole.done():
            text = f"the connection closed before the answer was whole: {exc or 'by the server'}"
            self._whole.set_exception(RequestFailed(FailureKind.STREAM_CUT, text))

    def _end_if_complete(self) -> None:
        if self._response.complete and not self._whole.done():
            self._whole.set_result(_answer(self._response.head.status, bytes(self._body)))


def _answer(status: int, body: bytes) -> Answer:
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        document = None
    return Answer(status, document, body.decode(errors="replace"))
