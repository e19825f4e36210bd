"""One request's bytes with known instants: the record is exact."""

import pytest

from moonpad.load.deadlines import RequestDeadlines
from moonpad.load.failure import FailureKind
from moonpad.load.record import LoadRequest, RequestRecord
from moonpad.load.response_recorder import ResponseRecorder

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunk(payload: bytes) -> bytes:
    event = b"data: " + payload + b"\n\n"
    return b"%x\r\n%s\r\n" % (len(event), event)


def delta(field: bytes) -> bytes:
    return chunk(b'{"choices":[{"delta":{%s}}]}' % field)


ROLE = delta(b'"role":"assistant","content":""')
THOUGHT = delta(b'"reasoning":"hm"')
WORD = delta(b'"content":"four"')
FINISH = chunk(b'{"choices":[{"delta":{},"finish_reason":"stop"}]}')
USAGE = chunk(b'{"choices":[],"usage":{"prompt_tokens":11,"completion_tokens":6}}')
END = chunk(b"[DONE]") + b"0\r\n\r\n"


def collect(*reads: tuple[float, bytes], scheduled_s: float = 100.0, sent_s: float = 100.5) -> ResponseRecorder:
    recorder = ResponseRecorder(LoadRequest(3, b"", 10, 6), scheduled_s)
    recorder.sent(sent_s)
    for now_s, data in reads:
        recorder.received(now_s, data)
    return recorder


def record_of(*reads: tuple[float, bytes]) -> RequestRecord:
    return collect(*reads).record(90.0)


def test_times_are_counted_from_the_scheduled_instant_and_the_first_token_of_any_kind() -> None:
    record = record_of(
        (101.0, HEAD),
        (102.0, ROLE),
        (103.0, THOUGHT),
        (104.0, WORD),
        (106.0, WORD),
        (107.0, FINISH),
        (108.0, USAGE + END),
    )
    assert record.ok
    assert (record.index, record.scheduled_s, record.started_s, record.head_s) == (3, 10.0, 10.5, 11.0)
    assert (record.ttft_s, record.answer_ttft_s, record.e2el_s) == (3.0, 4.0, 7.0)
    assert record.token_times_s == (13.0, 14.0, 16.0)
    assert record.itl_s == (1.0, 2.0)
    assert record.tpot_s == pytest.approx((7.0 - 3.0) / (6 - 1))
    assert (record.output_tokens, record.output_tokens_from, record.prompt_tokens) == (6, "usage", 11)
    assert (record.reasoning_chunks, record.content_chunks, record.tool_call_chunks) == (1, 2, 0)
    assert (record.finish_reason, record.slip_s, record.closed_s) == ("stop", 0.5, 18.0)


def test_without_usage_tokens_are_chunks_and_the_record_says_so() -> None:
    record = record_of((101.0, HEAD + WORD), (102.0, WORD), (103.0, END))
    assert (record.output_tokens, record.output_tokens_from, record.prompt_tokens) == (2, "chunks", None)


def test_one_read_is_one_instant() -> None:
    record = record_of((101.0, HEAD + WORD + WORD + WORD), (102.0, END))
    assert record.itl_s == (0.0, 0.0)


@pytest.mark.parametrize("words", [0, 1, 37])
def test_a_stream_without_done_is_cut_and_keeps_its_partial_tokens(words: int) -> None:
    """Fault 40: the body ends as HTTP should, and the stream does not."""
    record = record_of((101.0, HEAD + WORD * words), (102.0, b"0\r\n\r\n"))
    assert record.failure is not None
    assert record.failure.kind is FailureKind.STREAM_CUT
    assert (len(record.token_times_s), record.output_tokens, record.ended_s) == (words, words, 12.0)


def test_a_connection_that_closes_after_done_cost_nothing() -> None:
    recorder = collect((101.0, HEAD + WORD + chunk(b"[DONE]")))
    assert not recorder.finished
    recorder.connection_closed(102.0, "by the server")
    assert recorder.record(0.0).ok
    assert not recorder.connection_reusable


def test_what_comes_after_the_end_changes_nothing() -> None:
    recorder = collect((101.0, HEAD + chunk(b'{"error":{"message":"gone"}}')))
    before = recorder.record(0.0)
    recorder.received(105.0, WORD + END)
    recorder.connection_closed(106.0, "by the server")
    assert recorder.record(0.0) == before
    assert before.failure is not None
    assert (before.failure.kind, before.failure.text) == (FailureKind.STREAM_ERROR, "gone")


def test_a_refusal_keeps_status_and_text_and_the_connection() -> None:
    body = b'{"error":{"message":"slow down"}}'
    recorder = collect((101.0, b"HTTP/1.1 429 Too Many\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)))
    record = recorder.record(0.0)
    assert record.failure is not None
    assert (record.failure.label, record.failure.text) == ("http-429", body.decode())
    assert recorder.connection_reusable


def test_an_answer_without_a_token_has_no_latency_to_report() -> None:
    record = record_of((101.0, HEAD + ROLE + FINISH + USAGE + END))
    assert record.failure is not None
    assert record.failure.kind is FailureKind.NO_TOKENS


def test_packed_answers_are_no_stream() -> None:
    head = HEAD.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n")
    record = record_of((101.0, head + b"1\r\n\x1f\r\n0\r\n\r\n"))
    assert record.failure is not None
    assert record.failure.kind is FailureKind.NOT_A_STREAM
    assert record.failure.text.startswith("gzip")


DEADLINES = RequestDeadlines(first_byte_s=5.0, first_token_s=7.0, between_tokens_s=2.0, total_s=9.0)


@pytest.mark.parametrize(
    ("reads", "due_s", "kind"),
    [
        ((), 105.5, FailureKind.FIRST_BYTE_TIMEOUT),
        (((101.0, HEAD[:20]),), 105.5, FailureKind.FIRST_BYTE_TIMEOUT),
        (((101.0, HEAD),), 108.0, FailureKind.FIRST_TOKEN_TIMEOUT),
        (((101.0, HEAD + ROLE),), 108.0, FailureKind.FIRST_TOKEN_TIMEOUT),
        (((101.0, HEAD), (103.0, WORD), (104.0, chunk(b'{"choices":[]}'))), 105.0, FailureKind.BETWEEN_TOKENS_TIMEOUT),
        (((101.0, HEAD), (109.0, WORD)), 109.5, FailureKind.TOTAL_TIMEOUT),
    ],
)
def test_each_phase_has_its_deadline(reads: tuple[tuple[float, bytes], ...], due_s: float, kind: FailureKind) -> None:
    """Fault 44: only tokens count as progress, so trickled bytes keep nothing alive."""
    assert collect(*reads).next_due(DEADLINES) == (due_s, kind)


def test_a_token_that_is_a_part_of_a_character_is_a_token_within_an_answer() -> None:
    """Byte-level tokenizers send an empty text until the character is whole; before the first word it is none."""
    part, last = delta(b'"content":""'), chunk(b'{"choices":[{"delta":{"content":""},"finish_reason":"stop"}]}')
    record = record_of(
        (101.0, HEAD + ROLE), (101.5, part), (102.0, WORD), (103.0, part), (104.0, part), (105.0, WORD),
        (106.0, last), (107.0, END),
    )  # fmt: skip
    assert record.token_times_s == (12.0, 13.0, 14.0, 15.0)
    assert (record.content_chunks, record.wordless_chunks, record.ended_s) == (2, 2, 16.0)


def test_a_completion_has_such_tokens_too() -> None:
    text = b'{"choices":[{"text":"%s","finish_reason":null}]}'
    record = record_of((101.0, HEAD), (102.0, chunk(text % b"a")), (103.0, chunk(text % b"")), (104.0, END))
    assert (record.content_chunks, record.wordless_chunks, len(record.itl_s)) == (1, 1, 1)
