from contextlib import nullcontext, suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.load.failure import FailureKind, RequestFailed
from moonpad.load.http1 import ResponseParser

CHUNKED = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"5\r\nhello\r\nA;ext=1\r\n, chunked!\r\n0\r\nTrailer: x\r\n\r\n"
)
COUNTED = b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone"
HINTED = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@pytest.mark.parametrize(
    ("stream", "status", "body"), [(CHUNKED, 200, b"hello, chunked!"), (COUNTED, 404, b"gone"), (HINTED, 200, b"ok")]
)
@given(data=st.data())
def test_every_partition_gives_the_same_body(stream: bytes, status: int, body: bytes, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=20)))
    parser = ResponseParser()
    pieces = zip([0, *cuts], [*cuts, len(stream)], strict=True)
    assert b"".join(parser.feed(stream[begin:end]) for begin, end in pieces) == body
    assert (parser.head.status, parser.complete, parser.keeps_alive) == (status, True, True)


def test_headers_are_lower_case() -> None:
    parser = ResponseParser()
    parser.feed(CHUNKED)
    assert parser.head.headers["content-type"] == "text/event-stream"


def test_without_a_length_the_body_ends_with_the_connection() -> None:
    parser = ResponseParser()
    assert parser.feed(b"HTTP/1.1 200 OK\r\n\r\nall of it") == b"all of it"
    assert not parser.complete
    parser.end_of_connection()
    assert parser.complete
    assert not parser.keeps_alive


@pytest.mark.parametrize("cut", [CHUNKED[:-4], COUNTED[:-1], b"HTTP/1.1 200 OK\r\n"])
def test_a_connection_that_ends_early_completes_nothing(cut: bytes) -> None:
    parser = ResponseParser()
    parser.feed(cut)
    parser.end_of_connection()
    assert not parser.complete


@pytest.mark.parametrize(
    "answer",
    [
        COUNTED.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"),
        COUNTED.replace(b"HTTP/1.1", b"HTTP/1.0"),
        COUNTED + b"and more",
    ],
)
def test_a_connection_that_is_not_to_be_used_again(answer: bytes) -> None:
    parser = ResponseParser()
    assert parser.feed(answer) == b"gone"
    assert not parser.keeps_alive


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello!\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"0" * 70_000,
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000,
    ],
)
def test_what_is_no_http_is_a_failed_request(answer: bytes) -> None:
    with pytest.raises(RequestFailed) as caught:
        ResponseParser().feed(answer)
    assert caught.value.failure.kind is FailureKind.BAD_HTTP


@given(st.binary(max_size=200), st.booleans())
def test_arbitrary_bytes_raise_nothing_else(noise: bytes, headed: bool) -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" if headed else b""
    with suppress(RequestFailed):
        ResponseParser().feed(head + noise)


HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
SIZES = st.sampled_from([b"1", b"05", b"5", b"a", b"0x5", b"5;x", b"1_0", b"", b" 5", b"0", b"123456789"])
PARTS = st.tuples(
    SIZES, st.sampled_from([b"\r\n", b"\n", b""]), st.binary(max_size=12), st.sampled_from([b"\r\n", b""])
)


def read(stream: bytes, cuts: list[int]) -> tuple[bytes, bool, bool, str]:
    parser, body, wrong = ResponseParser(), b"", ""
    for begin, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        try:
            body += parser.feed(stream[begin:end])
        except RequestFailed as failed:
            wrong = failed.failure.label
            break
    return body, parser.complete, parser.keeps_alive, wrong


@given(
    parts=st.lists(PARTS, max_size=6), right=st.lists(st.binary(min_size=1, max_size=40), max_size=4), data=st.data()
)
def test_the_quick_way_reads_what_the_careful_one_reads(
    parts: list[tuple[bytes, bytes, bytes, bytes]], right: list[bytes], data: st.DataObject
) -> None:
    """Right chunks, then anything, in any pieces: the same body, and the same fault, as byte by byte.

    Byte by byte no whole chunk ever comes at once, so the quick way is never taken.
    """
    good = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in right)
    stream = HEAD + good + b"".join(b"".join(part) for part in parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    careful = read(stream, list(range(1, len(stream))))
    quick = read(stream, cuts)
    assert quick[3] == careful[3]
    assert careful[3] or quick == careful
    assert not careful[3] or careful[0].startswith(quick[0])


@pytest.mark.parametrize("status", [b"000", b"001", b"099", b"99", b"1000", b"-200", b"abc"])
def test_a_status_that_is_none(status: bytes) -> None:
    with pytest.raises(RequestFailed) as failed:
        ResponseParser().feed(b"HTTP/1.1 %s X\r\nContent-Length: 2\r\n\r\n{}" % status)
    assert failed.value.failure.kind is FailureKind.BAD_HTTP


def test_the_message_of_a_status_that_is_none() -> None:
    with pytest.raises(RequestFailed, match="there is no status 007"):
        ResponseParser().feed(b"HTTP/1.1 007 X\r\n\r\n")


@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"", b"HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
        (b"HTTP/1.1 200 OK\r\nX: ", b"a" * 50),
        (CHUNKED[: CHUNKED.index(b"Trailer")], b"X: y\r\n"),
        (CHUNKED[: CHUNKED.index(b"Trailer")] + b"X: ", b"a" * 50),
        (CHUNKED[: CHUNKED.index(b"A;ext")], b"0" * 50),
    ],
    ids=["interim responses", "early hints", "header fields", "one header", "trailers", "one trailer", "chunk size"],
)
def test_what_has_no_end_is_ended(head: bytes, piece: bytes) -> None:
    """64 KiB of a head or of what follows the last chunk."""
    parser = ResponseParser()
    parser.feed(head)
    reads = iter(piece for _ in range(66 * 1024 // len(piece) + 1))
    with pytest.raises(RequestFailed) as failed:
        list(map(parser.feed, reads))
    assert failed.value.failure.kind is FailureKind.BAD_HTTP


def test_trailers_are_no_headers() -> None:
    parser = ResponseParser()
    parser.feed(CHUNKED)
    assert "trailer" not in parser.head.headers


@pytest.mark.parametrize(("value", "packed"), [(b"gzip", True), (b"moon", True), (b"identity", False), (b"", False)])
def test_a_packed_answer_is_refused(value: bytes, packed: bool) -> None:
    parser = ResponseParser()
    parser.feed(b"HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nContent-Length: 0\r\n\r\n" % value)
    with pytest.raises(RequestFailed) if packed else nullcontext():
        parser.head.check_not_packed()
