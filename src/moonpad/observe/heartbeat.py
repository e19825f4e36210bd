"""The two questions that decide *ready*: does `/health` answer, and does one real token come back?

`http.client` and not aiohttp: `status` answers in under half a second, and importing aiohttp alone takes most of that.
"""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from urllib.parse import urlsplit

from moonpad.values.endpoint import Endpoint

BODY_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Answer:
    """`status` is None where no HTTP answer came; `text` then says why."""

    status: int | None
    text: str

    @property
    def ok(self) -> bool:
        return self.status == 200


def ask_health(endpoint: Endpoint, timeout_s: float) -> Answer:
    return _request(endpoint, "GET", "/health", None, timeout_s)


def ask_one_token(endpoint: Endpoint, timeout_s: float) -> Answer:
    """One real token, by the completions API, which needs no chat template and no parser.

    `/health` answers 200 on engines that die on their first request (on a CPU: pipeline parallel eager, FP8 KV cache),
    so this is the test.
    """
    body = {"model": endpoint.model, "prompt": "Hello", "max_tokens": 1, "temperature": 0}
    answer = _request(endpoint, "POST", "/v1/completions", body, timeout_s)
    if answer.ok and '"choices"' not in answer.text:
        return Answer(None, f"no completion in the answer: {answer.text[:200]}")
    return answer


def _request(endpoint: Endpoint, method: str, path: str, body: object, timeout_s: float) -> Answer:
    url = urlsplit(endpoint.root_url)
    connection_type = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    connection = connection_type(url.hostname or "", url.port, timeout=timeout_s)
    headers = {**endpoint.headers(), **({"Content-Type": "application/json"} if body is not None else {})}
    try:
        connection.request(method, url.path + path, json.dumps(body) if body is not None else None, headers)
        response = connection.getresponse()
        return Answer(response.status, response.read(BODY_BYTES).decode("utf-8", "replace"))
    except (OSError, http.client.HTTPException) as error:
        return Answer(None, str(error) or type(error).__name__)
    finally:
        connection.close()
