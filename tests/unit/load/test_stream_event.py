from contextlib import suppress

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.load.failure import FailureKind, RequestFailed
from moonpad.load.openai_schema import Usage, most_events
from moonpad.load.record import LoadRequest, RequestRecord
from moonpad.load.response_recorder import ResponseRecorder
from moonpad.load.stream_event import decode_event, parse_usage

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"


def record_of(payload: bytes) -> RequestRecord:
    """Of a stream with this event alone."""
    recorder = ResponseRecorder(LoadRequest(0, b"", 10, 6), 0.0)
    recorder.sent(0.0)
    recorder.received(1.0, HEAD + b"data: " + payload + b"\n\ndata: [DONE]\n\n")
    recorder.connection_closed(1.0, "by the server")
    return recorder.record(0.0)


def server_usage(payload: bytes) -> Usage | None:
    return parse_usage(bytes(decode_event(payload).usage), 100, 6)


@pytest.mark.parametrize(
    ("delta", "kinds"),
    [
        ('{"role":"assistant","content":""}', (False, False, False)),
        ('{"content":null}', (False, False, False)),
        ('{"content":"a"}', (False, True, False)),
        ('{"reasoning":"a"}', (True, False, False)),
        ('{"reasoning_content":"a"}', (True, False, False)),
        ('{"tool_calls":[{"index":0,"function":{"arguments":"{"}}]}', (False, False, True)),
        ('{"reasoning":"a","content":"b"}', (True, True, False)),
        ("null", (False, False, False)),
    ],
)
def test_kinds_of_tokens(delta: str, kinds: tuple[bool, bool, bool]) -> None:
    record = record_of(f'{{"choices":[{{"delta":{delta}}}]}}'.encode())
    assert (record.reasoning_chunks, record.content_chunks, record.tool_call_chunks) == kinds
    assert len(record.token_times_s) == any(kinds)


def test_text_completions_bear_tokens() -> None:
    record = record_of(b'{"choices":[{"text":"a","finish_reason":"length"}]}')
    assert (record.content_chunks, record.finish_reason) == (1, "length")


def test_usage_with_and_without_details() -> None:
    usage = b'{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3%s}}'
    assert server_usage(usage % b"") == Usage(7, 3)
    details = b',"completion_tokens_details":{"reasoning_tokens":2}'
    assert server_usage(usage % details) == Usage(7, 3, reasoning_tokens=2)


def test_counts_that_are_no_counts_are_not_reported() -> None:
    assert server_usage(b'{"usage":{"prompt_tokens":"7","completion_tokens":null}}') == Usage()


@pytest.mark.parametrize(
    ("payload", "text"),
    [
        (b'{"error":{"message":"out of memory","code":500}}', "out of memory"),
        (b'{"error":"out of memory"}', "out of memory"),
        (b'{"object":"error","message":"out of memory"}', "out of memory"),
    ],
)
def test_an_error_inside_the_stream(payload: bytes, text: str) -> None:
    with pytest.raises(RequestFailed) as caught:
        decode_event(payload)
    assert (caught.value.failure.kind, caught.value.failure.text) == (FailureKind.STREAM_ERROR, text)


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        (b'{"choices":[', FailureKind.INVALID_JSON),
        (b"[1]", FailureKind.INVALID_JSON),
        (b'{"choices":[1]}', FailureKind.INVALID_JSON),
        (b'{"choices":3}', FailureKind.INVALID_JSON),
        (b'{"choices":[{"delta":"a"}]}', FailureKind.INVALID_JSON),
        (b'{"choices":[{"delta":{"content":"\xe6\x9c"}}]}', FailureKind.INVALID_UTF8),
    ],
)
def test_what_is_no_chunk(payload: bytes, kind: FailureKind) -> None:
    with pytest.raises(RequestFailed) as caught:
        decode_event(payload)
    assert caught.value.failure.kind is kind


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["choices", "delta", "usage", "content", "error", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_json_is_a_chunk_or_a_failed_request(document: object) -> None:
    with suppress(RequestFailed):
        decode_event(orjson.dumps(document))


@given(st.lists(JSON, max_size=3))
def test_fields_that_are_not_read_change_nothing(others: list[object]) -> None:
    choice = {"delta": {"content": "a"}, "finish_reason": None}
    more = {f"other_{number}": other for number, other in enumerate(others)}
    plain, padded = {"choices": [choice]}, {**more, "choices": [{**choice, **more}], **more}
    assert decode_event(orjson.dumps(padded)) == decode_event(orjson.dumps(plain))


def test_a_usage_that_is_no_object_fails_the_request() -> None:
    record = record_of(b'{"choices":[{"text":"a"}],"usage":12345}')
    assert record.failure is not None
    assert record.failure.kind is FailureKind.INVALID_JSON


@pytest.mark.parametrize("count", ["-1", "1e30", "9223372036854775808", "18446744073709551616", "2.5", "100000"])
@pytest.mark.parametrize("name", ["prompt_tokens", "completion_tokens"])
def test_a_count_out_of_range_fails_the_request_and_the_tokens_that_came_stay(name: str, count: str) -> None:
    record = record_of(b'{"choices":[{"text":"a"}],"usage":{"%s":%s}}' % (name.encode(), count.encode()))
    assert record.failure is not None
    assert record.failure.kind is FailureKind.BAD_USAGE
    assert f"`usage.{name}`" in record.failure.text
    assert (record.output_tokens, record.output_tokens_from, len(record.token_times_s)) == (1, "chunks", 1)


def test_a_stream_without_end_fails_when_it_has_more_events_than_the_answer_can_have() -> None:
    recorder = ResponseRecorder(LoadRequest(0, b"", 10, 6), 0.0)
    recorder.sent(0.0)
    recorder.received(1.0, HEAD)
    for number in range(2 * most_events(6)):
        recorder.received(2.0 + number, b'data: {"choices":[{"text":"a"}]}\n\n')
    record = recorder.record(0.0)
    assert record.failure is not None
    assert record.failure.kind is FailureKind.TOO_MANY_TOKENS
    assert len(record.token_times_s) == most_events(6) + 1


def test_a_stream_without_end_and_without_tokens_fails_by_its_size() -> None:
    recorder = ResponseRecorder(LoadRequest(0, b"", 10, 6), 0.0)
    recorder.sent(0.0)
    recorder.received(1.0, HEAD)
    sent_bytes, piece = 0, b": still here\n\n" * 4096
    while not recorder.finished:
        recorder.received(2.0, piece)
        sent_bytes += len(piece)
    failure = recorder.record(0.0).failure
    assert failure is not None
    assert failure.kind is FailureKind.TOO_LARGE
    assert sent_bytes < 20 * 2**20
