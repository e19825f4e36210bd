"""Bytes with their instants → the record of one request. No socket and no clock: every instant is handed in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from moonpad.load.deadlines import RequestDeadlines
from moonpad.load.failure import TEXT_LIMIT, FailureKind, RequestFailed, RequestFailure
from moonpad.load.http1 import ResponseParser
from moonpad.load.openai_schema import MOST_NAME_CHARACTERS, Delta, Usage, join, most_event_bytes, most_events
from moonpad.load.record import LoadRequest, RequestRecord
from moonpad.load.sse import SseParser
from moonpad.load.stream_event import DONE, NO_DELTA, NULL_BYTES, decode_event, delta_of, parse_usage
from moonpad.values.units import MIB

NO_USAGE: Final = Usage()
# An answer that is not a stream is read to its end, so that its connection can be reused, up to this size.
MAX_PLAIN_BYTES: Final = 16 * MIB
MAX_STREAM_BYTES: Final = 16 * MIB
TOKEN_BYTES: Final = 4096
"""Of a stream: so much more for each token that was asked for."""


@dataclass(slots=True, eq=False)
class ResponseRecorder:
    """Follows one request from `sent` to `finished`."""

    _request: LoadRequest
    _scheduled_s: float
    queued_s: float = 0.0
    connect_s: float = 0.0
    resent: bool = False
    finished: bool = False
    stream_done: bool = False  # [DONE] came
    token_times_s: list[float] = field(default_factory=list)
    _sent_s: float = field(init=False)
    closed_s: float = field(init=False)
    _head_s: float | None = None
    _first_answer_s: float | None = None
    _ended_s: float | None = None
    _reasoning_chunks: int = 0
    _content_chunks: int = 0
    _tool_call_chunks: int = 0
    _wordless_chunks: int = 0
    _finish_reason: str | None = None
    _usage: Usage = NO_USAGE
    _usage_json: bytes = b""  # the last; some servers send one with every token
    _failure: RequestFailure | None = None
    _response: ResponseParser = field(init=False)
    _sse: SseParser | None = None
    _stream_bytes: int = 0
    _most_chunks: int = field(init=False)
    _deltas: list[Delta] | None = field(init=False)  # kept for a conversation alone
    _plain: bytearray = field(default_factory=bytearray)  # the beginning of an answer that is not a stream
    _plain_bytes: int = 0

    def __post_init__(self) -> None:
        self._sent_s = self.closed_s = self._scheduled_s
        self._deltas = [] if self._request.follow else None
        self._most_chunks = most_events(self._request.output_tokens)

    @property
    def connection_reusable(self) -> bool:
        """The answer, good or bad, was read to its end."""
        return self.finished and self._response.keeps_alive

    def sent(self, now_s: float, response: ResponseParser | None = None) -> None:
        """`response` reads what its connection brings."""
        self._sent_s = now_s
        self._response = response or ResponseParser()

    @property
    def streams_tokens(self) -> bool:
        """Tokens come, and the last was not yet announced: the next reads most likely bring more."""
        return self._sse is not None and not self.stream_done and bool(self.token_times_s)

    def received(self, now_s: float, data: bytes) -> None:
        """What one read brought."""
        if self.finished:  # more than the answer
            self._response.keeps_alive = False
            return
        try:
            body = self._response.feed(data)
            if self._sse is not None:
                self._read_events(now_s, body, self._sse)
            elif self._response.head.status:
                self._begin_body(now_s, body)
            if self._response.complete:
                self._complete(now_s)
        except RequestFailed as failed:
            self.failed(now_s, failed.failure)

    def connection_closed(self, now_s: float, why: str) -> None:
        """The connection ended under the request."""
        self._response.end_of_connection()
        if self.stream_done or self._response.complete:
            self._complete(now_s)
        else:
            self.failed(now_s, RequestFailure(FailureKind.STREAM_CUT, f"the connection closed {self._place()}: {why}"))

    def again(self, now_s: float) -> ResponseRecorder:
        """Of the same request, to be sent a second time."""
        lost_s = self.connect_s + max(0.0, now_s - self._sent_s)
        return ResponseRecorder(self._request, self._scheduled_s, self.queued_s, lost_s, resent=True)

    @property
    def cut_before_answer(self) -> bool:
        """The connection ended, and no byte had come."""
        return self._head_s is None and self._failure is not None and self._failure.kind is FailureKind.STREAM_CUT

    def expired(self, now_s: float, kind: FailureKind) -> None:
        """A deadline passed; what follows [DONE] is not part of the answer."""
        if self.stream_done:
            self.drained(now_s)
        else:
            text = f"given up {now_s - self._sent_s:.2f} s after sending, {self._place()}"
            self.failed(now_s, RequestFailure(kind, text))

    def failed(self, now_s: float, failure: RequestFailure) -> None:
        if not self.finished:
            self._failure = failure
            self._ended_s = now_s
            self._finish(now_s)

    def drained(self, now_s: float) -> None:
        """[DONE] came. If the body did not end, the answer is whole and the connection is not to be trusted."""
        if not self.token_times_s:
            text = f"the stream ended as it should, finish reason {self._finish_reason}, and carried no token"
            self.failed(now_s, RequestFailure(FailureKind.NO_TOKENS, text))
        try:
            self._usage = parse_usage(self._usage_json, len(self._request.wire), self._most_chunks) or self._usage
        except RequestFailed as failed:
            self.failed(now_s, failed.failure)
        self._finish(now_s)

    @property
    def following(self) -> LoadRequest | None:
        """The next request of the conversation; None after its last, or if this one has failed."""
        if self._deltas is None or self._request.follow is None or self._failure is not None:
            return None
        return self._request.follow(join(self._deltas))

    def next_due(self, deadlines: RequestDeadlines) -> tuple[float, FailureKind]:
        last_token_s = self.token_times_s[-1] if self.token_times_s else None
        return deadlines.next_due(self._sent_s, self._head_s, last_token_s)

    def _begin_body(self, now_s: float, body: bytes) -> None:
        if self._head_s is None:
            self._head_s = now_s
            most_bytes = most_event_bytes(self._request.output_tokens)
            self._sse = SseParser(most_bytes) if self._is_stream() else None
        if self._sse is None:
            self._read_plain(body)
        else:
            self._read_events(now_s, body, self._sse)

    def _read_events(self, now_s: float, body: bytes, sse: SseParser) -> None:
        self._stream_bytes += len(body)
        if self._stream_bytes > MAX_STREAM_BYTES + TOKEN_BYTES * self._request.output_tokens:
            text = f"{self._stream_bytes / MIB:.0f} MiB came, {self._place()}, and more may follow"
            raise RequestFailed(FailureKind.TOO_LARGE, text)
        for payload in sse.feed(body):
            self._event(now_s, payload)

    def _is_stream(self) -> bool:
        head = self._response.head
        is_events = head.header("content-type").startswith("text/event-stream")
        return head.status == 200 and is_events and "content-encoding" not in head.headers

    def _read_plain(self, body: bytes) -> None:
        self._plain += body[: 4 * TEXT_LIMIT - len(self._plain)]  # a character has at most four bytes
        self._plain_bytes += len(body)
        if self._plain_bytes > MAX_PLAIN_BYTES:
            text = f"an answer that is not a stream is over {MAX_PLAIN_BYTES // MIB} MiB"
            raise RequestFailed(FailureKind.TOO_LARGE, text)

    def _event(self, now_s: float, payload: bytes) -> None:
        if self.stream_done or not payload:
            return
        if payload.strip() == DONE:
            self.stream_done = True
            return
        event = decode_event(payload)
        if len(event.usage) > NULL_BYTES:
            self._usage_json = bytes(event.usage)
        if self._deltas is not None:
            self._deltas.append(delta_of(event))
        reasoning = content = tool_calls = empty = False
        finish_reason = None
        for choice in event.choices or ():
            delta = choice.delta or NO_DELTA
            content = content or bool(delta.content or choice.text)
            reasoning = reasoning or bool(delta.reasoning or delta.reasoning_content)
            tool_calls = tool_calls or bool(delta.tool_calls)
            empty = empty or "" in (delta.content, delta.reasoning, choice.text)
            finish_reason = choice.finish_reason or finish_reason
        if content or reasoning or tool_calls:
            self._content_chunks += content
            self._reasoning_chunks += reasoning
            self._tool_call_chunks += tool_calls
            if content and self._first_answer_s is None:
                self._first_answer_s = now_s
        elif empty and not finish_reason and self.token_times_s:
            self._wordless_chunks += 1
        else:
            if finish_reason:
                self._finish_reason, self._ended_s = finish_reason[:MOST_NAME_CHARACTERS], now_s
            return
        self.token_times_s.append(now_s)
        self._ended_s = now_s
        if len(self.token_times_s) > self._most_chunks:
            asked = self._request.output_tokens
            text = f"over {self._most_chunks:,} chunks with tokens came; {asked:,} tokens were asked for at most"
            raise RequestFailed(FailureKind.TOO_MANY_TOKENS, text)
        if finish_reason:
            self._finish_reason = finish_reason[:MOST_NAME_CHARACTERS]

    def _complete(self, now_s: float) -> None:
        if self._sse is None:
            self.failed(now_s, self._refusal())
        elif not self.stream_done:
            text = f"the stream ended {self._place()}, without [DONE]"
            self.failed(now_s, RequestFailure(FailureKind.STREAM_CUT, text))
        else:
            self.drained(now_s)

    def _finish(self, now_s: float) -> None:
        if not self.finished:
            self.finished = True
            self.closed_s = now_s

    def _refusal(self) -> RequestFailure:
        """An HTTP error, or a 200 that is an error page, plain JSON or packed."""
        status, headers = self._response.head
        text = self._plain.decode(errors="replace")[:TEXT_LIMIT]
        if status != 200:
            return RequestFailure(FailureKind.HTTP_STATUS, text, status)
        kind = headers.get("content-encoding") or headers.get("content-type") or "no content-type"
        return RequestFailure(FailureKind.NOT_A_STREAM, f"{kind}: {text}"[:TEXT_LIMIT], status)

    def _place(self) -> str:
        return f"after {len(self.token_times_s)} chunks with tokens" if self._head_s is not None else "before an answer"

    def record(self, origin_s: float) -> RequestRecord:
        """The request as it ended, on a clock that began at `origin_s`."""
        usage = self._usage
        times = tuple([time_s - origin_s for time_s in self.token_times_s])
        counted = usage.completion_tokens is not None and self._failure is None
        return RequestRecord(
            index=self._request.index,
            scheduled_s=self._scheduled_s - origin_s,
            started_s=self._sent_s - origin_s,
            head_s=None if self._head_s is None else self._head_s - origin_s,
            first_token_s=times[0] if times else None,
            first_answer_s=None if self._first_answer_s is None else self._first_answer_s - origin_s,
            token_times_s=times,
            ended_s=(self.closed_s if self._ended_s is None else self._ended_s) - origin_s,
            closed_s=self.closed_s - origin_s,
            requested_input_tokens=self._request.input_tokens,
            requested_output_tokens=self._request.output_tokens,
            prompt_tokens=usage.prompt_tokens,
            output_tokens=(usage.completion_tokens or 0) if counted else len(times),
            output_tokens_from="usage" if counted else "chunks",
            reasoning_tokens=usage.reasoning_tokens,
            reasoning_chunks=self._reasoning_chunks,
            content_chunks=self._content_chunks,
            tool_call_chunks=self._tool_call_chunks,
            wordless_chunks=self._wordless_chunks,
            finish_reason=self._finish_reason,
            failure=self._failure,
            queued_s=self.queued_s,
            connect_s=self.connect_s,
            resent=self.resent,
        )
