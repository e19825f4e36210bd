"""Reads that wait unparsed say what they would have said at once, wherever their borders lie."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import count, pairwise
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.load.client import BATCH_READS, Connection
from moonpad.load.deadlines import RequestDeadlines
from moonpad.load.failure import FailureKind
from moonpad.load.read_backlog import Backlog
from moonpad.load.record import LoadRequest, RequestRecord
from moonpad.load.request_timeouts import RequestTimeouts
from moonpad.load.response_recorder import ResponseRecorder

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
REQUEST = LoadRequest(0, b"", 10, 6)


class Transport(asyncio.Transport):
    """Takes everything and sends nothing."""

    closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        pass

    def is_closing(self) -> bool:
        return self.closed

    def abort(self) -> None:
        self.closed = True


def http_chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def event(data: bytes) -> bytes:
    return http_chunk(b"data: " + data + b"\n\n")


def payload(fields: dict[str, Any], **more: Any) -> bytes:
    choice = {"index": 0, "delta": fields, "logprobs": None, "finish_reason": None}
    return orjson.dumps({"id": "chat-1", "object": "chat.completion.chunk", "choices": [choice], **more})


TOKEN = event(payload({"content": " four"}))
DONE = event(b"[DONE]")
END = b"0\r\n\r\n"


def by_connection(reads: Sequence[bytes], busy: bool = False) -> tuple[RequestRecord, bool]:
    """The record after these reads and the end of the connection; whether the connection had been kept until then.

    `busy`: other work comes first, so that nothing is parsed before the last read.
    """

    async def run() -> tuple[RequestRecord, bool]:
        ticks = count(1)
        clock = lambda: float(next(ticks))  # noqa: E731
        connection = Connection(clock, Backlog(lambda: 1e9 * busy), RequestTimeouts(lambda: 0.0))
        transport = Transport()
        connection.connection_made(transport)
        recorder = ResponseRecorder(REQUEST, 0.0)
        connection.exchange(b"", recorder, RequestDeadlines(), lambda: None)
        for data in reads:
            connection.data_received(data)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        kept = not transport.closed
        connection.connection_lost(None)
        return recorder.record(0.0), kept

    return asyncio.run(run())


def one_by_one(reads: Sequence[bytes]) -> RequestRecord:
    recorder = ResponseRecorder(REQUEST, 0.0)
    ticks = count(1)
    recorder.sent(float(next(ticks)))
    for data in reads:
        recorder.received(float(next(ticks)), data)
    recorder.connection_closed(float(next(ticks)), "by the server")
    return recorder.record(0.0)


texts = st.text(max_size=8) | st.sampled_from([" four", "a", '"', "\\", "\n", "é", "}", "[DONE]", "0\r\n\r\n", ""])
payloads = st.one_of(
    st.builds(lambda text: payload({"content": text}), texts),
    st.builds(lambda text: payload({"reasoning": text, "content": None}), texts),
    st.builds(lambda text: payload({"tool_calls": [{"index": 0, "function": {"arguments": text}}]}), texts),
    st.builds(lambda text: payload({"content": text}, usage={"prompt_tokens": 3, "completion_tokens": 4}), texts),
    st.builds(lambda text: payload({"content": text}, error={"message": text}), texts),
    st.builds(lambda text: orjson.dumps({"choices": [{"index": 0, "text": text}]}), texts),
)
reads_of_streams = st.one_of(
    st.builds(event, payloads),
    st.just(TOKEN),
    st.just(DONE),
    st.just(END),
    st.just(DONE + END),
    st.binary(max_size=12),
    st.builds(lambda data: http_chunk(b": ping\n\ndata:" + data + b"\r\n\r\n"), payloads),
    st.builds(lambda data: http_chunk(b"data: " + data + b"\n\ndata: " + data + b"\n\n"), payloads),
    st.builds(lambda data: b"0" + event(data), payloads),
    st.builds(lambda data: event(data)[:-3] + b"!\r\n", payloads),
)


@given(st.lists(reads_of_streams, max_size=40), st.booleans())
def test_the_record_is_that_of_reads_parsed_one_by_one(reads: list[bytes], busy: bool) -> None:
    reads = [HEAD, TOKEN, *(data for data in reads if data)]
    assert alike(by_connection(reads, busy)[0]) == alike(one_by_one(reads))


@given(st.data())
def test_the_border_of_a_read_may_lie_anywhere(data: st.DataObject) -> None:
    stream = b"".join(event(payload({"content": text})) for text in (" a", " bc", " def", ' "', " g")) + DONE + END
    cuts = sorted(data.draw(st.sets(st.integers(1, len(stream) - 1), max_size=6)))
    reads = [HEAD, TOKEN, *(stream[start:end] for start, end in pairwise([0, *cuts, len(stream)]))]
    record, kept = by_connection(reads)
    assert record.content_chunks == 6
    assert (record.ok, kept) == (True, True)


def alike(record: RequestRecord) -> RequestRecord:
    """Without the instants of the end, which the connection and the loop reach at ticks of their own."""
    times = {"ended_s": 0.0, "closed_s": 0.0, "started_s": 0.0}
    failure = record.failure and type(record.failure)(record.failure.kind, "", record.failure.status)
    return type(record)(**{name: getattr(record, name) for name in record.__slots__} | times | {"failure": failure})


@pytest.mark.parametrize("tokens", [1, BATCH_READS - 1, BATCH_READS, 3 * BATCH_READS + 1])
def test_every_token_has_the_instant_at_which_it_was_read(tokens: int) -> None:
    record, kept = by_connection([HEAD, *[TOKEN] * tokens, DONE + END])
    assert record.token_times_s == tuple(float(number) for number in range(3, 3 + tokens))
    assert (record.ok, kept) == (True, True)


@pytest.mark.parametrize("tail", [[TOKEN], [HEAD], [b"x"]])
@pytest.mark.parametrize("busy", [False, True])
def test_bytes_after_the_answer_end_the_connection(tail: list[bytes], busy: bool) -> None:
    record, kept = by_connection([HEAD, TOKEN, TOKEN, DONE + END, *tail], busy)
    assert (record.ok, kept) == (True, False)


def test_a_stream_that_stops_fails_at_its_last_token_and_keeps_what_came() -> None:
    async def run() -> RequestRecord:
        loop = asyncio.get_running_loop()
        over = loop.create_future()
        connection = Connection(loop.time, Backlog(loop.time), RequestTimeouts(loop.time))
        connection.connection_made(Transport())
        recorder = ResponseRecorder(REQUEST, 0.0)
        deadlines = RequestDeadlines(between_tokens_s=0.02)
        connection.exchange(b"", recorder, deadlines, lambda: over.set_result(None))
        for data in (HEAD, TOKEN):
            connection.data_received(data)
        await asyncio.sleep(0)  # they are parsed, so that the next ones may wait
        assert recorder.streams_tokens
        for _ in range(2):
            connection.data_received(TOKEN)
        assert len(recorder.token_times_s) == 1
        await over
        return recorder.record(0.0)

    record = asyncio.run(run())
    assert record.failure is not None
    assert record.failure.kind is FailureKind.BETWEEN_TOKENS_TIMEOUT
    assert len(record.token_times_s) == 3
    assert record.ended_s - record.token_times_s[-1] >= 0.02


def test_the_end_that_is_announced_is_seen_at_once() -> None:
    """Without the end of the body: some servers leave the connection open behind [DONE]."""

    async def run() -> bool:
        connection = Connection(lambda: 0.0, Backlog(lambda: 0.0), RequestTimeouts(lambda: 0.0))
        connection.connection_made(Transport())
        recorder = ResponseRecorder(REQUEST, 0.0)
        connection.exchange(b"", recorder, RequestDeadlines(), lambda: None)
        for data in (HEAD, TOKEN):
            connection.data_received(data)
        await asyncio.sleep(0)
        connection.data_received(DONE)
        await asyncio.sleep(0)
        return recorder.stream_done

    assert asyncio.run(run())
