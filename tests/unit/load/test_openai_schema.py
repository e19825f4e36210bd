"""Whatever bytes an endpoint sends, a value comes out."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.load.openai_schema import (
    Broken,
    CallDelta,
    Delta,
    Done,
    Malformed,
    Message,
    Reply,
    ToolCall,
    Usage,
    join,
    model_cards,
    read_answer,
)
from moonpad.load.stream_event import read_event

ANSWER_KEYS = (
    "choices",
    "message",
    "delta",
    "content",
    "reasoning",
    "tool_calls",
    "function",
    "arguments",
    "index",
    "id",
)
OTHER_KEYS = ("usage", "prompt_tokens", "completion_tokens_details", "data", "error", "finish_reason", "name")
KEYS = st.sampled_from((*ANSWER_KEYS, *OTHER_KEYS))
SCALARS = st.none() | st.booleans() | st.integers(-2, 2**70) | st.floats(allow_nan=False) | st.text(max_size=5)
JUNK = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=20
)


@given(JUNK)
def test_no_document_raises(document: object) -> None:
    assert isinstance(read_answer(document), Message | Malformed)
    assert isinstance(model_cards(document), tuple | Malformed)
    assert isinstance(read_event(json.dumps(document).encode()), Delta | Done | Broken)
    assert isinstance(Reply(500, json.dumps(document)).error_text(), str)


@given(st.binary(max_size=200))
def test_no_bytes_raise(payload: bytes) -> None:
    assert isinstance(read_event(payload), Delta | Done | Broken)


def test_deep_nesting_is_no_json() -> None:
    assert isinstance(read_event(b"[" * 100_000), Broken)


def test_a_whole_answer() -> None:
    call = {"id": "functions.f:0", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "reasoning_content": "hm", "tool_calls": [call]}
    usage = {
        "prompt_tokens": 1,
        "completion_tokens": 2,
        "total_tokens": 3,
        "completion_tokens_details": {"reasoning_tokens": 1},
    }
    assert read_answer({"choices": [{"message": message, "finish_reason": "tool_calls"}], "usage": usage}) == Message(
        reasoning="hm",
        reasoning_field="reasoning_content",
        tool_calls=(ToolCall("functions.f:0", "f", "{}"),),
        finish_reason="tool_calls",
        usage=Usage(1, 2, 3, 1),
    )


def test_deltas_of_several_calls_join_by_index() -> None:
    deltas = [
        Delta(calls=(CallDelta(1, "b", "g", ""),)),
        Delta(calls=(CallDelta(0, "a", "f", '{"x'),)),
        Delta(calls=(CallDelta(0, "", "", '": 1}'), CallDelta(1, "", "", "{}"))),
    ]
    assert join(deltas).tool_calls == (ToolCall("a", "f", '{"x": 1}'), ToolCall("b", "g", "{}"))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('{"error": {"message": "no such model"}}', "no such model"),
        ('{"error": "no such model"}', "no such model"),
        ('{"object": "error", "message": "no such model"}', "no such model"),
        ('{"detail": "Not Found"}', "Not Found"),
        ("<html>\n<b>502</b></html>", "<html> <b>502</b></html>"),
        ("", "no text"),
    ],
)
def test_an_error_in_one_line(body: str, expected: str) -> None:
    assert Reply(500, body).error_text() == expected


def test_an_error_is_bounded() -> None:
    assert len(Reply(500, "x" * 5000).error_text()) < 310
