"""One plain request and its JSON answer, for what a run must know before it begins."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Any, Final, cast

import orjson

from moonpad.load.client import Connector
from moonpad.load.endpoint_url import Target
from moonpad.load.failure import FailureKind, RequestFailed
from moonpad.load.http1 import ResponseParser
from moonpad.values.units import MIB

MAX_ANSWER_BYTES: Final = 16 * MIB


@dataclass(frozen=True, slots=True)
class JsonResponse:
    """`json` is None where the body is not JSON."""

    status: int
    json: Any
    text: str


async def fetch(target: Target, wire: bytes, *, timeout_s: float) -> JsonResponse:
    """
    Raises:
        RequestFailed: no connection, or no complete answer within `timeout_s`.
    """
    connector = Connector(target, time.perf_counter, timeout_s)
    answer = asyncio.get_running_loop().create_future()
    protocol = await connector.open_with(lambda: _PlainAnswer(wire, answer))
    try:
        async with asyncio.timeout(timeout_s):
            return cast(JsonResponse, await answer)
    except TimeoutError as error:
        text = f"{target.host}:{target.port} did not answer within {timeout_s:g} s"
        raise RequestFailed(FailureKind.TOTAL_TIMEOUT, text) from error
    finally:
        protocol.close()


class _PlainAnswer(asyncio.Protocol):
    """Writes the request as soon as the connection is open, and reads one answer."""

    def __init__(self, wire: bytes, answer: asyncio.Future[Any]) -> None:
        self._wire, self._answer = wire, answer
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
        if self._answer.done():
            return
        try:
            self._body += self._response.feed(data)
            if len(self._body) > MAX_ANSWER_BYTES:
                raise RequestFailed(FailureKind.TOO_LARGE, f"the answer is over {MAX_ANSWER_BYTES // MIB} MiB")
        except RequestFailed as failed:
            self._answer.set_exception(failed)
            return
        self._end_if_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._response.end_of_connection()
        self._end_if_complete()
        if not self._answer.done():
            text = f"the connection closed before the answer was complete: {exc or 'by the server'}"
            self._answer.set_exception(RequestFailed(FailureKind.STREAM_CUT, text))

    def _end_if_complete(self) -> None:
        if self._response.complete and not self._answer.done():
            self._answer.set_result(_json_response(self._response.head.status, bytes(self._body)))


def _json_response(status: int, body: bytes) -> JsonResponse:
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        document = None
    return JsonResponse(status, document, body.decode(errors="replace"))
