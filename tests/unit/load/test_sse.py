"""The SSE parser: the same events for every partition of the same bytes (fault 43)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.load.failure import FailureKind, RequestFailed
from moonpad.load.sse import SseParser


def whole_stream_events(stream: bytes) -> list[bytes]:
    """The reference: the text of the specification applied to the whole stream at once, byte by byte."""
    if stream[:3] == b"\xef\xbb\xbf":
        stream = stream[3:]
    lines, line, position = [], b"", 0
    while position < len(stream):
        byte = stream[position : position + 1]
        if byte in (b"\r", b"\n"):
            lines.append(line)
            line = b""
            if stream[position : position + 2] == b"\r\n":
                position += 1
        else:
            line += byte
        position += 1
    events: list[bytes] = []
    data: list[bytes] | None = None
    for line in lines:  # what stands after the last line end is no line
        if line == b"":
            if data is not None:
                events.append(b"\n".join(data))
            data = None
        elif line == b"data" or line[:5] == b"data:":
            value = line[5:]
            data = [*(data or []), value[1:] if value[:1] == b" " else value]
    return events


ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])
LINES = st.one_of(
    st.sampled_from(
        [
            b"",
            b"",
            b"data: [DONE]",
            b"data",
            b"data:",
            b"data:  two",
            b": ping",
            b":",
            b"event: error",
            b"id: 7",
            b"\xef\xbb\xbf",
        ]
    ),
    st.text(max_size=12).map(lambda text: b"data: " + text.replace("\r", "").replace("\n", "").encode()),
    st.binary(max_size=12),  # bytes that are no UTF-8, lone line ends included
)
STREAMS = st.tuples(
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
    st.lists(st.tuples(LINES, ENDS).map(b"".join), max_size=16).map(b"".join),
    st.binary(max_size=4),
).map(b"".join)


@given(stream=STREAMS, data=st.data())
def test_every_partition_gives_the_events_of_the_whole_stream(stream: bytes, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    pieces = [stream[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    parser = SseParser()
    assert [event for piece in pieces for event in parser.feed(piece)] == whole_stream_events(stream)


@given(stream=STREAMS)
def test_one_byte_at_a_time(stream: bytes) -> None:
    parser = SseParser()
    events = [event for position in range(len(stream)) for event in parser.feed(stream[position : position + 1])]
    assert events == whole_stream_events(stream)


def test_many_events_in_one_read() -> None:
    stream = b"".join(b"data: %d\n\n" % number for number in range(1000))
    assert SseParser().feed(stream) == [b"%d" % number for number in range(1000)]


def test_an_event_is_given_by_its_own_line_end_and_not_by_the_next_read() -> None:
    parser = SseParser()
    assert parser.feed(b"data: a\r\r") == [b"a"]
    assert parser.feed(b"\ndata: b\n") == []
    assert parser.feed(b"\n") == [b"b"]


def test_an_event_that_the_end_cuts_off_is_none() -> None:
    assert SseParser().feed(b"data: a\n\ndata: b\n") == [b"a"]


@pytest.mark.parametrize("line", [b"data: " + b"x" * 94, b": " + b"x" * 98])
def test_a_line_of_the_cap_passes(line: bytes) -> None:
    SseParser(max_event_bytes=100).feed(line + b"\n")


@pytest.mark.parametrize("step", [1, 7, 1000])
def test_a_line_over_the_cap_is_too_large_before_it_ends(step: int) -> None:
    parser = SseParser(max_event_bytes=100)
    parser.feed(b"x" * 100 if step < 100 else b"")
    with pytest.raises(RequestFailed) as caught:
        parser.feed(b"x" * step)
    assert caught.value.failure.kind is FailureKind.TOO_LARGE


def test_an_event_of_many_lines_over_the_cap_is_too_large() -> None:
    parser = SseParser(max_event_bytes=100)
    with pytest.raises(RequestFailed) as caught:
        parser.feed(b"data: 0123456789\n" * 20)
    assert caught.value.failure.kind is FailureKind.TOO_LARGE
