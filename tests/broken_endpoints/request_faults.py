"""Faults of requests and under load: what a proxy drops or changes on the way to the engine, or mixes up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.broken_endpoints.content_proxy import ContentFault, Document

Request = Callable[[Document], Document | None]


def without(*names: str) -> Request:
    """The fields never reach the engine."""
    return lambda body: {name: value for name, value in body.items() if name not in names}


def messages(change: Callable[[list[Document]], list[Document]]) -> Request:
    return lambda body: {**body, "messages": change(body["messages"])}


def contents(change: Callable[[str], str]) -> Request:
    """Of the user's texts."""

    def of(message: Document) -> Document:
        content = message.get("content")
        return (
            {**message, "content": change(content)}
            if message["role"] == "user" and isinstance(content, str)
            else message
        )

    return messages(lambda rows: [of(row) for row in rows])


def tools(change: Callable[[list[Any]], list[Any]]) -> Request:
    return lambda body: {**body, "tools": change(body["tools"])} if body.get("tools") else body


def _of_role(role: str) -> Callable[[list[Document]], list[Document]]:
    def change(rows: list[Document]) -> list[Document]:
        kept = [row for row in rows if row["role"] != role]
        return kept or rows

    return change


def _without_thinking(rows: list[Document]) -> list[Document]:
    return [{key: value for key, value in row.items() if not key.startswith("reasoning")} for row in rows]


def _first_call_only(rows: list[Document]) -> list[Document]:
    return [{**row, "tool_calls": row["tool_calls"][:1]} if row.get("tool_calls") else row for row in rows]


def _first_part_only(rows: list[Document]) -> list[Document]:
    return [{**row, "content": row["content"][:1]} if isinstance(row.get("content"), list) else row for row in rows]


def _without_description(rows: list[Any]) -> list[Any]:
    return [
        {**row, "function": {key: value for key, value in row["function"].items() if key != "description"}}
        for row in rows
    ]


def _system_first(rows: list[Document]) -> list[Document]:
    return sorted(rows, key=lambda row: row["role"] != "system")


def _limit(body: Document) -> Document:
    return {**body, "max_tokens": 8} if "max_tokens" in body else body


REQUEST_FAULTS = (
    ContentFault("system messages are dropped", "own_answers", request=messages(_of_role("system"))),
    ContentFault("the history is dropped", "own_history", request=messages(lambda rows: rows[-1:])),
    ContentFault("only the last four turns are kept", "own_history", request=messages(lambda rows: rows[-4:])),
    ContentFault("the results of tools are dropped", "own_history", request=messages(_of_role("tool"))),
    ContentFault("the thinking of the history is dropped", "own_history", request=messages(_without_thinking)),
    ContentFault("of several calls in the history one is kept", "own_history", request=messages(_first_call_only)),
    ContentFault("of parts the first is kept", "own_history", request=messages(_first_part_only)),
    ContentFault("the system message is moved to the beginning", "own_history", request=messages(_system_first)),
    ContentFault("white space of questions is trimmed", "own_history", request=contents(lambda t: " ".join(t.split()))),
    ContentFault("questions are lower-cased", "own_answers", request=contents(str.lower)),
    ContentFault("a sentence is added to questions", "own_answers", request=contents(lambda text: f"{text} Be brief.")),
    ContentFault("tools after the first are dropped", "own_several", request=tools(lambda rows: rows[:1])),
    ContentFault("tools are sent in the reverse order", "own_several", request=tools(lambda rows: rows[::-1])),
    ContentFault("descriptions of tools are dropped", "own_calls", request=tools(_without_description)),
    ContentFault("tools are dropped", "own_calls", request=without("tools", "tool_choice")),
    ContentFault("max_tokens is dropped", "limit", request=without("max_tokens", "max_completion_tokens")),
    ContentFault("max_tokens is always 8", "own_answers", request=_limit),
    ContentFault("stop is dropped", "own_parameters", request=without("stop")),
    ContentFault("presence_penalty is dropped", "own_parameters", request=without("presence_penalty")),
    ContentFault("frequency_penalty is dropped", "own_parameters", request=without("frequency_penalty")),
    ContentFault("top_p is dropped", "own_parameters", request=without("top_p")),
    ContentFault("min_p is dropped", "own_parameters", request=without("min_p")),
    ContentFault("repetition_penalty is dropped", "own_parameters", request=without("repetition_penalty")),
    ContentFault("logit_bias is dropped", "own_parameters", request=without("logit_bias")),
    ContentFault("top_k is dropped", "own_parameters", request=without("top_k")),
    ContentFault("parallel_tool_calls is dropped", "tool_parallel", request=without("parallel_tool_calls")),
    ContentFault("seed is dropped", "seed", request=without("seed")),
    ContentFault("temperature is dropped to 0", "seed", request=lambda body: {**body, "temperature": 0}),
    ContentFault("tool_choice is dropped", "tool_choice_named", request=without("tool_choice")),
    ContentFault("n is dropped", "choices", request=without("n")),
    ContentFault("logprobs are dropped", "logprobs", request=without("logprobs", "top_logprobs")),
    ContentFault("response_format is dropped", "json_schema", request=without("response_format")),
    ContentFault("structured_outputs is dropped", "regex", request=without("structured_outputs", "guided_regex")),
    ContentFault("answers go to another client under load", "own_load", under_load=True, mixes=True),
    ContentFault("an answer is repeated for the same last message", "own_history", remembers=True),
)
