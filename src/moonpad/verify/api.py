"""The client that asks one question at a time and keeps the evidence. The client that measures is `load/`."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import aiohttp
import orjson

from moonpad.load.failure import RequestFailed
from moonpad.load.json_request import MAX_ANSWER_BYTES
from moonpad.load.openai_schema import (
    Broken,
    Delta,
    Done,
    Event,
    Malformed,
    Message,
    Reply,
    count_of,
    join,
    most_events,
    read_answer,
    text_of,
)
from moonpad.load.sse import SseParser
from moonpad.load.stream_event import read_event
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import CheckFailed, ContactLost, UsageError
from moonpad.values.records import as_dict, replace
from moonpad.values.redaction import redact
from moonpad.values.units import KIB, MIB, duration, gib
from moonpad.verify.envelope import (
    StreamEnvelope,
    TokenLogprob,
    faults_of_answer,
    logprobs_of,
    other_choices,
    prompt_ids,
)

STREAM_CAP_BYTES: Final = 64 * MIB
ERROR_CAP_BYTES: Final = 4096
MOST_EVENTS: Final = 1_000_000
EXCHANGES: Final = 4
NOT_PACKED: Final = {"Accept-Encoding": "identity"}
OBEY_LIMIT: Final = "let the engine obey max_tokens, and no gateway repeat its answer"
LATE: Final = (
    "look at the engine's log: moonpad logs; if it is slow and sound, give each answer more time: --timeout 10m"
)
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
    most_s: for an answer that a probe gives more time than these.
    """

    connect_s: float = 10.0
    control_s: float = 20.0
    answer_s: float = 120.0
    idle_s: float = 120.0
    stream_s: float = 600.0
    canary_s: float = 20.0
    most_s: float = 900.0

    def within(self, most_s: float | None) -> Deadlines:
        """The same, with `most_s` for an answer, be that less or more, and at most as much for anything else; None
        changes nothing."""
        if most_s is None:
            return self
        limits = {name: min(limit_s, most_s) for name, limit_s in as_dict(self).items()}
        return Deadlines(**{**limits, **dict.fromkeys(OF_AN_ANSWER, most_s)})


OF_AN_ANSWER: Final = ("answer_s", "idle_s", "stream_s", "most_s")


@dataclass(frozen=True, slots=True)
class AnswerCaps:
    """How large an answer may become. A larger one has no end, or is an attack.

    answer_bytes: of an answer that is not streamed, and of one event of a stream.
    """

    answer_bytes: int = MAX_ANSWER_BYTES
    stream_bytes: int = STREAM_CAP_BYTES
    events: int = MOST_EVENTS
    asked: str = "the longest that moonpad reads"

    @classmethod
    def of(cls, body: Body, sent_bytes: int) -> AnswerCaps:
        """For a request. With `echo` its prompt comes back with log-probabilities; in a stream tokens have frames."""
        limits = (body.get("max_tokens"), body.get("max_completion_tokens"))
        asked = next((tokens for limit in limits if (tokens := count_of(limit))), None)
        if asked is None:
            return cls()
        tokens = asked * (count_of(body.get("n")) or 1)
        echo_bytes = 64 * sent_bytes if body.get("echo") else 0
        return cls(
            answer_bytes=min(MAX_ANSWER_BYTES, 64 * KIB + echo_bytes + 256 * tokens),
            stream_bytes=min(STREAM_CAP_BYTES, 256 * KIB + 4096 * tokens),
            events=min(MOST_EVENTS, most_events(tokens)),
            asked=f"{asked} tokens were asked for at most",
        )


WHOLE: Final = AnswerCaps()


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer, as evidence; both shortened, without the key. `status` None: no answer."""

    request: str
    status: int | None
    answer: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A chat request that was answered, for whoever judges it later. `how`: "whole" or "streamed". `faults`: what is
    wrong around the answer's text."""

    body: Body
    answer: Message
    how: str
    faults: Sequence[str] = ()
    prompt_ids: tuple[int, ...] = ()
    """The tokens of the prompt, where the server gives them."""
    logprobs: tuple[TokenLogprob, ...] = ()
    """Of the answer's tokens, where the request asked for them."""
    id: str = ""
    model: str = ""
    """As the answer names itself and its model."""


@dataclass(frozen=True, slots=True)
class Api:
    """Asks one endpoint. An HTTP error is a value; ContactLost is raised where no answer comes in time, CheckFailed
    where it is too long to be one, or packed.

    Redirects are not followed, so that the key never reaches a host that the user did not name.
    """

    endpoint: Endpoint
    session: aiohttp.ClientSession
    deadlines: Deadlines
    exchanges: deque[Exchange] = field(default_factory=lambda: deque(maxlen=EXCHANGES))
    """The last ones, oldest first."""
    asked: list[Asked] | None = None
    """Where the chats that were answered are kept, to be judged later; None: nowhere."""

    async def get(self, path: str) -> Reply:
        """`path` below the API's base, as `/models`."""
        return await self._ask("GET", self.endpoint.base_url + path, limit_s=self.deadlines.control_s)

    async def get_root(self, path: str) -> Reply:
        """`path` beside the API, as `/health`."""
        return await self._ask("GET", self.endpoint.root_url + path, limit_s=self.deadlines.control_s)

    async def post(self, path: str, body: Body, *, answer_s: float | None = None) -> Reply:
        """The body is sent with the endpoint's model, unless it names one."""
        limit_s = self.deadlines.answer_s if answer_s is None else min(answer_s, self.deadlines.most_s)
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
        if reply.status != 200:
            return reply
        document = reply.json()
        answer = read_answer(document)
        if isinstance(answer, Message) and self.asked is not None:
            faults, ids = faults_of_answer(document, count_of(body.get("n")) or 1), prompt_ids(document)
            fields = document if isinstance(document, dict) else {}
            id_, model = text_of(fields.get("id")), text_of(fields.get("model"))
            first = Asked(body, answer, "whole", faults, ids, logprobs_of(document), id_, model)
            others = (replace(first, answer=other, logprobs=(), id="") for other in other_choices(document))
            self.asked.extend((first, *others))
        return answer

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
        async with self._exchange("POST", url, request, timeout) as (response, caps, record):
            if response.status != 200:
                reply = await _reply(response, caps)
                record(reply.text)
                yield reply
                return
            envelope, deltas = StreamEnvelope(), list[Delta]()
            async for event in _events(response, caps, record, envelope):
                if isinstance(event, Delta):
                    deltas.append(event)
                elif isinstance(event, Done) and self.asked is not None:
                    self.asked.append(_streamed(body, join(deltas), envelope))
                yield event

    async def joined(self, body: Body) -> Answer:
        """A streamed chat completion as one message."""
        events = [event async for event in self.stream(body)]
        other = next((event for event in events if isinstance(event, Reply)), None)
        return other or join(event for event in events if isinstance(event, Delta))

    async def _ask(self, method: str, url: str, body: Body | bytes | None = None, *, limit_s: float) -> Reply:
        timeout = aiohttp.ClientTimeout(total=limit_s, sock_connect=min(limit_s, self.deadlines.connect_s))
        async with self._exchange(method, url, body, timeout) as (response, caps, record):
            reply = await _reply(response, caps)
            record(reply.text)
            return reply

    @asynccontextmanager
    async def _exchange(
        self, method: str, url: str, body: Body | bytes | None, timeout: aiohttp.ClientTimeout
    ) -> AsyncIterator[tuple[aiohttp.ClientResponse, AnswerCaps, Callable[[str], None]]]:
        """The response, how large it may become, and what keeps the text that came of it. The request is kept also if
        no answer comes.

        Raises:
            ContactLost: a deadline passed, or no answer came at all.
            CheckFailed: the answer is packed.
        """
        status, answer = None, ""

        def record(text: str) -> None:
            nonlocal answer
            if len(answer) <= EVIDENCE_CHARACTERS:
                answer += text[: EVIDENCE_CHARACTERS + 1]

        sent = body if isinstance(body, bytes) else b"" if body is None else _encode(body)
        caps = AnswerCaps.of(body, len(sent)) if isinstance(body, Mapping) else WHOLE
        closing = {"Connection": "close"} if isinstance(body, bytes) else {}
        headers = {"Content-Type": "application/json", **NOT_PACKED, **self.endpoint.headers(), **closing}
        try:
            async with self.session.request(
                method, url, data=sent or None, headers=headers, timeout=timeout, allow_redirects=False
            ) as response:
                status = response.status
                _check_not_packed(response)
                yield response, caps, record
        except TimeoutError as error:
            message = f"{_passed(error, timeout)} {url}"
            raise ContactLost(message, remedy=LATE) from error
        except (aiohttp.ClientError, OSError) as error:
            message = f"no answer from {url}: {_shortened(' '.join(str(error).split()), 500) or type(error).__name__}"
            raise ContactLost(message, remedy="check the address, and that the server is up") from error
        finally:
            request = f"{method} {url} {_shortened(sent[: 4 * EVIDENCE_CHARACTERS].decode(errors='replace'))}".rstrip()
            self.exchanges.append(Exchange(redact(request), status, redact(_shortened(answer))))


def _streamed(body: Body, answer: Message, envelope: StreamEnvelope) -> Asked:
    logprobs = tuple(envelope.logprobs)
    return Asked(body, answer, "streamed", envelope.faults, envelope.prompt_ids, logprobs, envelope.id, envelope.model)


def _shortened(text: str, most: int = EVIDENCE_CHARACTERS) -> str:
    return text if len(text) <= most else text[:most] + " …"


def _passed(error: TimeoutError, timeout: aiohttp.ClientTimeout) -> str:
    """The deadline that passed."""
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return f"no connection within {duration(timeout.sock_connect or 0.0)} to"
    if isinstance(error, aiohttp.SocketTimeoutError):
        return f"no answer within {duration(timeout.sock_read or 0.0)}, not even a piece of one, from"
    return f"no answer within {duration(timeout.total or 0.0)}, or none that ends, from"


@asynccontextmanager
async def connect(endpoint: Endpoint, deadlines: Deadlines | None = None) -> AsyncIterator[Api]:
    # A connection for each request: one that idles while a probe thinks may be closed as the next request is sent, and
    # that is not the server's fault (llama-server closes after 5 s).
    connector = aiohttp.TCPConnector(force_close=True)
    # A packed answer of a kilobyte may be a gigabyte.
    async with aiohttp.ClientSession(
        cookie_jar=aiohttp.DummyCookieJar(), connector=connector, auto_decompress=False
    ) as session:
        yield Api(endpoint, session, (deadlines or Deadlines()).within(endpoint.timeout_s))


def _encode(body: Body) -> bytes:
    try:
        return orjson.dumps(body)
    except orjson.JSONEncodeError as error:
        raise UsageError(f"the request cannot be written as JSON: {error}", remedy="send text that is UTF-8") from error


def _check_not_packed(response: aiohttp.ClientResponse) -> None:
    packed = response.headers.get("Content-Encoding", "identity").strip()
    if packed.lower() not in ("", "identity"):
        message = f"{response.url.path} answers with content-encoding {packed[:40]!r}, which was not asked for"
        raise CheckFailed(message, remedy="turn the compression of answers off in the proxy")


async def _reply(response: aiohttp.ClientResponse, caps: AnswerCaps) -> Reply:
    """
    Raises:
        CheckFailed: the answer is too long to be one. The text of an error is only cut.
    """
    cap_bytes = caps.answer_bytes if response.status == 200 else ERROR_CAP_BYTES
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > cap_bytes and response.status == 200:
            message = f"{response.url.path} answers with more than {gib(cap_bytes)}, {caps.asked}"
            raise CheckFailed(message, remedy=OBEY_LIMIT)
        if len(body) > cap_bytes:
            return Reply(response.status, body[:cap_bytes].decode(errors="replace"), truncated=True)
    return Reply(response.status, body.decode(errors="replace"))


async def _events(
    response: aiohttp.ClientResponse, caps: AnswerCaps, record: Callable[[str], None], envelope: StreamEnvelope
) -> AsyncIterator[Event]:
    parser, received_bytes, events = SseParser(caps.answer_bytes), 0, 0
    try:
        async for chunk in response.content.iter_any():
            received_bytes += len(chunk)
            if received_bytes > caps.stream_bytes:
                yield Broken(f"the stream is longer than {gib(caps.stream_bytes)}, {caps.asked}")
                return
            for payload in parser.feed(chunk):
                events += 1
                if events > caps.events:
                    yield Broken(f"the stream has more than {caps.events} events, {caps.asked}")
                    return
                record(payload[: 4 * EVIDENCE_CHARACTERS].decode(errors="replace") + "\n")
                envelope.feed(payload)
                yield read_event(payload)
    except RequestFailed as error:
        yield Broken(error.failure.text)
    except TimeoutError:
        raise
    except (aiohttp.ClientError, OSError):
        yield Broken(f"the connection was cut after {received_bytes} bytes")
