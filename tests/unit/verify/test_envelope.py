"""What stands around the text of an answer, by the API's documentation."""

from __future__ import annotations

import json
from typing import Any

import pytest

from moonpad.verify.envelope import StreamEnvelope, faults_of_answer

CALLS = [{"id": f"functions.f:{n}", "type": "function", "function": {"name": "f", "arguments": "{}"}} for n in (0, 1)]


def whole(**changes: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": None, "tool_calls": [dict(call) for call in CALLS], **changes}
    return {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}


def test_a_sound_answer() -> None:
    assert faults_of_answer(whole()) == ()
    assert faults_of_answer([1]) == faults_of_answer({"choices": [7]}) == ()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"role": "user"}, "role"),
        ({"tool_calls": [{**CALLS[0], "type": None}]}, "type of call 0"),
        ({"tool_calls": [CALLS[0], CALLS[0]]}, "one id"),
        ({"reasoning": "so", "reasoning_content": "no"}, "different texts"),
    ],
)
def test_a_wrong_answer(changes: dict[str, Any], says: str) -> None:
    (fault,) = faults_of_answer(whole(**changes))
    assert says in fault


def test_another_kind_of_object() -> None:
    assert faults_of_answer({**whole(), "object": "chat.completion"}) == ()
    assert "not a 'chat.completion'" in faults_of_answer({**whole(), "object": "text_completion"})[0]


@pytest.mark.parametrize("choices", [0, 2])
def test_more_or_fewer_choices_than_were_asked_for(choices: int) -> None:
    (fault,) = faults_of_answer(whole(), choices)
    assert fault == f"the answer has 1 choices, {choices} were asked for"


def piece(index: int, **fields: Any) -> dict[str, Any]:
    return {"tool_calls": [{"index": index, "function": {"arguments": "{"}, **fields}]}


def first(index: int) -> dict[str, Any]:
    return piece(index, id=f"functions.f:{index}", type="function", function={"name": "f", "arguments": ""})


def chunk(delta: dict[str, Any], end: str | None = None) -> dict[str, Any]:
    return {"id": "a", "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}


ROLE, TEXT, END = chunk({"role": "assistant"}), chunk({"content": "hi"}), chunk({}, "stop")
USAGE = {"id": "a", "choices": [], "usage": {"prompt_tokens": 1}}
SOUND = [ROLE, TEXT, chunk(first(0)), chunk(piece(0)), chunk(first(1)), chunk(piece(1)), END, USAGE]


def faults(events: list[Any]) -> list[str]:
    envelope = StreamEnvelope()
    for event in events:
        envelope.feed(event if isinstance(event, bytes) else json.dumps(event).encode())
    return envelope.faults


def test_a_sound_stream() -> None:
    assert faults([*SOUND, b"[DONE]"]) == []


@pytest.mark.parametrize(
    ("events", "says"),
    [
        (SOUND[1:], "no role"),
        ([*SOUND, USAGE], "more than once"),
        ([ROLE, USAGE, END], "before the end"),
        ([*SOUND, b"[DONE]", TEXT], "after [DONE]"),
        ([ROLE, END, TEXT], "after finish_reason"),
        ([ROLE, END, END], "finish_reason comes more than once"),
        ([ROLE, {**TEXT, "id": "b"}], "changes from a to b"),
        ([ROLE, chunk(first(1))], "indices count"),
        ([ROLE, chunk(first(0)), chunk(first(1)), chunk(piece(0))], "after call 1 has begun"),
        ([ROLE, chunk(first(0)), chunk(first(0))], "name of call 0"),
        ([ROLE, chunk(piece(0))], "no id"),
        ([ROLE, chunk(piece("x"))], "index of a call"),  # type: ignore[arg-type]
        ([chunk({"role": "user"})], "role in the stream"),
        ([ROLE, chunk(first(0)), chunk(piece(0, id="functions.g:0"))], "the id of call 0 changes"),
        ([ROLE, chunk({"reasoning": "so", "reasoning_content": "no"})], "different texts"),
        ([{**ROLE, "object": "chat.completion"}], "not a 'chat.completion.chunk'"),
        ([{**ROLE, "model": "kimi"}, {**TEXT, "model": "other"}], "the model of the stream changes"),
    ],
)
def test_a_wrong_stream(events: list[Any], says: str) -> None:
    assert any(says in fault for fault in faults(events)), faults(events)


def test_no_bytes_raise() -> None:
    assert faults([b"", b"{", b"[1]", b'{"choices": [{"delta": {"tool_calls": [7]}}, 3]}']) is not None
