"""One plain request and its JSON answer, for what a run must know before it begins."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Any, Final

from moonpad.load.client import Connector
from moonpad.load.endpoint_url import Target
from moonpad.load.failure import FailureKind, RequestFailed
from moonpad.load.http1 import ResponseParser
from moonpad.load.openai_schema import read_json
from moonpad.values.units import MIB

MAX_ANSWER_BYTES: Final = 8 * MIB
"""As values of Python a JSON text may take thirty times its size."""


@dataclass(frozen=True, slots=True)
class JsonResponse:
    """`json` is None where the body is not JSON."""

    status: int
    json: Any
    text: str


async def fetch(target: Target, wire: bytes, *, timeout_s: float) -> JsonResponse:
    """
    Raises:
        RequestFailed: no connection, or no complete answer of at most MAX_ANSWER_BYTES within `timeout_s`.
    """
    connector = Connector(target, time.perf_counter, timeout_s)
    reader = asyncio.StreamReader()
    transport, _ = await connector.open_with(lambda: asyncio.StreamReaderProtocol(reader))
    try:
        async with asyncio.timeout(timeout_s):
            transport.write(wire)
            return await _read(reader)
    except TimeoutError as error:
        text = f"{target.host}:{target.port} did not answer within {timeout_s:g} s"
        raise RequestFailed(FailureKind.TOTAL_TIMEOUT, text) from error
    except OSError as error:
        raise _cut(str(error)) from error
    finally:
        transport.abort()


async def _read(reader: asyncio.StreamReader) -> JsonResponse:
    response, body = ResponseParser(), bytearray()
    while not response.complete:
        if data := await reader.read(MIB):
            body += response.feed(data)
        else:
            response.end_of_connection()
            if not response.complete:
                raise _cut("by the server")
        if len(body) > MAX_ANSWER_BYTES:
            raise RequestFailed(FailureKind.TOO_LARGE, f"the answer is over {MAX_ANSWER_BYTES // MIB} MiB")
    response.head.check_not_packed()
    return JsonResponse(response.head.status, read_json(bytes(body)), body.decode(errors="replace"))


def _cut(why: str) -> RequestFailed:
    return RequestFailed(FailureKind.STREAM_CUT, f"the connection closed before the answer was complete: {why}")
