"""Moonshot's vendor verifier: does an endpoint trigger tools where a reference does, and by their schema?

Definitions and file format: https://github.com/MoonshotAI/K2-Vendor-Verifier (README, tool_calls_eval.py), read
on 2026-11-23. A request is a line of JSON, the body of a chat completion; a result is a line with that tool's keys, so
that either tool reads the other's files.

- trigger similarity: F1 of `finish_reason == "tool_calls"` against the reference's, request by request.
- schema accuracy: the share of answers with that finish_reason all of whose calls hold their schema.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import jsonschema

from moonpad.load.wire import Broken, Malformed, Message, Refused, join, read_json
from moonpad.values.errors import ContactLost, UsageError
from moonpad.verify.api import Api
from moonpad.verify.common import collect

RETRIES: Final = 3
CONCURRENCY: Final = 5
TRIGGER_FLOOR: Final = {"kimi-k2-thinking": 0.73, "kimi-k2-0905": 0.80}
"""What Moonshot calls acceptable of an endpoint of that model, by its own fluctuation; the README of 2025-11-15."""


@dataclass(frozen=True, slots=True)
class VendorRequest:
    """`index` is the line's number, from 1; `hash` tells whether two results are of one request, whatever the model."""

    index: int
    body: Mapping[str, Any]

    @property
    def hash(self) -> str:
        text = json.dumps({**self.body, "model": ""}, sort_keys=True, ensure_ascii=False)
        return hashlib.md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


Row = Mapping[str, Any]
"""One line of results."""


@dataclass(frozen=True, slots=True)
class Score:
    """Counts by the verifier's names. Where nothing was compared, or nothing triggered, a ratio is None."""

    success_count: int
    failure_count: int
    finish_stop: int
    finish_tool_calls: int
    finish_others: int
    successful_tool_call_count: int
    compared: int = 0
    true_positive: int = 0
    false_positive: int = 0
    false_negative: int = 0

    @property
    def schema_accuracy(self) -> float | None:
        return self.successful_tool_call_count / self.finish_tool_calls if self.finish_tool_calls else None

    @property
    def tool_call_f1(self) -> float | None:
        of = 2 * self.true_positive + self.false_positive + self.false_negative
        return 2 * self.true_positive / of if self.compared and of else None

    def as_json(self) -> dict[str, object]:
        counts = {
            "success_count": self.success_count,
            "failure_count": self.failure_count,
            "finish_stop": self.finish_stop,
            "finish_tool_calls": self.finish_tool_calls,
            "finish_others": self.finish_others,
            "schema_validation_error_count": self.finish_tool_calls - self.successful_tool_call_count,
            "successful_tool_call_count": self.successful_tool_call_count,
            "schema_accuracy": self.schema_accuracy,
        }
        triggers = {
            "compared": self.compared,
            "true_positive": self.true_positive,
            "false_positive": self.false_positive,
            "false_negative": self.false_negative,
            "tool_call_f1": self.tool_call_f1,
        }
        return {**counts, **triggers}


def read_requests(lines: Iterable[str]) -> list[VendorRequest]:
    """The requests of a JSONL text, with its roles made the API's (`_input` is a system message).

    Raises:
        UsageError: a line is no request; the message has its number.
    """
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        body = read_json(line)
        messages = body.get("messages") if isinstance(body, dict) else None
        if (
            not isinstance(body, dict)
            or not isinstance(messages, list)
            or not all(isinstance(m, dict) for m in messages)
        ):
            raise UsageError(f"line {number} is no chat request with messages", remedy="one JSON object a line")
        renamed = [{**one, "role": "system"} if one.get("role") == "_input" else one for one in messages]
        found.append(VendorRequest(number, {**body, "messages": renamed}))
    if not found:
        raise UsageError("there is no request in it", remedy="one JSON object a line, with messages and tools")
    return found


async def ask_all(
    api: Api, requests: Sequence[VendorRequest], *, concurrency: int = CONCURRENCY, stream: bool | None = None
) -> AsyncIterator[Row]:
    """The results as they come. `stream` True or False overrides what the requests say.

    Raises ContactLost where nothing answers any more, after the retries of one request.
    """
    gate = asyncio.Semaphore(concurrency)

    async def one(request: VendorRequest) -> Row:
        async with gate:
            return await _ask(api, request, stream)

    tasks = [asyncio.create_task(one(request)) for request in requests]
    try:
        for task in asyncio.as_completed(tasks):
            yield await task
    finally:
        for task in tasks:
            task.cancel()


async def _ask(api: Api, request: VendorRequest, stream: bool | None) -> Row:
    body = {name: value for name, value in request.body.items() if name not in ("stream", "stream_options")}
    streamed = bool(request.body.get("stream")) if stream is None else stream
    answer: Message | str = ""
    for turn in range(RETRIES + 1):
        try:
            answer = await (_streamed(api, body) if streamed else _whole(api, body))
        except ContactLost as lost:
            if turn == RETRIES:
                raise
            answer = lost.message
        if isinstance(answer, Message):
            return _row(api, request, answer)
    return {
        **_head(api, request),
        "response": {"error": answer},
        "status": "failed",
        "finish_reason": None,
        "tool_calls_valid": None,
    }


async def _whole(api: Api, body: Mapping[str, Any]) -> Message | str:
    answer = await api.chat({**body, "model": api.endpoint.model})
    if isinstance(answer, Message):
        return answer
    return answer.because if isinstance(answer, Malformed) else f"HTTP {answer.status}: {answer.error_text()}"


async def _streamed(api: Api, body: Mapping[str, Any]) -> Message | str:
    found = await collect(api, {**body, "model": api.endpoint.model})
    if isinstance(found, Refused):
        return f"HTTP {found.reply.status}: {found.reply.error_text()}"
    return found.because if isinstance(found, Broken) else join(found.deltas)


def _head(api: Api, request: VendorRequest) -> dict[str, Any]:
    body = {**request.body, "model": api.endpoint.model}
    return {"data_index": request.index, "hash": request.hash, "request": body}


def _row(api: Api, request: VendorRequest, answer: Message) -> Row:
    calls = [one.as_json() for one in answer.tool_calls]
    message = {"role": "assistant", "content": answer.content, "tool_calls": calls or None}
    finish = answer.finish_reason or "stop"
    return {
        **_head(api, request),
        "response": {"choices": [{"index": 0, "message": message, "finish_reason": finish}]},
        "status": "success",
        "finish_reason": finish,
        "tool_calls_valid": valid(answer, request.body.get("tools") or []) if finish == "tool_calls" else None,
    }


def valid(answer: Message, tools: Sequence[Mapping[str, Any]]) -> bool:
    """Whether all calls are of tools that were offered, with arguments by their schema."""
    schemas = {}
    for tool in tools:
        function = tool.get("function") or {}
        schemas[function.get("name")] = function.get("parameters") or {}
    return all(_valid(call.arguments, schemas.get(call.name)) for call in answer.tool_calls)


def _valid(arguments: str, schema: Mapping[str, Any] | None) -> bool:
    if not schema:
        return False
    try:
        jsonschema.validate(json.loads(arguments), schema)
    except (ValueError, RecursionError, jsonschema.ValidationError, jsonschema.SchemaError):
        return False
    return True


def score(rows: Iterable[Row], reference: Iterable[Row] = ()) -> Score:
    """By the verifier's definitions; a request counts in the comparison where both have an answer to it."""
    rows = list(rows)
    finishes = [row.get("finish_reason") for row in rows]
    called = finishes.count("tool_calls")
    theirs = {_key(row): row.get("finish_reason") == "tool_calls" for row in reference if row.get("finish_reason")}
    pairs = [
        (row.get("finish_reason") == "tool_calls", theirs[_key(row)])
        for row in rows
        if row.get("finish_reason") and _key(row) in theirs
    ]
    return Score(
        success_count=sum(row.get("status") == "success" for row in rows),
        failure_count=sum(row.get("status") != "success" for row in rows),
        finish_stop=finishes.count("stop"),
        finish_tool_calls=called,
        finish_others=sum(bool(one) for one in finishes) - called - finishes.count("stop"),
        successful_tool_call_count=sum(
            row.get("finish_reason") == "tool_calls" and bool(row.get("tool_calls_valid")) for row in rows
        ),
        compared=len(pairs),
        true_positive=pairs.count((True, True)),
        false_positive=pairs.count((True, False)),
        false_negative=pairs.count((False, True)),
    )


def _key(row: Row) -> object:
    """Requests are told apart by their line: the verifier's own hash has the model's name in it."""
    return row.get("data_index")
