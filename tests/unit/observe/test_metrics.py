"""`/metrics` as it comes: of one engine and of several, hostile, half, too much, and never an exception."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from moonpad.engines.tensorrt_llm import METRICS as TENSORRT_LLM
from moonpad.engines.vllm_log import METRICS as VLLM
from moonpad.facts.probe import Unknown
from moonpad.observe.metrics import BODY_BYTES, EngineLoad, ask_load, read_load
from moonpad.observe.readiness import ask_health, ask_one_token
from moonpad.values.endpoint import Endpoint
from moonpad.values.secret import Secret

TEXT = b"""\
# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="kimi"} 3.0
vllm:num_requests_running{engine="1",model_name="kimi"} 4.0
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0",model_name="kimi"} 0.0
vllm:num_requests_waiting{engine="1",model_name="kimi"} 2.0
vllm:num_requests_waiting_by_reason{engine="1",model_name="kimi"} 99.0
vllm:kv_cache_usage_perc{engine="0",model_name="kimi"} 0.25
vllm:kv_cache_usage_perc{engine="1",model_name="kimi"} 0.75
# TYPE vllm:prompt_tokens_total counter
vllm:prompt_tokens_total{engine="0",model_name="a \\"quoted\\", {braced} name"} 1.2345e+06
# TYPE vllm:generation_tokens_total counter
vllm:generation_tokens_total{engine="0",model_name="kimi"} 100.0
vllm:generation_tokens_total{engine="1",model_name="kimi"} 23.0 1700000000000
vllm:generation_tokens_created{engine="0",model_name="kimi"} 1.7e+09
# TYPE vllm:time_to_first_token_seconds histogram
vllm:time_to_first_token_seconds_bucket{engine="0",le="+Inf",model_name="kimi"} 9.0
"""
LOAD = EngineLoad(running=7.0, waiting=2.0, kv_usage=0.75, generation_tokens=123.0, prompt_tokens=1_234_500.0)


def test_sums_over_ranks_and_the_fullest_cache() -> None:
    assert read_load(TEXT, VLLM) == LOAD


def test_names_that_an_engine_has_not() -> None:
    text = b"trtllm_num_requests_running 2\ntrtllm_num_requests_waiting 0\ntrtllm_kv_cache_utilization 0.5\n"
    assert read_load(text, TENSORRT_LLM) == EngineLoad(2.0, 0.0, 0.5, None, None)


@pytest.mark.parametrize("number", [b"NaN", b"+Inf", b"-Inf", b"-1", b"9" * 400, b"1e999"])
def test_what_is_no_count_is_not_reported(number: bytes) -> None:
    """And never 0, which would be an engine at rest."""
    text = TEXT.replace(
        b'running{engine="1",model_name="kimi"} 4.0', b'running{engine="1",model_name="kimi"} ' + number
    )
    load = read_load(text, VLLM)
    assert isinstance(load, Unknown) or load == EngineLoad(None, 2.0, 0.75, 123.0, 1_234_500.0)


def test_a_missing_name_is_not_reported() -> None:
    text = TEXT.replace(b"vllm:kv_cache_usage_perc", b"vllm:gpu_cache_usage_perc")
    assert read_load(text, VLLM) == EngineLoad(7.0, 2.0, None, 123.0, 1_234_500.0)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "empty"),
        (b"<html><body>502 Bad Gateway</body></html>\n", "none of the engine's known names"),
        (b"vllm:num_requests_running\n", "none of the engine's known names"),
        (b"vllm:num_requests_running {\n", "cannot be read"),
        (b"vllm:num_requests_running{a=} x\n", "cannot be read"),
        (b'vllm:num_requests_running{a="\xff"} 1\n', "cannot be read"),
        (b"vllm:num_requests_running 1e\n", "cannot be read"),
        (b"vllm:num_requests_running 1\n" * 5000, "repeats the known names"),
        (b"vllm:num_requests_running{" + b'a="",' * 5000 + b"} 1\n", "repeats the known names"),
        (TEXT + b"x" * BODY_BYTES, "larger than 4 MiB"),
    ],
)
def test_what_is_no_report(body: bytes, why: str) -> None:
    load = read_load(body, VLLM)
    assert isinstance(load, Unknown)
    assert why in load.reason


@given(st.integers(0, len(TEXT) - 1))
def test_half_a_report_is_none(length: int) -> None:
    """`generation_tokens_total 12` of `123`: a number that was cut is another number. At the end of a line a sum may
    lack a rank, which only a length that was promised can tell (below)."""
    load = read_load(TEXT[:length], VLLM)
    if TEXT[:length].endswith(b"\n"):
        assert load != LOAD or length >= TEXT.index(b"vllm:generation_tokens_created")
    else:
        assert isinstance(load, Unknown)


NAMES = [b"vllm:num_requests_running", b"vllm:generation_tokens_total", b"vllm:kv_cache_usage_perc"]
PIECES = [
    b"{",
    b"}",
    b'"',
    b"=",
    b",",
    b" ",
    b"\t",
    b"\\",
    b"#",
    b"# ",
    b"\r",
    b"NaN",
    b"_",
    b"1",
    b"e9",
    b"a",
    b"\xc3",
]
LINE = st.builds(lambda name, rest: name + b"".join(rest), st.sampled_from(NAMES), st.lists(st.sampled_from(PIECES)))


@given(
    st.binary()
    | st.lists(LINE).map(lambda lines: b"\n".join(lines) + b"\n")
    | st.builds(lambda name, rest: name + b" " + rest + b"\n", st.sampled_from(NAMES), st.binary(max_size=30))
)
@example(b"vllm:num_requests_running 1 " + b"9" * 400 + b"\n")
def test_any_bytes(body: bytes) -> None:
    load = read_load(body, VLLM)
    if isinstance(load, EngineLoad):
        values = [load.running, load.waiting, load.kv_usage, load.generation_tokens, load.prompt_tokens]
        assert all(value is None or 0 <= value < float("inf") for value in values)
    else:
        assert load.reason


# --- over a socket


@contextmanager
def serving(answer: Callable[[socket.socket], None]) -> Iterator[Endpoint]:
    """An endpoint that answers each connection so, and then closes it."""
    listener = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def serve() -> None:
        while not over.is_set():
            connection, _ = listener.accept()
            with connection, suppress(OSError):
                if over.is_set():
                    return
                connection.recv(65536)
                answer(connection)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield Endpoint(f"http://127.0.0.1:{listener.getsockname()[1]}/v1", "kimi")
    finally:
        over.set()
        with suppress(OSError):
            socket.create_connection(listener.getsockname(), 1.0).close()
        thread.join()
        listener.close()


def saying(data: bytes) -> Callable[[socket.socket], None]:
    return lambda connection: connection.sendall(data)


def head(length: int, status: str = "200 OK") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n".encode()


def test_it_is_asked() -> None:
    with serving(saying(head(len(TEXT)) + TEXT)) as endpoint:
        assert ask_load(endpoint, VLLM, 5.0) == LOAD


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (head(9, "404 Not Found") + b"not found", "/metrics answered 404"),
        (head(9, "503 Busy") + TEXT, "/metrics answered 503"),
        (head(len(TEXT)) + TEXT[: TEXT.index(b"# TYPE vllm:prompt")], "incomplete"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfff\r\n" + TEXT, "incomplete"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n" + TEXT, "chunk size"),
        (b"HTTP/1.1 200 OK\r\n\r\n" + TEXT[:-3], "middle of a line"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", "SSH"),
        (b"HTTP/1.1 200 OK\r\n" + b"X-Long: " + b"x" * 70_000, "head is longer"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200, "incomplete"),
        (b"", "closed"),
    ],
)
def test_answers_that_are_none(data: bytes, why: str) -> None:
    with serving(saying(data)) as endpoint:
        load = ask_load(endpoint, VLLM, 5.0)
    assert isinstance(load, Unknown)
    assert why in load.reason


def test_fifty_megabytes_are_not_taken() -> None:
    sent = 0

    def flood(connection: socket.socket) -> None:
        nonlocal sent
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        for _ in range(50):
            connection.sendall(TEXT * (1_000_000 // len(TEXT)))
            sent += 1

    with serving(flood) as endpoint:
        load = ask_load(endpoint, VLLM, 30.0)
    assert load == Unknown("/metrics is larger than 4 MiB")
    assert sent < 40, "the rest was refused"


def trickle(connection: socket.socket) -> None:
    """A byte now and then: no single wait is long, and all of them are twelve seconds."""
    for byte in head(4) + b"ok!\n":
        connection.sendall(bytes([byte]))
        time.sleep(0.3)


def test_a_limit_is_for_the_whole_answer() -> None:
    """The canary's time is the only proof of a hang, so it must not grow with each byte."""
    with serving(trickle) as endpoint:
        answer = ask_health(endpoint, 1.0)
    assert (answer.status, answer.timed_out) == (None, True)


def test_silence_is_told_from_refusal() -> None:
    with serving(lambda connection: time.sleep(1.0)) as endpoint:
        answer = ask_one_token(endpoint, 0.2)
    assert (answer.status, answer.timed_out, answer.text) == (None, True, "timed out")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    answer = ask_one_token(Endpoint(f"http://127.0.0.1:{port}/v1", "kimi"), 5.0)
    assert (answer.status, answer.timed_out) == (None, False)


def test_a_key_that_cannot_be_sent() -> None:
    endpoint = Endpoint("http://127.0.0.1:9/v1", "kimi", Secret("two\nlines"))
    assert isinstance(ask_load(endpoint, VLLM, 1.0), Unknown)
    answer = ask_health(endpoint, 1.0)
    assert answer.status is None
    assert "two" not in answer.text, "a secret is never said"
