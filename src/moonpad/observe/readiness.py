"""The two probes that decide *ready*: does `/health` answer, and does one real token come back?

`http.client` and not aiohttp: `status` answers in under half a second, and importing aiohttp alone takes most of that.
"""

from __future__ import annotations

import http.client
import json
import socket
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

from moonpad.load.failure import RequestFailed
from moonpad.load.http1 import ResponseParser
from moonpad.load.openai_schema import has_choice
from moonpad.values.endpoint import Endpoint

BODY_BYTES = 1 << 20
READ_BYTES = 1 << 16
TROUBLE = (OSError, http.client.HTTPException, ValueError)
"""What `exchange` raises where no complete answer came."""


@dataclass(frozen=True, slots=True)
class ProbeAnswer:
    """`status` is None where no HTTP answer came; `text` then says why, and `timed_out` whether the time ran out."""

    status: int | None
    text: str
    timed_out: bool = False

    @property
    def ok(self) -> bool:
        return self.status == 200


def ask_health(endpoint: Endpoint, timeout_s: float) -> ProbeAnswer:
    return _request(endpoint, "GET", endpoint.health_path, None, timeout_s)


def ask_one_token(endpoint: Endpoint, timeout_s: float) -> ProbeAnswer:
    """One real token, by the completions API, which needs no chat template and no parser.

    `/health` answers 200 on engines that die on their first request (on a CPU: pipeline parallel eager, FP8 KV cache),
    so this is the test.
    """
    body = {"model": endpoint.model, "prompt": "Hello", "max_tokens": 1, "temperature": 0}
    answer = _request(endpoint, "POST", "/v1/completions", body, timeout_s)
    if answer.ok and not has_choice(answer.text):
        return ProbeAnswer(None, f"no completion in the answer: {answer.text[:200]}")
    return answer


def exchange(
    endpoint: Endpoint, method: str, path: str, body: object, timeout_s: float, limit_bytes: int
) -> tuple[int, bytes]:
    """The status and at most `limit_bytes` of the body, all of it within `timeout_s`, however slowly it trickles.

    Raises:
        OSError: no connection; TimeoutError where the time is over.
        http.client.HTTPException: what came is not HTTP, or less than it promised.
        ValueError: a key or an address that cannot stand in a request.
    """
    until = time.monotonic() + timeout_s
    url = urlsplit(endpoint.root_url)
    connection_type = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    connection = connection_type(url.hostname or "", url.port, timeout=timeout_s)
    headers = {**endpoint.headers(), **({"Content-Type": "application/json"} if body is not None else {})}
    try:
        try:
            connection.request(method, url.path + path, json.dumps(body) if body is not None else None, headers)
        except ValueError:  # its message would say the key
            raise ValueError("the key or the address cannot stand in a request") from None
        return _read(connection.sock, until, limit_bytes)
    except RequestFailed as failed:
        raise http.client.HTTPException(failed.failure.text[:300]) from failed
    finally:
        connection.close()


def _read(connection: socket.socket, until: float, limit_bytes: int) -> tuple[int, bytes]:
    response, body = ResponseParser(), bytearray()
    while not response.complete and len(body) < limit_bytes:
        left_s = until - time.monotonic()  # a socket's own timeout restarts with every byte
        if left_s <= 0:
            raise TimeoutError("timed out")
        connection.settimeout(left_s)
        if data := connection.recv(READ_BYTES):
            body += response.feed(data)
            continue
        response.end_of_connection()
        if not response.complete:
            raise http.client.HTTPException(f"the connection closed after {len(body)} bytes of an incomplete answer")
    response.head.check_not_packed()
    return response.head.status, bytes(body[:limit_bytes])


def _request(endpoint: Endpoint, method: str, path: str, body: object, timeout_s: float) -> ProbeAnswer:
    try:
        status, data = exchange(endpoint, method, path, body, timeout_s, BODY_BYTES)
    except TROUBLE as error:
        return ProbeAnswer(None, str(error) or type(error).__name__, timed_out=isinstance(error, TimeoutError))
    return ProbeAnswer(status, data.decode("utf-8", "replace"))
