"""One event of a streamed answer, as the API has it: chat completions and text completions alike.

msgspec reads only the fields that are named here and skips the rest, whatever and however much a server adds
(log-probabilities, token ids, padding): half the time of reading all of it (`benchmarks/results/client_decode.json`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec
import orjson

from moonpad.load.failure import FailureKind, RequestFailed
from moonpad.load.openai_schema import (
    MOST_NAME_CHARACTERS,
    REASONING_FIELDS,
    Broken,
    CallDelta,
    Delta,
    Done,
    Usage,
    count_of,
    error_of,
    one_line,
    read_json,
    read_usage,
    text_of,
)

ABSENT: Final = msgspec.Raw()
NULL_BYTES: Final = 4
"""The length of `null`; no object with a field is as short."""


class StreamDelta(msgspec.Struct, frozen=True, gc=False):
    """vLLM calls thinking `reasoning`, SGLang and Moonshot's own API `reasoning_content`."""

    content: str | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[msgspec.Raw] | None = None


class StreamChoice(msgspec.Struct, frozen=True, gc=False):
    """A text completion has `text` in place of a delta."""

    delta: StreamDelta | None = None
    text: str | None = None
    finish_reason: str | None = None


class StreamEvent(msgspec.Struct, frozen=True, gc=False):
    """`usage` and `error` are JSON that is not parsed yet, `ABSENT` without any."""

    choices: list[StreamChoice] | None = None
    usage: msgspec.Raw = ABSENT
    error: msgspec.Raw = ABSENT


NO_DELTA: Final = StreamDelta()
NO_CHOICE: Final = StreamChoice()
DONE: Final = b"[DONE]"
_decode: Final = msgspec.json.Decoder(StreamEvent).decode


def decode_event(payload: bytes) -> StreamEvent:
    """
    Raises:
        RequestFailed: the payload is an error of the server, or not an event of a chat or text completion.
    """
    try:
        event = _decode(payload)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise _malformed(payload, str(error)) from error
    if event.choices is None or len(event.error) > NULL_BYTES:
        _raise_error_of(payload)
    return event


def read_event(payload: bytes) -> Delta | Done | Broken:
    """The payload of one event with its text and the pieces of its tool calls. No input raises an exception."""
    if payload.strip() == DONE:
        return Done()
    try:
        event = decode_event(payload)
    except RequestFailed as failed:
        is_error = failed.failure.kind is FailureKind.STREAM_ERROR
        what = "an error inside the stream" if is_error else "an event that cannot be read"
        return Broken(f"{what}: {one_line(failed.failure.text)}")
    return Broken("an event without `choices`") if event.choices is None else delta_of(event)


def delta_of(event: StreamEvent) -> Delta:
    """What the event adds to the first choice."""
    choice = event.choices[0] if event.choices else NO_CHOICE
    delta = choice.delta or NO_DELTA
    field = next((name for name in REASONING_FIELDS if getattr(delta, name)), "")
    return Delta(
        content=delta.content or "",
        reasoning=getattr(delta, field) if field else "",
        reasoning_field=field,
        calls=tuple(_call_deltas(delta.tool_calls or ())),
        finish_reason=(choice.finish_reason or "")[:MOST_NAME_CHARACTERS],
        usage=read_usage(read_json(bytes(event.usage))),
    )


def _call_deltas(rows: Iterable[msgspec.Raw]) -> Iterator[CallDelta]:
    for row in map(read_json, map(bytes, rows)):
        function = row.get("function") if isinstance(row, dict) else None
        if isinstance(row, dict) and isinstance(function, dict | None):
            function = function or {}
            yield CallDelta(
                index=count_of(row.get("index")) or 0,
                id=text_of(row.get("id")),
                name=text_of(function.get("name")),
                arguments=text_of(function.get("arguments")),
            )


def parse_usage(text: bytes, sent_bytes: int, most_output: int) -> Usage | None:
    """None if there is none. A count that is not a number is taken as not reported.

    `sent_bytes`, `most_output`: see `Usage.credible`.

    Raises:
        RequestFailed: it is neither an object nor null, or counts what cannot be.
    """
    if len(text) <= NULL_BYTES:
        return None
    usage = read_json(text)
    if not isinstance(usage, dict):
        raise RequestFailed(FailureKind.INVALID_JSON, f"`usage` is not an object: {_excerpt(text)}")
    counts = read_usage(usage) or Usage()
    credible = counts.credible(sent_bytes, most_output)
    for name in ("prompt_tokens", "completion_tokens", "total_tokens"):
        value = usage.get(name)
        whole = isinstance(value, float) and value.is_integer() and 0 <= value < 2**53  # 12.0: odd, and no lie
        if type(value) in (int, float) and getattr(credible, name) is None and not whole:
            what = f"a request of {sent_bytes:,} bytes and an answer of at most {most_output:,} tokens"
            raise RequestFailed(FailureKind.BAD_USAGE, f"`usage.{name}` is {value:.6g}, for {what}")
    return counts


def _raise_error_of(payload: bytes) -> None:
    """Some servers send the usage without `choices`, or an `error` that is false or empty."""
    document = read_json(payload)
    if not isinstance(document, dict):
        raise _malformed(payload, "not a JSON object")
    if document.get("error") or document.get("object") == "error":
        message = error_of(document) or orjson.dumps(document.get("error") or document).decode()
        raise RequestFailed(FailureKind.STREAM_ERROR, message)


def _malformed(payload: bytes, why: str) -> RequestFailed:
    try:
        payload.decode()
    except UnicodeDecodeError as error:
        return RequestFailed(FailureKind.INVALID_UTF8, f"{error}: {_excerpt(payload)}")
    return RequestFailed(FailureKind.INVALID_JSON, f"not an event of a completion: {why}: {_excerpt(payload)}")


def _excerpt(payload: bytes) -> str:
    return payload[:200].decode(errors="replace")
