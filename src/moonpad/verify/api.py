"""The client that asks one question at a time and keeps the evidence. The client that measures is `load/`."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import aiohttp
import orjson

from moonpad.load.failure import RequestFailed
from moonpad.load.openai_schema import Broken, Event, Malformed, Message, Reply, read_answer, read_event
from moonpad.load.sse import SseParser
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import ContactLost, UsageError
from moonpad.values.redaction import redact
from moonpad.values.units import MIB, duration

ANSWER_CAP_BYTES: Final = 16 * MIB
STREAM_CAP_BYTES: Final = 64 * MIB
ERROR_CAP_BYTES: Final = 4096
EXCHANGES: Final = 4
EVIDENCE_CHARACTERS: Final = 4000

Body = Mapping[str, object]
Answer = Message | Malformed | Reply
"""A chat completion: read, not of the API's shape, or an HTTP error."""


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds.

    control_s: for a GET, where nothing is generated.
    answer_s: for a whole answer that is not streamed.
    idle_s: of silence before and inside a stream.
    stream_s: for a whole stream.
    canary_s: for one token, after a probe got no answer; without it the other probes are skipped.
    """

    connect_s: float = 10.0
    control_s: float = 20.0
    answer_s: float = 120.0
    idle_s: float = 120.0
    stream_s: float = 600.0
    canary_s: float = 20.0


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer, as evidence; both shortened, without the key. `status` None: no answer."""

    request: str
    status: int | None
    answer: str


@dataclass(frozen=True, slots=True)
class Api:
    """Asks one endpoint. An HTTP error is a value; ContactLost is raised where no answer comes in time.

    Redirects are not followed, so that the key never reaches a host that the user did not name.
    """

    endpoint: Endpoint
    session: aiohttp.ClientSession
    deadlines: Deadlines
    exchanges: deque[Exchange] = field(default_factory=lambda: deque(maxlen=EXCHANGES))
    """The last ones, oldest first."""

    async def get(self, path: str) -> Reply:
        """`path` below the API's base, as `/models`."""
        return await self._ask("GET", self.endpoint.base_url + path, limit_s=self.deadlines.control_s)

    async def get_root(self, path: str) -> Reply:
        """`path` beside the API, as `/health`."""
        return await self._ask("GET", self.endpoint.root_url + path, limit_s=self.deadlines.control_s)

    async def post(self, path: str, body: Body, *, answer_s: float | None = None) -> Reply:
        """The body is sent with the endpoint's model, unless it names one."""
        limit_s = self.deadlines.answer_s if answer_s is None else answer_s
        return await self._ask("POST", self.endpoint.base_url + path, self._named(body), limit_s=limit_s)

    async def post_root(self, path: str, body: Body) -> Reply:
        """`path` beside the API, as `/tokenize`."""
        limit_s = self.deadlines.control_s
        return await self._ask("POST", self.endpoint.root_url + path, self._named(body), limit_s=limit_s)

    async def post_bytes(self, path: str, body: bytes, *, answer_s: float) -> Reply:
        """Bytes that need not be a request, nor JSON.

        Each has a connection of its own, since a server may close it after such an answer.
        """
        return await self._ask("POST", self.endpoint.base_url + path, body, limit_s=answer_s)

    async def chat(self, body: Body, *, answer_s: float | None = None) -> Answer:
        """One chat completion."""
        reply = await self.post("/chat/completions", body, answer_s=answer_s)
        return read_answer(reply.json()) if reply.status == 200 else reply

    def _named(self, body: Body) -> Body:
        return {"model": self.endpoint.model, **body}

    async def stream(self, body: Body) -> AsyncGenerator[Event]:
        """The events of a streamed chat completion, with the usage asked for.

        A cut connection is a `Broken` event, silence past the deadline is ContactLost.
        """
        url = self.endpoint.base_url + "/chat/completions"
        request = self._named({"stream": True, "stream_options": {"include_usage": True}, **body})
        timeout = aiohttp.ClientTimeout(
            total=self.deadlines.stream_s, sock_connect=self.deadlines.connect_s, sock_read=self.deadlines.idle_s
        )
        async with self._exchange("POST", url, request, timeout, self.deadlines.idle_s) as (response, record):
            if response.status != 200:
                reply = await _reply(response)
                record(reply.text)
                yield reply
                return
            async for event in _events(response, record):
                yield event

    async def _ask(self, method: str, url: str, body: Body | bytes | None = None, *, limit_s: float) -> Reply:
        timeout = aiohttp.ClientTimeout(total=limit_s, sock_connect=min(limit_s, self.deadlines.connect_s))
        async with self._exchange(method, url, body, timeout, limit_s) as (response, record):
            reply = await _reply(response)
            record(reply.text)
            return reply

    @asynccontextmanager
    async def _exchange(
        self, method: str, url: str, body: Body | bytes | None, timeout: aiohttp.ClientTimeout, within_s: float
    ) -> AsyncIterator[tuple[aiohttp.ClientResponse, Callable[[str], None]]]:
        """The response, and what keeps the text that came of it. The request is kept also if no answer comes.

        Raises:
            ContactLost: no answer within `within_s` seconds, or none at all.
        """
        status, answer = None, ""

        def record(text: str) -> None:
            nonlocal answer
            if len(answer) <= EVIDENCE_CHARACTERS:
                answer += text

        sent = body if isinstance(body, bytes) else b"" if body is None else _encode(body)
        closing = {"Connection": "close"} if isinstance(body, bytes) else {}
        headers = {"Content-Type": "application/json", **self.endpoint.headers(), **closing}
        try:
            async with self.session.request(
                method, url, data=sent or None, headers=headers, timeout=timeout, allow_redirects=False
            ) as response:
                status = response.status
                yield response, record
        except TimeoutError as error:
            message = f"no answer from {url} within {duration(within_s)}"
            raise ContactLost(message, remedy="look at the engine's log: moonpad logs") from error
        except (aiohttp.ClientError, OSError) as error:
            message = f"no answer from {url}: {' '.join(str(error).split()) or type(error).__name__}"
            raise ContactLost(message, remedy="check the address, and that the server is up") from error
        finally:
            request = f"{method} {url} {_shortened(sent.decode(errors='replace'))}".rstrip()
            self.exchanges.append(Exchange(redact(request), status, _shortened(redact(answer))))


def _shortened(text: str) -> str:
    return text if len(text) <= EVIDENCE_CHARACTERS else text[:EVIDENCE_CHARACTERS] + " …"


@asynccontextmanager
async def connect(endpoint: Endpoint, deadlines: Deadlines | None = None) -> AsyncIterator[Api]:
    # A connection for each request: one that idles while a probe thinks may be closed as the next request is sent, and
    # that is not the server's fault (llama-server closes after 5 s).
    connector = aiohttp.TCPConnector(force_close=True)
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar(), connector=connector) as session:
        yield Api(endpoint, session, deadlines or Deadlines())


def _encode(body: Body) -> bytes:
    try:
        return orjson.dumps(body)
    except orjson.JSONEncodeError as error:
        raise UsageError(f"the request cannot be written as JSON: {error}", remedy="send text that is UTF-8") from error


async def _reply(response: aiohttp.ClientResponse) -> Reply:
    cap_bytes = ANSWER_CAP_BYTES if response.status == 200 else ERROR_CAP_BYTES
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > cap_bytes:
            return Reply(response.status, body[:cap_bytes].decode(errors="replace"), truncated=True)
    return Reply(response.status, body.decode(errors="replace"))


async def _events(response: aiohttp.ClientResponse, record: Callable[[str], None]) -> AsyncIterator[Event]:
    parser, received_bytes = SseParser(), 0
    try:
        async for chunk in response.content.iter_any():
            received_bytes += len(chunk)
            if received_bytes > STREAM_CAP_BYTES:
                yield Broken(f"the stream is longer than {STREAM_CAP_BYTES // MIB} MiB")
                return
            for payload in parser.feed(chunk):
                record(payload.decode(errors="replace") + "\n")
                yield read_event(payload)
    except RequestFailed as error:
        yield Broken(error.failure.text)
    except TimeoutError:
        raise
    except (aiohttp.ClientError, OSError):
        yield Broken(f"the connection was cut after {received_bytes} bytes")
