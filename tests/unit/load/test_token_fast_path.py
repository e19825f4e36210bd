"""A read that is recognised without a parser says what the parsers would have said."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.load.failure import RequestFailed
from moonpad.load.record import LoadRequest, RequestRecord
from moonpad.load.response_recorder import ResponseRecorder
from moonpad.load.stream_chunk import parse_chunk
from moonpad.load.token_fast_path import TRIALS, TokenPatterns, pattern_after

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
END = b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"


def http_chunk(event: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(event), event)


def payload(fields: dict[str, Any], **more: Any) -> bytes:
    choice = {"index": 0, "delta": fields, "logprobs": None, "finish_reason": None}
    return orjson.dumps({"id": "chat-1", "object": "chat.completion.chunk", "choices": [choice], **more})


VLLM = (
    b'{"id":"chatcmpl-%s","object":"chat.completion.chunk","created":%d,"model":"k","choices":[{"index":0,'
    b'"delta":{"content":"%s"},"logprobs":null,"finish_reason":null,"token_ids":null}]}'
)


def read_of(data: bytes) -> bytes:
    return http_chunk(b"data: " + data + b"\n\n")


def record_of(reads: list[bytes]) -> RequestRecord:
    recorder = ResponseRecorder(LoadRequest(0, b"", 10, 6), 0.0)
    recorder.sent(0.0)
    for number, data in enumerate(reads, 1):
        if recorder.usual is not None and recorder.usual.matches_read(data):  # as a connection does
            recorder.token_times_s.append(float(number))
        else:
            recorder.received(float(number), data)
    return recorder.record(0.0)


def both(reads: list[bytes], monkeypatch: pytest.MonkeyPatch) -> tuple[RequestRecord, RequestRecord]:
    fast = record_of(reads)
    with monkeypatch.context() as patched:
        patched.setattr(TokenPatterns, "of", lambda self, payload, chunk: None)
        return fast, record_of(reads)


texts = st.text(max_size=8) | st.sampled_from([" four", "a", '"', "\\", "\n", "é", "}", '","x":"', ""])
deltas = st.one_of(
    st.builds(lambda text: {"content": text}, texts),
    st.builds(lambda text: {"reasoning": text}, texts),
    st.builds(lambda text: {"reasoning_content": text, "content": None}, texts),
    st.builds(lambda text: {"reasoning": text, "content": text}, texts),
    st.builds(lambda text: {"tool_calls": [{"index": 0, "function": {"arguments": text}}]}, texts),
    st.just({}),
)
payloads = st.one_of(
    st.builds(payload, deltas),
    st.builds(lambda text: orjson.dumps({"choices": [{"index": 0, "text": text}]}), texts),
    st.builds(lambda text: payload({"content": text}, usage={"prompt_tokens": 3, "completion_tokens": 4}), texts),
    st.builds(lambda text: payload({"content": text}, error={"message": text}), texts),
    st.builds(lambda text: b'{"choices": [{"delta": {"content": %s}}]}' % orjson.dumps(text), texts),
)
wholes = st.builds(read_of, payloads)
odd = st.one_of(
    st.binary(max_size=12),
    st.builds(lambda data: http_chunk(b"data: " + data + b"\n\ndata: " + data + b"\n\n"), payloads),
    st.builds(lambda data: http_chunk(b": ping\n\ndata:" + data + b"\r\n\r\n"), payloads),
    st.builds(lambda data: b"0" + read_of(data), payloads),
    st.builds(lambda data: read_of(data).upper(), payloads),
    st.builds(lambda data: read_of(data)[:-3] + b"!\r\n", payloads),
)


@given(st.lists(wholes | odd, max_size=12), st.data())
def test_whatever_comes_the_record_is_that_of_the_parsers(reads: list[bytes], data: st.DataObject) -> None:
    usual = read_of(payload({"content": " four"}))
    row = [HEAD, usual, usual]
    for read in reads:
        row += [read, *[usual] * data.draw(st.integers(0, 2))]
    with pytest.MonkeyPatch.context() as monkeypatch:
        fast, slow = both([*row, END], monkeypatch)
    assert fast == slow


@given(st.data())
def test_the_border_of_a_read_may_lie_anywhere(data: st.DataObject) -> None:
    stream = b"".join(read_of(payload({"content": text})) for text in (" a", " bc", " def", ' "', " g"))
    cuts = sorted(data.draw(st.sets(st.integers(0, len(stream)), max_size=6)))
    pieces = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True) if end > start]
    with pytest.MonkeyPatch.context() as monkeypatch:
        fast, slow = both([HEAD, *pieces, END], monkeypatch)
    assert fast == slow
    assert fast.content_chunks == 5


def test_words_of_one_answer_are_recognised_and_its_thinking_too() -> None:
    for key in ("content", "reasoning", "reasoning_content"):
        first = payload({key: " one"})
        usual = pattern_after(first, parse_chunk(first))
        assert usual is not None
        assert usual.matches_read(read_of(payload({key: " quite another"})))


def test_a_completion_is_recognised() -> None:
    first = orjson.dumps({"choices": [{"index": 0, "text": " one", "finish_reason": None}]})
    usual = pattern_after(first, parse_chunk(first))
    assert usual is not None
    assert usual.matches_read(read_of(first.replace(b" one", b" two")))


@pytest.mark.parametrize(
    "event",
    [
        payload({"content": " a"}, usage={"prompt_tokens": 1, "completion_tokens": 1}),
        payload({"content": " a"}).replace(b" a", b"\\u0061"),
        payload({"content": " a", "reasoning": " a"}),
        payload({"tool_calls": [{"index": 0}]}),
        b'{"content":" a","choices":[{"delta":{"content":"\\u0020a"}}]}',
        b'{"choices":[{"delta":{"content":" a"}},{"delta":{"content":" a"}}]}',
    ],
    ids=["usage", "escaped", "two kinds", "tool call", "elsewhere", "two choices"],
)
def test_an_event_that_says_more_teaches_nothing(event: bytes) -> None:
    assert pattern_after(event, parse_chunk(event)) is None


@given(st.text(min_size=1, max_size=8), st.text(alphabet='abc-{}:,é\\"', max_size=8), st.integers(1, 2**40))
def test_another_answer_at_another_time_is_recognised(text: str, name: str, created: int) -> None:
    """Whatever the text is; but for what the JSON writes as \\u, which is for the parser."""
    first = VLLM % (b"1", 1, b"four")
    usual = pattern_after(first, parse_chunk(first))
    assert usual is not None
    written, id_written = orjson.dumps(text)[1:-1], orjson.dumps(name)[1:-1]
    plain = b"\\u" not in written and id_written.isascii() and id_written.strip(b"abc-{}:,") == b""
    assert usual.matches_read(read_of(VLLM % (b"2" + id_written, created, written))) == plain
    assert not usual.matches_read(read_of(VLLM % (b"1", 1, b"")))


@given(st.binary(max_size=4))
def test_what_is_no_text_is_not_recognised(text: bytes) -> None:
    first = VLLM % (b"1", 1, b"four")
    usual = pattern_after(first, parse_chunk(first))
    assert usual is not None
    event = VLLM % (b"1", 1, text)
    try:
        is_token = parse_chunk(event).content
    except RequestFailed:
        is_token = False
    assert is_token or not usual.matches_read(read_of(event))


def test_a_server_whose_events_all_differ_is_soon_given_up() -> None:
    reads = TokenPatterns()
    events = [payload({"content": " a"}, nonce=number) for number in range(2 * TRIALS)]
    actual = [reads.of(event, parse_chunk(event)) for event in events]
    assert [pattern is not None for pattern in actual] == [True] * TRIALS + [False] * TRIALS


@given(st.binary(max_size=40))
def test_bytes_that_are_no_event_teach_nothing(event: bytes) -> None:
    try:
        chunk = parse_chunk(event)
    except RequestFailed:
        return
    assert pattern_after(event, chunk) is None
