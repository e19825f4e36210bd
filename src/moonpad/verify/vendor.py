"""Moonshot's vendor verifier: does an endpoint call tools where a reference does, with arguments valid by their schema?

Definitions and file format: https://github.com/MoonshotAI/K2-Vendor-Verifier (README, tool_calls_eval.py), read
on 2026-11-23. A request is a line of JSON, the body of a chat completion; a result is a line with that tool's keys, so
that either tool reads the other's files.

- trigger similarity: F1 of `finish_reason == "tool_calls"` against the reference's, request by request.
- schema accuracy: the share of answers with that finish_reason whose calls are all valid by their schemas.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final, NotRequired, TypedDict

import msgspec

from moonpad.load.openai_schema import Broken, Delta, Message, Reply, join, read_json
from moonpad.values.errors import CheckFailed, ContactLost, UsageError
from moonpad.values.records import as_dict
from moonpad.verify.api import Api
from moonpad.verify.json_schema import schema_fault

RETRIES: Final = 3
MOST_UNANSWERED: Final = 3
"""Requests in a row whose deadline passed, after which the endpoint counts as lost."""
CONCURRENCY: Final = 5


class _Function(TypedDict, total=False):
    name: str
    parameters: dict[str, Any] | None


class _OfferedTool(TypedDict, total=False):
    function: _Function


class _RequestFields(TypedDict):
    messages: list[dict[str, Any]]
    tools: NotRequired[list[_OfferedTool] | None]


@dataclass(frozen=True, slots=True)
class VendorRequest:
    """`index` is the line's number, from 1; `hash` is the same for the same request, whatever the model."""

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
    """Counts by the verifier's names. A ratio is None where nothing was compared, or no tool was called."""

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
        total = 2 * self.true_positive + self.false_positive + self.false_negative
        return 2 * self.true_positive / total if self.compared and total else None

    def as_json(self) -> dict[str, object]:
        wrong = {"schema_validation_error_count": self.finish_tool_calls - self.successful_tool_call_count}
        return {**as_dict(self), **wrong, "schema_accuracy": self.schema_accuracy, "tool_call_f1": self.tool_call_f1}


def read_requests(lines: Iterable[str]) -> list[VendorRequest]:
    """The requests of a JSONL text. The verifier's role `_input` becomes a system message.

    Raises:
        UsageError: a line is not a request; the message has its number.
    """
    requests = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        body: Any = read_json(line)
        try:
            if body is None:
                raise msgspec.ValidationError("it is not JSON")
            msgspec.convert(body, _RequestFields)
        except msgspec.ValidationError as error:
            raise UsageError(
                f"line {number} is not a chat request: {error}", remedy="write one JSON object a line, with messages"
            ) from error
        messages = [
            {**message, "role": "system"} if message.get("role") == "_input" else message
            for message in body["messages"]
        ]
        requests.append(VendorRequest(number, {**body, "messages": messages}))
    if not requests:
        raise UsageError("the file has no request", remedy="write one JSON object a line, with messages and tools")
    return requests


async def ask_all(
    api: Api, requests: Sequence[VendorRequest], *, concurrency: int = CONCURRENCY, stream: bool | None = None
) -> AsyncIterator[Row]:
    """The results as they come. `stream` True or False overrides what the requests say.

    Raises ContactLost when one request got no answer after its retries, or several in a row none in time.
    """
    slots, unanswered = asyncio.Semaphore(concurrency), 0

    async def ask_in_turn(request: VendorRequest) -> Row:
        nonlocal unanswered
        async with slots:
            try:
                row = await _ask(api, request, stream)
            except ContactLost as lost:
                unanswered += 1
                if not isinstance(lost.__cause__, TimeoutError) or unanswered >= MOST_UNANSWERED:
                    raise
                return _failed_row(api, request, lost.message)
            unanswered = 0
            return row

    tasks = [asyncio.create_task(ask_in_turn(request)) for request in requests]
    try:
        for task in asyncio.as_completed(tasks):
            yield await task
    finally:
        for task in tasks:
            task.cancel()


async def _ask(api: Api, request: VendorRequest, stream: bool | None) -> Row:
    body = {name: value for name, value in request.body.items() if name not in ("model", "stream", "stream_options")}
    streamed = bool(request.body.get("stream")) if stream is None else stream
    answer: Message | str = ""
    for attempt in range(RETRIES + 1):
        try:
            answer = await _answer(api, body, streamed=streamed)
        except ContactLost as lost:
            if attempt == RETRIES or isinstance(lost.__cause__, TimeoutError):
                raise
            answer = lost.message
        except CheckFailed as wrong:
            answer = wrong.message
        if isinstance(answer, Message):
            return _row(api, request, answer)
    return _failed_row(api, request, answer)


def _failed_row(api: Api, request: VendorRequest, why: str | Message) -> Row:
    return {
        **_head(api, request),
        "response": {"error": why},
        "status": "failed",
        "finish_reason": None,
        "tool_calls_valid": None,
    }


async def _answer(api: Api, body: Mapping[str, Any], *, streamed: bool) -> Message | str:
    """The answer, or why there is none."""
    if not streamed:
        answer = await api.chat(body)
        return answer if isinstance(answer, Message) else answer.because
    deltas: list[Delta] = []
    async with aclosing(api.stream(body)) as events:
        async for event in events:
            if isinstance(event, Reply | Broken):
                return event.because
            if isinstance(event, Delta):
                deltas.append(event)
    return join(deltas)


def _head(api: Api, request: VendorRequest) -> dict[str, Any]:
    body = {**request.body, "model": api.endpoint.model}
    return {"data_index": request.index, "hash": request.hash, "request": body}


def _row(api: Api, request: VendorRequest, answer: Message) -> Row:
    calls = [call.as_json() for call in answer.tool_calls]
    message = {"role": "assistant", "content": answer.content, "tool_calls": calls or None}
    finish = answer.finish_reason or "stop"
    problem = calls_problem(answer, request.body.get("tools") or []) if finish == "tool_calls" else ""
    return {
        **_head(api, request),
        "response": {"choices": [{"index": 0, "message": message, "finish_reason": finish}]},
        "status": "success",
        "finish_reason": finish,
        "tool_calls_valid": not problem if finish == "tool_calls" else None,
        **({"tool_calls_problem": problem} if problem else {}),
    }


def calls_problem(answer: Message, tools: Sequence[Mapping[str, Any]]) -> str:
    """Why a call is not valid, or cannot be judged: its tool was not offered, or its arguments or the schema are wrong.
    "" where all are valid.
    """
    functions = [tool.get("function") or {} for tool in tools]
    schemas = {function.get("name"): function.get("parameters") for function in functions}
    for call in answer.tool_calls:
        if not schemas.get(call.name):
            return f"{call.name} was not offered, or has no parameters"
        try:
            arguments = json.loads(call.arguments)
        except (ValueError, RecursionError) as error:
            return f"the arguments of {call.name} are not JSON: {error}"
        if fault := schema_fault(arguments, schemas[call.name]):
            return f"{call.name}: {fault}"
    return ""


def score(rows: Iterable[Row], reference: Iterable[Row] = ()) -> Score:
    """By the verifier's definitions; a request is compared if both have an answer to it."""
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
        finish_others=sum(map(bool, finishes)) - called - finishes.count("stop"),
        successful_tool_call_count=sum(
            row.get("finish_reason") == "tool_calls" and bool(row.get("tool_calls_valid")) for row in rows
        ),
        compared=len(pairs),
        true_positive=pairs.count((True, True)),
        false_positive=pairs.count((True, False)),
        false_negative=pairs.count((False, True)),
    )


def _key(row: Row) -> object:
    """The number of the request's line: the verifier's own hash includes the model's name."""
    return row.get("data_index")
