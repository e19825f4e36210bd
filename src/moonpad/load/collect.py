"""Bytes with their instants → the record of one request. No socket and no clock: every instant is handed in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from moonpad.load.chunk import Chunk, Usage
from moonpad.load.deadlines import Deadlines
from moonpad.load.failure import TEXT_LIMIT, Failure, FailureKind, RequestFailed
from moonpad.load.http1 import Heads, ResponseParser
from moonpad.load.record import LoadRequest, RequestRecord
from moonpad.load.sse import SseParser
from moonpad.load.usual import UsualRead, UsualReads
from moonpad.load.wire import Delta, join, read_event
from moonpad.values.units import MIB

DONE: Final = b"[DONE]"
# An answer that is no stream is read to its end, so that its connection can be used again, but not for ever.
MAX_PLAIN_BYTES: Final = 16 * MIB


@dataclass(frozen=True, slots=True)
class Learnt:
    """What the answers of one server have in common, for all who follow them."""

    heads: Heads = field(default_factory=Heads)
    usual_reads: UsualReads = field(default_factory=UsualReads)


class Collector:
    """Follows one request from `sent` to `finished`."""

    __slots__ = (
        "_closed_s",
        "_content_chunks",
        "_counted",
        "_ended_s",
        "_failure",
        "_finish_reason",
        "_first_answer_s",
        "_head_s",
        "_learnt",
        "_plain",
        "_plain_bytes",
        "_reasoning_chunks",
        "_request",
        "_response",
        "_said",
        "_scheduled_s",
        "_sent_s",
        "_shape",
        "_sse",
        "_tool_call_chunks",
        "_usage",
        "_wordless_chunks",
        "connect_s",
        "finished",
        "queued_s",
        "stream_done",
        "token_times_s",
        "usual",
    )

    def __init__(self, request: LoadRequest, scheduled_s: float, learnt: Learnt | None = None) -> None:
        self._learnt = learnt or Learnt()
        self.finished = False
        self.stream_done = False  # [DONE] came
        self._request = request
        self._scheduled_s = scheduled_s
        self._sent_s = scheduled_s
        self.queued_s = self.connect_s = 0.0
        self._head_s: float | None = None
        self._first_answer_s: float | None = None
        self.usual: UsualRead | None = None
        """What the next read is, most likely: one for which it holds is done with by its instant in `token_times_s`."""
        self.token_times_s: list[float] = []
        self._ended_s: float | None = None
        self._closed_s = scheduled_s
        self._reasoning_chunks = self._content_chunks = self._tool_call_chunks = self._wordless_chunks = 0
        self._finish_reason: str | None = None
        self._usage: Usage | None = None
        self._failure: Failure | None = None
        self._response = ResponseParser(self._learnt.heads)
        self._sse: SseParser | None = None
        # What the last token's event looked like, or may look like.
        self._shape = None if request.follow else self._learnt.usual_reads.last
        self._said: list[Delta] | None = [] if request.follow else None
        self._counted = 0  # of `token_times_s`: those whose kind was counted
        self._plain = bytearray()  # the beginning of an answer that is no stream
        self._plain_bytes = 0

    @property
    def connection_reusable(self) -> bool:
        """The answer, good or bad, was read to its end."""
        return self.finished and self._response.keeps_alive

    @property
    def closed_s(self) -> float:
        return self._closed_s

    def sent(self, now_s: float) -> None:
        self._sent_s = now_s

    def received(self, now_s: float, data: bytes) -> None:
        """Any read; most of a stream's need not come here, see `usual`."""
        if self.finished:
            return
        self._count_usual()
        try:
            body = self._response.feed(data)
            if self._response.head.status:
                self._body(now_s, body)
            if self._response.complete:
                self._complete(now_s)
            elif self._sse is not None and self._response.between_chunks and self._sse.between_events:
                self.usual = self._shape if not self.stream_done else None
        except RequestFailed as failed:
            self.failed(now_s, failed.failure)

    def connection_closed(self, now_s: float, why: str) -> None:
        """The connection ended under the request."""
        self._response.end_of_connection()
        if self.stream_done or self._response.complete:
            self._complete(now_s)
        else:
            self.failed(now_s, Failure(FailureKind.STREAM_CUT, f"the connection closed {self._place()}: {why}"))

    def expired(self, now_s: float, kind: FailureKind) -> None:
        """A deadline passed; what follows [DONE] is no part of the answer."""
        if self.stream_done:
            self.drained(now_s)
        else:
            self.failed(now_s, Failure(kind, f"given up {now_s - self._sent_s:.2f} s after sending, {self._place()}"))

    def failed(self, now_s: float, failure: Failure) -> None:
        if not self.finished:
            self._count_usual()
            self._failure = failure
            self._ended_s = now_s
            self._finish(now_s)

    def drained(self, now_s: float) -> None:
        """[DONE] came and the body did not end: the answer is whole, the connection is not to be trusted."""
        self._finish_stream(now_s)

    @property
    def following(self) -> LoadRequest | None:
        """The next request of the conversation; None behind its last, and where this one has failed."""
        if self._said is None or self._request.follow is None or self._failure is not None:
            return None
        return self._request.follow(join(self._said))

    def next_due(self, deadlines: Deadlines) -> tuple[float, FailureKind]:
        last_token_s = self.token_times_s[-1] if self.token_times_s else None
        return deadlines.next_due(self._sent_s, self._head_s, last_token_s)

    def _body(self, now_s: float, body: bytes) -> None:
        if self._head_s is None:
            self._head_s = now_s
            self._sse = SseParser() if self._is_stream() else None
        if self._sse is None:
            self._read_plain(body)
            return
        for payload in self._sse.feed(body):
            self._event(now_s, payload)

    def _is_stream(self) -> bool:
        head = self._response.head
        is_events = head.header("content-type").startswith("text/event-stream")
        return head.status == 200 and is_events and "content-encoding" not in head.headers

    def _read_plain(self, body: bytes) -> None:
        self._plain += body[: 4 * TEXT_LIMIT - len(self._plain)]  # a character has at most four bytes
        self._plain_bytes += len(body)
        if self._plain_bytes > MAX_PLAIN_BYTES:
            raise RequestFailed(
                FailureKind.TOO_LARGE, f"an answer that is no stream is over {MAX_PLAIN_BYTES // MIB} MiB"
            )

    def _event(self, now_s: float, payload: bytes) -> None:
        if self.stream_done or not payload:
            return
        if payload.strip() == DONE:
            self.stream_done = True
            return
        if self._shape is not None and self._shape.is_like(payload):
            self._tokens(now_s, self._shape.chunk)
            return
        chunk = self._learnt.usual_reads.chunk_of(payload)
        if self._said is not None and isinstance(delta := read_event(payload), Delta):
            self._said.append(delta)
        self._usage = chunk.usage or self._usage
        if chunk.wordless and self.token_times_s:
            self._wordless_chunks += 1
            self._tokens(now_s, chunk)
        if chunk.bears_tokens:
            self._tokens(now_s, chunk)
            if self._said is None:
                self._shape = self._learnt.usual_reads.of(payload, chunk)
        if chunk.finish_reason:
            self._finish_reason = chunk.finish_reason
            self._ended_s = now_s

    def _count_usual(self) -> None:
        """What the reads say that were told by their instants alone; the next one is not among them."""
        usual, self.usual = self.usual, None
        if usual is not None and len(self.token_times_s) > self._counted:
            self._count(usual.chunk)

    def _tokens(self, now_s: float, chunk: Chunk) -> None:
        self.token_times_s.append(now_s)
        self._count(chunk)

    def _count(self, chunk: Chunk) -> None:
        """The chunks that have come since the last time; all are of one kind."""
        new = self.token_times_s[self._counted :]
        self._counted += len(new)
        self._ended_s = new[-1]
        self._reasoning_chunks += chunk.reasoning * len(new)
        self._content_chunks += chunk.content * len(new)
        self._tool_call_chunks += chunk.tool_calls * len(new)
        if chunk.content and self._first_answer_s is None:
            self._first_answer_s = new[0]

    def _complete(self, now_s: float) -> None:
        if self._sse is None:
            self.failed(now_s, self._refusal())
        elif not self.stream_done:
            self.failed(now_s, Failure(FailureKind.STREAM_CUT, f"the stream ended {self._place()}, without [DONE]"))
        else:
            self._finish_stream(now_s)

    def _finish_stream(self, now_s: float) -> None:
        if not self.token_times_s:
            text = f"the stream ended as it should, finish reason {self._finish_reason}, and carried no token"
            self.failed(now_s, Failure(FailureKind.NO_TOKENS, text))
        self._finish(now_s)

    def _finish(self, now_s: float) -> None:
        if not self.finished:
            self.finished = True
            self._closed_s = now_s

    def _refusal(self) -> Failure:
        """An HTTP error, or a 200 that is an error page, plain JSON or packed."""
        status, headers, _ = self._response.head
        text = self._plain.decode(errors="replace")[:TEXT_LIMIT]
        if status != 200:
            return Failure(FailureKind.HTTP_STATUS, text, status)
        kind = headers.get("content-encoding") or headers.get("content-type") or "no content-type"
        return Failure(FailureKind.NOT_A_STREAM, f"{kind}: {text}"[:TEXT_LIMIT], status)

    def _place(self) -> str:
        return f"after {len(self.token_times_s)} chunks with tokens" if self._head_s is not None else "before an answer"

    def record(self, origin_s: float) -> RequestRecord:
        """The request as it ended, on a clock that began at `origin_s`."""
        usage = self._usage or Usage(None, None, None)
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
            ended_s=(self._closed_s if self._ended_s is None else self._ended_s) - origin_s,
            closed_s=self._closed_s - origin_s,
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
        )
