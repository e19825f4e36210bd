"""The client of the control plane: one question, one answer. The measuring client is `load/`."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Final

import aiohttp
import orjson

from moonpad.load.failure import RequestFailed
from moonpad.load.sse import SseParser
from moonpad.load.wire import Broken, Event, Malformed, Message, Refused, Reply, read_answer, read_event
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import ContactLost, UsageError
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

    control_s: a whole GET: nothing is generated for it.
    answer_s: a whole answer that is not streamed.
    idle_s: the silence before and inside a stream.
    stream_s: a whole stream.
    canary_s: one token, asked for after no answer came, before the rest is given up.
    """

    connect_s: float = 10.0
    control_s: float = 20.0
    answer_s: float = 120.0
    idle_s: float = 120.0
    stream_s: float = 600.0
    canary_s: float = 20.0


@dataclass(frozen=True, slots=True)
class Exchange:
    """One question and its answer, as evidence; both shortened. The key is in neither. `status` None: no answer."""

    request: str
    status: int | None
    answer: str

    def as_json(self) -> dict[str, object]:
        return {"request": self.request, "status": self.status, "answer": self.answer}


@dataclass(frozen=True, slots=True)
class Api:
    """Asks one endpoint. An HTTP error is a value; where nothing answers in time, ContactLost is raised.

    Redirects are not followed, so that a key never reaches a host that the user did not name.
    """

    endpoint: Endpoint
    session: aiohttp.ClientSession
    deadlines: Deadlines
    exchanges: deque[Exchange] = field(default_factory=lambda: deque(maxlen=EXCHANGES))
    """The last ones, in their order."""

    async def get(self, path: str) -> Reply:
        """`path` below the API's base, `/models`."""
        return await self._ask("GET", self.endpoint.base_url + path, limit_s=self.deadlines.control_s)

    async def get_root(self, path: str) -> Reply:
        """`path` beside the API, `/health`."""
        return await self._ask("GET", self.endpoint.root_url + path, limit_s=self.deadlines.control_s)

    async def post(self, path: str, body: Body, *, answer_s: float | None = None) -> Reply:
        limit_s = self.deadlines.answer_s if answer_s is None else answer_s
        return await self._ask("POST", self.endpoint.base_url + path, body, limit_s=limit_s)

    async def post_root(self, path: str, body: Body) -> Reply:
        """`path` beside the API, `/tokenize`."""
        return await self._ask("POST", self.endpoint.root_url + path, body, limit_s=self.deadlines.control_s)

    async def post_bytes(self, path: str, body: bytes, *, answer_s: float) -> Reply:
        """What is no request at all: bytes that need not be JSON.

        Each has a connection of its own, since a server may close it after such an answer.
        """
        return await self._ask("POST", self.endpoint.base_url + path, body, limit_s=answer_s)

    async def chat(self, body: Body, *, answer_s: float | None = None) -> Answer:
        """One chat completion; the endpoint's model, unless the body names one."""
        reply = await self.post("/chat/completions", {"model": self.endpoint.model, **body}, answer_s=answer_s)
        return read_answer(reply.json()) if reply.status == 200 else reply

    async def stream(self, body: Body) -> AsyncGenerator[Event]:
        """The events of a streamed chat completion, with the usage asked for.

        A cut connection is a `Broken` event, silence past the deadline is ContactLost.
        """
        url = self.endpoint.base_url + "/chat/completions"
        asked = {
            "model": self.endpoint.model,
            "stream": True,
            "stream_options": {"include_usage": True},
            **body,
        }
        timeout = aiohttp.ClientTimeout(
            total=self.deadlines.stream_s, sock_connect=self.deadlines.connect_s, sock_read=self.deadlines.idle_s
        )
        with (
            self._told("POST", url, asked) as told,
            _contact(url, f"no answer from {url} within {duration(self.deadlines.idle_s)}"),
        ):
            async with self._request("POST", url, asked, timeout) as response:
                told.status = response.status
                if response.status != 200:
                    reply = await _reply(response)
                    told.add(reply.text)
                    yield Refused(reply)
                    return
                async for event in _events(response, told.add):
                    yield event

    async def _ask(self, method: str, url: str, body: Body | bytes | None = None, *, limit_s: float) -> Reply:
        timeout = aiohttp.ClientTimeout(total=limit_s, sock_connect=min(limit_s, self.deadlines.connect_s))
        with self._told(method, url, body) as told, _contact(url, f"no answer from {url} within {duration(limit_s)}"):
            async with self._request(method, url, body, timeout) as response:
                told.status = response.status
                reply = await _reply(response)
                told.add(reply.text)
                return reply

    @contextmanager
    def _told(self, method: str, url: str, body: Body | bytes | None) -> Iterator[_Told]:
        """Keeps what was asked and what came, also where nothing did."""
        told = _Told()
        try:
            yield told
        finally:
            sent = body if isinstance(body, bytes) else b"" if body is None else _encode(body)
            request = f"{method} {url} {_shortened(sent.decode(errors='replace'))}".rstrip()
            self.exchanges.append(Exchange(self._hidden(request), told.status, self._hidden(_shortened(told.text))))

    def _hidden(self, text: str) -> str:
        """A server may send the key back, in the text of an error."""
        return text.replace(self.endpoint.key.reveal(), str(self.endpoint.key)) if self.endpoint.key else text

    def _request(
        self, method: str, url: str, body: Body | bytes | None, timeout: aiohttp.ClientTimeout
    ) -> aiohttp.client._RequestContextManager:
        closing = {"Connection": "close"} if isinstance(body, bytes) else {}
        return self.session.request(
            method,
            url,
            data=body if body is None or isinstance(body, bytes) else _encode(body),
            headers={"Content-Type": "application/json", **self.endpoint.headers(), **closing},
            timeout=timeout,
            allow_redirects=False,
        )


@dataclass(slots=True)
class _Told:
    """What has come of an answer."""

    status: int | None = None
    text: str = ""

    def add(self, text: str) -> None:
        if len(self.text) <= EVIDENCE_CHARACTERS:
            self.text += text


def _shortened(text: str) -> str:
    return text if len(text) <= EVIDENCE_CHARACTERS else text[:EVIDENCE_CHARACTERS] + " …"


@asynccontextmanager
async def connect(endpoint: Endpoint, deadlines: Deadlines | None = None) -> AsyncIterator[Api]:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session:
        yield Api(endpoint, session, deadlines or Deadlines())


@contextmanager
def _contact(url: str, too_late: str) -> Iterator[None]:
    """Turns what aiohttp raises for a missing answer into ContactLost."""
    try:
        yield
    except TimeoutError as error:
        raise ContactLost(too_late, remedy="look at the engine's log: moonpad logs") from error
    except (aiohttp.ClientError, OSError) as error:
        why = " ".join(str(error).split()) or type(error).__name__
        raise ContactLost(f"no answer from {url}: {why}", remedy="check the address, and that it is up") from error


def _encode(body: Body) -> bytes:
    try:
        return orjson.dumps(body)
    except orjson.JSONEncodeError as error:
        raise UsageError(f"the request cannot be written as JSON: {error}", remedy="send text that is UTF-8") from error


async def _reply(response: aiohttp.ClientResponse) -> Reply:
    cap_bytes = ANSWER_CAP_BYTES if response.status == 200 else ERROR_CAP_BYTES
    kept = bytearray()
    async for chunk in response.content.iter_any():
        kept += chunk
        if len(kept) > cap_bytes:
            return Reply(response.status, kept[:cap_bytes].decode(errors="replace"), truncated=True)
    return Reply(response.status, kept.decode(errors="replace"))


async def _events(response: aiohttp.ClientResponse, tell: Callable[[str], None]) -> AsyncIterator[Event]:
    parser, received_bytes = SseParser(), 0
    try:
        async for chunk in response.content.iter_any():
            received_bytes += len(chunk)
            if received_bytes > STREAM_CAP_BYTES:
                yield Broken(f"the stream is longer than {STREAM_CAP_BYTES // MIB} MiB")
                return
            for payload in parser.feed(chunk):
                tell(payload.decode(errors="replace") + "\n")
                yield read_event(payload)
    except RequestFailed as error:
        yield Broken(error.failure.text)
    except TimeoutError:
        raise
    except (aiohttp.ClientError, OSError):
        yield Broken(f"the connection was cut after {received_bytes} bytes")
