"""Sound answers with a byte or a value changed, to every parser of a server's answers: a value, or RequestFailed."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from moonpad.engines import ENGINES
from moonpad.load.failure import RequestFailed
from moonpad.load.http1 import ResponseParser
from moonpad.load.openai_schema import (
    MOST_TOKENS,
    Usage,
    completion_text,
    has_choice,
    join,
    model_cards,
    read_answer,
    read_json,
    read_usage,
    usage_of,
)
from moonpad.load.openai_schema import Delta as StreamDelta
from moonpad.load.sse import SseParser
from moonpad.load.stream_event import decode_event, parse_usage, read_event
from moonpad.observe.metrics import EngineLoad, read_load
from moonpad.verify.numerics.scoring_client import read_scored
from tests.attacks.hostile_server import (
    CHUNKED,
    METRICS,
    USAGE,
    Request,
    call,
    delta,
    event,
    plain,
    stream_events,
    whole_answer,
)

ECHO = Request("/v1/completions", {"echo": True})
DOCUMENTS: tuple[Any, ...] = (
    whole_answer(Request("/v1/chat/completions", {})),
    whole_answer(ECHO),
    {"data": [{"id": "kimi-k2", "max_model_len": 4096}]},
    {
        "choices": [{"message": {"content": None, "tool_calls": [call()]}, "finish_reason": "tool_calls"}],
        "usage": USAGE,
    },
    delta(tool_calls=[call(index=0)]),
    delta(reasoning="word"),
    {"choices": [], "usage": {**USAGE, "completion_tokens_details": {"reasoning_tokens": 3}}},
    {"error": {"message": "no", "code": 400}},
    *stream_events(),
)
WIRES = (
    plain(DOCUMENTS[0]),
    CHUNKED + b"".join(map(event, stream_events())) + event(b"[DONE]") + b"0\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n{}",
    b"HTTP/1.1 500 E\r\nContent-Length: 3\r\n\r\nbad",
)
WRONG = st.one_of(
    st.sampled_from(
        (
            None,
            True,
            -1,
            0,
            2**53,
            2**63,
            2**64 - 1,
            2**64,
            1.5,
            1e300,
            "",
            "a" * 9000,
            "\0",
            "\x1b[2J",
            [],
            {},
            [[]],
            [{}],
        )
    ),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(),
    st.recursive(st.none(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=5),
)
READERS: tuple[Callable[[Any], object], ...] = (
    read_answer,
    model_cards,
    usage_of,
    read_usage,
    completion_text,
    read_scored,
)


@st.composite
def changed_documents(draw: st.DrawFn) -> Any:
    """A sound document with a wrong value at one to three of its places."""
    document = json.loads(json.dumps(draw(st.sampled_from(DOCUMENTS))))
    for _ in range(draw(st.integers(1, 3))):
        document = _changed(draw, document)
    return document


def _changed(draw: st.DrawFn, value: Any) -> Any:
    places = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    if not places or draw(st.integers(0, 5)) == 0:
        return json.loads(json.dumps(draw(WRONG)))  # a copy of its own
    place = draw(st.sampled_from(places))
    value[place] = _changed(draw, value[place])
    return value


@st.composite
def changed_bytes(draw: st.DrawFn, sources: tuple[bytes, ...]) -> bytes:
    """Bytes flipped, cut out, repeated or put in."""
    data = draw(st.sampled_from(sources))
    for _ in range(draw(st.integers(1, 4))):
        at, end = sorted((draw(st.integers(0, len(data))), draw(st.integers(0, len(data)))))
        new = draw(
            st.sampled_from((b"", data[at:end] * 3, b"\xff", b"\0", b"-1", b"99999999999999999999", b"\r\n", b"1e999"))
        )
        data = draw(st.sampled_from((data[:at] + new + data[end:], data[:at] + new + data[at:], data[:at])))
    return data


@st.composite
def pieces(draw: st.DrawFn, data: bytes) -> list[bytes]:
    cuts = sorted(draw(st.lists(st.integers(0, len(data)), max_size=5)))
    return [data[at:end] for at, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]


@given(changed_documents())
def test_a_wrong_value_anywhere_is_a_value(document: Any) -> None:
    payload = json.dumps(document).encode()
    for reader in READERS:
        reader(read_json(payload))
    has_choice(payload.decode())
    read = read_event(payload)
    if isinstance(read, StreamDelta):
        join([read, read])
        _check(read.usage)
    with suppress(RequestFailed):
        _check(parse_usage(bytes(decode_event(payload).usage), 10_000, 1_000))


@given(st.data(), changed_bytes(WIRES))
def test_wrong_bytes_anywhere_are_an_answer_or_a_failure(data: st.DataObject, wire: bytes) -> None:
    response, events = ResponseParser(), SseParser()
    with suppress(RequestFailed):
        for piece in data.draw(pieces(wire)):
            for payload in events.feed(response.feed(piece)):
                read_event(payload)
                with suppress(RequestFailed):
                    decode_event(payload)
            if response.complete:
                break
        response.end_of_connection()
    assert response.head.status == 0 or response.head.status >= 200


@given(changed_bytes((METRICS, METRICS + b'vllm:prompt_tokens_total{a="b\\""} 1e5 17 # {c="d"} 3\n')))
def test_wrong_metrics_are_unknown_or_numbers_in_range(text: bytes) -> None:
    for engine in ENGINES.values():
        load = read_load(text if text.endswith(b"\n") else text + b"\n", engine.metrics)
        if isinstance(load, EngineLoad):
            values = [getattr(load, name) for name in EngineLoad.__slots__]
            assert all(value is None or 0 <= value <= 2**53 for value in values)


@given(WRONG)
def test_a_count_of_tokens_is_one_or_is_not_reported(value: Any) -> None:
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    usage = read_usage({**dict.fromkeys(names, value), "completion_tokens_details": {"reasoning_tokens": value}})
    _check(usage)


def test_the_largest_count_and_the_first_that_is_none() -> None:
    assert read_usage({"prompt_tokens": MOST_TOKENS}) == Usage(prompt_tokens=100_000_000)
    assert read_usage({"prompt_tokens": MOST_TOKENS + 1, "completion_tokens": 3}) == Usage(completion_tokens=3)


def test_counts_far_beyond_the_request_are_not_reported() -> None:
    usage = Usage(prompt_tokens=70_000, completion_tokens=100, total_tokens=70_100, reasoning_tokens=101)
    assert usage.credible(5000, 100) == Usage(prompt_tokens=70_000, completion_tokens=100, total_tokens=70_100)
    assert usage.credible(1000, 99) == Usage(total_tokens=70_100)


def _check(usage: Usage | None) -> None:
    for name in Usage.__slots__ if usage else ():
        count = getattr(usage, name)
        assert count is None or (type(count) is int and 0 <= count <= 10**8)
