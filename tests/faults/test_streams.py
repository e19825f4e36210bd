"""Faults 40 to 44, 48 and 50: what servers do to a stream, and what the benchmark makes of it.

Every fault hits some requests of a run and not the others, so each test also shows that the run goes on.
"""

from __future__ import annotations

import asyncio
import resource
import shutil
import ssl
import subprocess
from pathlib import Path

import orjson
import pytest

from moonpad.bench.config import BenchConfig
from moonpad.bench.result import BenchResult
from moonpad.bench.run import measure
from moonpad.load.client import Connector
from moonpad.load.deadlines import RequestDeadlines
from moonpad.load.endpoint_url import target_of
from moonpad.load.event_loop import run_in_loop
from moonpad.load.failure import FailureKind
from moonpad.load.record import LoadRequest, RequestRecord
from moonpad.load.request_schedule import ClosedLoop
from moonpad.load.scheduler import open_idle, run_schedule
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import ContactLost
from tests.faults.streaming_server import (
    CUT,
    DONE,
    FINISH,
    HEAD,
    LAST_CHUNK,
    Script,
    answer,
    delta,
    event,
    http_chunk,
    streaming_server,
    usage,
)

QUICK = RequestDeadlines(connect_s=2.0, first_byte_s=5.0, first_token_s=5.0, between_tokens_s=5.0, total_s=10.0)


def bench(
    *scripts: Script, requests: int = 0, deadlines: RequestDeadlines = QUICK, out_dir: Path | None = None
) -> BenchResult:
    """One request for each script, in turn, on one connection at a time; fewer `requests` where some are sent again."""

    async def run() -> BenchResult:
        async with streaming_server(lambda number: scripts[number]) as server:
            config = BenchConfig(
                input_tokens=20,
                output_tokens=8,
                requests=requests or len(scripts),
                concurrency=1,
                warmup=0,
                deadlines=deadlines,
            )
            return await measure(server.endpoint, config, out_dir=out_dir)

    return run_in_loop(run())


def only_failure(*scripts: Script, deadlines: RequestDeadlines = QUICK) -> RequestRecord:
    """The record of a fault between two good answers, both of which must be whole."""
    result = bench(answer(3), *scripts, answer(5), requests=3, deadlines=deadlines)
    first, faulty, last = result.records
    assert (first.ok, last.ok, first.output_tokens, last.output_tokens) == (True, True, 3, 5)
    metrics = result.metrics
    assert (metrics.completed, metrics.failed, metrics.output_tokens) == (2, 1, 8)
    assert metrics.e2el_s is not None
    assert metrics.e2el_s.count == 2
    assert faulty.failure is not None
    assert metrics.failures == {faulty.failure.label: 1}
    return faulty


@pytest.mark.parametrize("words", [0, 1, 37])
@pytest.mark.parametrize("ending", [CUT, LAST_CHUNK], ids=["connection closed", "body ended"])
def test_a_stream_cut_after_some_tokens(words: int, ending: bytes | None) -> None:
    """Fault 40: no [DONE]: failed, with its partial tokens kept apart."""
    record = only_failure([HEAD + delta(role="assistant", content=""), *answer(words)[1:-1], ending])
    assert record.failure is not None
    assert record.failure.kind is FailureKind.STREAM_CUT
    assert f"after {words} chunks" in record.failure.text
    assert (len(record.token_times_s), record.output_tokens, record.output_tokens_from) == (words, words, "chunks")


def test_a_stream_cut_inside_a_character() -> None:
    """Fault 40: the connection closes between two bytes of one UTF-8 character."""
    word = delta(content="月")
    inside = word.index("月".encode()) + 1
    record = only_failure([HEAD + delta(content="a"), word[:inside], CUT])
    assert record.failure is not None
    assert (record.failure.kind, record.output_tokens) == (FailureKind.STREAM_CUT, 1)


def test_a_connection_closed_without_an_answer() -> None:
    """Fault 40: nothing came at all, and nothing either where it was sent again on a new connection."""
    record = only_failure([CUT], [CUT])
    assert record.failure is not None
    assert record.failure.kind is FailureKind.STREAM_CUT
    assert "before an answer" in record.failure.text


def test_an_error_inside_a_stream() -> None:
    """Fault 41: the status was 200 before the engine died; the text is kept, the tokens are not output."""
    error = event(b'{"error":{"message":"EngineCore encountered an issue","code":500}}')
    record = only_failure([HEAD, delta(content="a"), error + DONE])
    assert record.failure is not None
    assert (record.failure.kind, record.failure.text) == (FailureKind.STREAM_ERROR, "EngineCore encountered an issue")


def test_an_error_page_with_status_200() -> None:
    """Fault 41: a proxy's HTML is no stream."""
    page = b"<html><title>502 Bad Gateway</title></html>"
    record = only_failure(
        [b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s" % (len(page), page)]
    )
    assert record.failure is not None
    assert record.failure.kind is FailureKind.NOT_A_STREAM
    assert "502 Bad Gateway" in record.failure.text


@pytest.mark.parametrize("status", [400, 404, 429, 500, 503])
def test_a_refused_request_is_counted_by_its_status_and_sent_once(status: int) -> None:
    """Fault 50: no hidden retry, whatever Retry-After says."""
    record = only_failure([b"HTTP/1.1 %d X\r\nRetry-After: 1\r\nContent-Length: 9\r\n\r\nslow down" % status])
    assert record.failure is not None
    assert (record.failure.label, record.failure.text) == (f"http-{status}", "slow down")


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        (b'{"choices":[{"delta":{"content":"\xe6\x9c"}}]}', FailureKind.INVALID_UTF8),
        (b'{"choices":[', FailureKind.INVALID_JSON),
    ],
)
def test_a_payload_that_is_no_text_or_no_json(payload: bytes, kind: FailureKind) -> None:
    """Fault 43: one failed request, never an exception."""
    record = only_failure([HEAD, event(payload) + DONE])
    assert record.failure is not None
    assert record.failure.kind is kind


def test_a_line_of_400_kb_passes() -> None:
    """Fault 42: a large legal line is a token like any other."""
    result = bench([HEAD, delta(content="x" * 400_000), delta(content="y"), FINISH + usage(9, 2) + DONE])
    assert (result.metrics.completed, result.metrics.output_tokens) == (1, 2)


def test_an_endless_line_is_stopped_at_the_cap() -> None:
    """Fault 42: the request ends at 16 MiB, the run does not, and memory stays below 100 MB more."""
    before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    endless: Script = [HEAD + http_chunk(b"data: "), *[http_chunk(b"x" * (1 << 20))] * 64]
    record = only_failure(endless)
    assert record.failure is not None
    assert record.failure.kind is FailureKind.TOO_LARGE
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib < 100_000


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
def test_borders_anywhere_give_the_same_figures(size: int) -> None:
    """Fault 43: comments, events, CRLF, BOM, and reads that end anywhere."""
    stream = (
        b"\xef\xbb\xbf: ping\r\n\r\nevent: message\r\n"
        + 'data: {"choices":[{"delta":{"content":"月"}}]}\r\n\r\n'.encode()
        + b'data: {"choices":[{"delta":\rdata: {"content":"b"}}]}\r\r'
        + b'data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":4}}\n\ndata: [DONE]\n\n'
    )
    wire = b"".join(http_chunk(stream[at : at + size]) for at in range(0, len(stream), size)) + LAST_CHUNK
    pieces: Script = [HEAD, *[wire[at : at + size + 1] for at in range(0, len(wire), size + 1)]]
    record = bench(pieces).records[0]
    assert record.ok
    assert (len(record.token_times_s), len(record.itl_s), record.output_tokens) == (2, 1, 4)


@pytest.mark.parametrize(("words", "tokens_per_word"), [(1, 1), (2, 1), (64, 1), (16, 4), (1, 9)])
def test_known_tokens_in_known_chunks(words: int, tokens_per_word: int) -> None:
    """Fault 48: N tokens in K chunks give exactly N, K and K - 1 gaps; the empty first chunk is no token."""
    record = bench(answer(words, tokens_per_word=tokens_per_word)).records[0]
    assert record.ok
    assert (record.output_tokens, len(record.token_times_s), len(record.itl_s)) == (
        words * tokens_per_word,
        words,
        words - 1,
    )
    assert (record.output_tokens_from, record.prompt_tokens) == ("usage", 12)


def test_without_usage_chunks_are_counted_and_said_so() -> None:
    """Fault 48."""
    result = bench([HEAD, delta(content="a"), delta(content="b"), FINISH + DONE])
    assert (result.metrics.output_tokens, result.metrics.output_tokens_counted) == (2, 0)
    assert (result.metrics.input_tokens, result.metrics.input_tokens_counted) == (20, 0)


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
def test_first_token_of_any_kind_and_of_the_answer(field: str) -> None:
    """Fault 48: TTFT is at the first thought; the answer's own first token comes 50 ms later."""
    record = bench(
        [
            HEAD + delta(role="assistant", content=""),
            *[0.05, delta(**{field: "hm"})],
            *[0.05, delta(content="4")],
            FINISH + usage(9, 7, 3) + DONE,
        ]
    ).records[0]
    assert record.ttft_s is not None
    assert record.answer_ttft_s is not None
    assert record.ttft_s >= 0.045  # uvloop's timers are of whole milliseconds
    assert record.answer_ttft_s - record.ttft_s >= 0.045
    assert (record.reasoning_chunks, record.content_chunks, record.reasoning_tokens) == (1, 1, 3)


def test_tool_calls_are_tokens_and_no_answer() -> None:
    """Fault 48."""
    call = {"index": 0, "id": "functions.add:0", "function": {"name": "add", "arguments": ""}}
    more = {"index": 0, "function": {"arguments": '{"a":1}'}}
    record = bench([HEAD, delta(tool_calls=[call]), delta(tool_calls=[more]), FINISH + usage(9, 8) + DONE]).records[0]
    assert (record.tool_call_chunks, record.first_answer_s, len(record.itl_s)) == (2, None, 1)
    assert record.ttft_s is not None


@pytest.mark.parametrize(
    ("script", "deadlines", "kind", "due_s"),
    [
        ([5.0, HEAD], RequestDeadlines(first_byte_s=0.2), FailureKind.FIRST_BYTE_TIMEOUT, 0.2),
        ([b"HTTP/1.1 200 OK\r\n", 5.0], RequestDeadlines(first_byte_s=0.2), FailureKind.FIRST_BYTE_TIMEOUT, 0.2),
        ([HEAD, 5.0], RequestDeadlines(first_token_s=0.2), FailureKind.FIRST_TOKEN_TIMEOUT, 0.2),
        (
            [HEAD, delta(content="a"), *[0.05, http_chunk(b": ping\n\n")] * 40],
            RequestDeadlines(between_tokens_s=0.2),
            FailureKind.BETWEEN_TOKENS_TIMEOUT,
            0.2,
        ),
        (
            [HEAD, *[0.15, delta(content="a")] * 2, 5.0],
            RequestDeadlines(between_tokens_s=0.2),
            FailureKind.BETWEEN_TOKENS_TIMEOUT,
            0.49,
        ),
        ([HEAD, *[0.05, delta(content="a")] * 40], RequestDeadlines(total_s=0.4), FailureKind.TOTAL_TIMEOUT, 0.4),
    ],
    ids=["never answers", "head never ends", "no token", "pings only", "two tokens and no more", "trickles for ever"],
)
def test_each_hang_ends_at_its_own_deadline(
    script: Script, deadlines: RequestDeadlines, kind: FailureKind, due_s: float
) -> None:
    """Fault 44."""
    record = only_failure(script, deadlines=deadlines)
    assert record.failure is not None
    assert record.failure.kind is kind
    assert due_s <= record.closed_s - record.started_s < due_s + 0.5


def test_a_stream_that_ends_without_ending_its_body_is_whole() -> None:
    """[DONE] came: the answer counts, and the connection is not used again."""

    async def run() -> tuple[BenchResult, int]:
        scripts: list[Script] = [[HEAD, delta(content="a"), event(b"[DONE]"), 5.0], answer(2)]
        async with streaming_server(lambda number: scripts[number]) as server:
            config = BenchConfig(input_tokens=20, requests=2, concurrency=1, warmup=0)
            before = server.connections
            return await measure(server.endpoint, config), server.connections - before

    result, connections = run_in_loop(run())
    assert result.metrics.completed == 2
    assert connections >= 2


def test_a_server_that_closes_after_each_answer() -> None:
    """Connection: close is legal: every request succeeds."""
    closing = [*answer(3)]
    closing[0] = HEAD.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    result = bench([*closing, CUT], [*closing, CUT], [*closing, CUT])
    assert (result.metrics.completed, result.metrics.output_tokens) == (3, 9)


@pytest.mark.parametrize(("cuts", "completed"), [({1}, 2), ({1, 2}, 1)])
def test_a_server_that_closes_an_idle_connection_unannounced(cuts: set[int], completed: int) -> None:
    """The request that meets the end of an idle connection is sent once more, on a new one, and no more often."""

    async def run() -> BenchResult:
        async with streaming_server(lambda number: [CUT] if number in cuts else answer(3)) as server:
            config = BenchConfig(input_tokens=20, requests=2, concurrency=1, warmup=0)
            result = await measure(server.endpoint, config)
        assert server.chats == 3
        return result

    result = run_in_loop(run())
    assert (result.metrics.completed, result.metrics.failed) == (completed, 2 - completed)
    assert [record.resent for record in result.records] == [False, True]
    assert result.records[1].slip_s < 0.05  # what the first try took is not the client's delay


def test_a_server_that_goes_away_in_the_middle(tmp_path: Path) -> None:
    """Fault 39: 25 good, then the server is gone: 25 and 25, and failures are in no latency."""

    async def run() -> BenchResult:
        async with streaming_server(lambda number: answer(4) if number < 25 else [CUT]) as server:
            config = BenchConfig(input_tokens=20, requests=50, concurrency=1, warmup=0)
            result = asyncio.create_task(measure(server.endpoint, config, out_dir=tmp_path / "run"))
            while server.chats < 25:
                await asyncio.sleep(0.001)
            return await result

    result = run_in_loop(run())
    assert (result.metrics.completed, result.metrics.failed) == (25, 25)
    assert result.metrics.ttft_s is not None
    assert result.metrics.ttft_s.count == 25
    lines = [orjson.loads(line) for line in (tmp_path / "run" / "requests.jsonl").read_bytes().splitlines()]
    assert [line["failure"] is None for line in lines] == [True] * 25 + [False] * 25


def test_refused_connections_are_counted(free_port: int) -> None:
    """Fault 50: the server is gone after it was asked; each request says so once."""

    async def run() -> list[RequestRecord]:
        connector = Connector(
            target_of(Endpoint(f"http://127.0.0.1:{free_port}/v1", "m")), asyncio.get_running_loop().time, 2.0
        )
        slots = await open_idle(connector, 2)
        assert slots == []
        records: list[RequestRecord] = []
        requests = [LoadRequest(index, b"", 1, 1) for index in range(5)]
        clock = asyncio.get_running_loop().time
        await run_schedule(requests, ClosedLoop(2), slots, connector, QUICK, clock, clock(), records.append)
        return records

    records = run_in_loop(run())
    assert [record.failure.label if record.failure else "" for record in records] == ["connection-refused"] * 5


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate of its own for 127.0.0.1, with its key in the same file."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl here to make a certificate with")
    pem = tmp_path / "server.pem"
    argv = (openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=moonpad test", "-days", "1")
    names = ("-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(pem), "-out", str(tmp_path / "cert.pem"))
    subprocess.run((*argv, *names), check=True, capture_output=True)
    pem.write_text(pem.read_text() + (tmp_path / "cert.pem").read_text())
    return pem


def bench_by_tls(certificate: Path) -> BenchResult:
    async def run() -> BenchResult:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        async with streaming_server(lambda number: answer(4), tls=context) as server:
            return await measure(server.endpoint, BenchConfig(requests=3, concurrency=1, warmup=0))

    return run_in_loop(run())


def test_a_trusted_certificate(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert bench_by_tls(certificate).metrics.output_tokens == 12


def test_a_certificate_that_nobody_vouches_for_is_refused(certificate: Path) -> None:
    with pytest.raises(ContactLost, match="CERTIFICATE_VERIFY_FAILED"):
        bench_by_tls(certificate)
