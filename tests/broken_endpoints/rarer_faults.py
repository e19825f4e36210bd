"""Faults that were thought of after the probes were built, to see what the probes miss: other classes than before."""

from __future__ import annotations

import copy
import json
import math
import re
import unicodedata
from collections.abc import Callable
from typing import Any

from tests.broken_endpoints.content_faults import of_arguments, of_text
from tests.broken_endpoints.content_proxy import ContentFault, Document, OnEvent
from tests.broken_endpoints.request_faults import Request, messages, tools, without
from tests.broken_endpoints.stream_faults import delta_of, each, is_call, of_rows, of_texts

Row = dict[str, Any]


def _everywhere(change: Callable[[str], str], name: str, probe: str) -> ContentFault:
    """In whole answers, streams and plain completions alike."""

    def answer(choice: Document) -> None:
        message = choice.get("message") or {}
        for part in ("content", "reasoning"):
            if message.get(part):
                message[part] = change(message[part])
        for call in message.get("tool_calls") or ():
            call["function"]["arguments"] = change(call["function"]["arguments"])

    def completion(choice: Document) -> None:
        choice["text"] = change(choice["text"])

    return ContentFault(name, probe, answer=answer, stream=of_texts(change), completion=completion)


def _cut(text: str) -> str:
    return text[:-1]


def _decoded(change: Callable[[Any], Any]) -> Callable[[Document], None]:
    return of_arguments(lambda text: json.dumps(change(json.loads(text)), ensure_ascii=False))


def _whole_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _whole_numbers(row) for key, row in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _without_null(value: Row) -> Row:
    return {key: row for key, row in value.items() if row is not None}


def _escaped_letters(text: str) -> str:
    return re.sub(r"[^\x00-\x7f]", lambda match: json.dumps(match[0])[1:-1], text)


def _once(choice: Document) -> None:
    message = choice.get("message") or {}
    if calls := message.get("tool_calls"):
        kept = {call["function"]["arguments"]: call for call in reversed(calls)}
        message["tool_calls"] = [call for call in calls if call in kept.values()]


def _of_document(**fields: object) -> Callable[[Document], None]:
    return lambda document: document.update(fields)


def _choices_swapped(document: Document) -> None:
    rows = document.get("choices") or []
    if len(rows) > 1 and "message" in rows[0]:
        rows[0]["message"], rows[1]["message"] = rows[1]["message"], rows[0]["message"]


def _one_choice(document: Document) -> None:
    rows = document.get("choices") or []
    for row in rows[1:]:
        if "message" in row:
            row["message"] = copy.deepcopy(rows[0]["message"])


def _another_choice(document: Document) -> None:
    rows = document.get("choices") or []
    if len(rows) == 1 and "message" in rows[0]:
        rows.append({**copy.deepcopy(rows[0]), "index": 1})


def _tokens(document: Document) -> list[Row]:
    return [
        row for choice in document.get("choices") or () for row in (choice.get("logprobs") or {}).get("content") or ()
    ]


def _shifted(choice: Document) -> None:
    rows = (choice.get("logprobs") or {}).get("content") or []
    values = [row["logprob"] for row in rows]
    for row, value in zip(rows, [*values[1:], *values[:1]], strict=True):
        row["logprob"] = value


def _decimal(document: Document) -> None:
    for row in _tokens(document):
        for part in (row, *row.get("top_logprobs", ())):
            part["logprob"] /= math.log(10)


def _fewer_rivals(document: Document) -> None:
    for row in _tokens(document):
        row["top_logprobs"] = row["top_logprobs"][:-1]


def _more_thinking(document: Document) -> None:
    details = (document.get("usage") or {}).get("completion_tokens_details")
    if details and details.get("reasoning_tokens") is not None:
        details["reasoning_tokens"] += 1


def _without_role(choice: Document) -> None:
    (choice.get("message") or {}).pop("role", None)


def _interleaved() -> OnEvent:
    """The pieces of all calls, taken in turns, before the event that ends the answer."""
    rows: dict[int, list[Row]] = {}
    first: Document = {}

    def on_event(event: Document | None) -> list[Document]:
        nonlocal first
        if is_call(event):
            first = first or copy.deepcopy(event or {})
            for row in delta_of(event).pop("tool_calls"):
                rows.setdefault(row["index"], []).append(row)
        out: list[Document] = []
        ended = event is None or any(choice.get("finish_reason") for choice in event.get("choices") or ())
        while ended and any(rows.values()):
            for index in sorted(rows):
                if rows[index]:
                    piece = copy.deepcopy(first)
                    piece["choices"][0]["delta"] = {"tool_calls": [rows[index].pop(0)]}
                    piece["choices"][0]["finish_reason"] = None
                    out.append(piece)
        return [*out, *([event] if event is not None else [])]

    return on_event


def _id_of_pieces(row: Row) -> None:
    if not row.get("id"):
        row["id"] = f"functions.other:{row['index']}"


def _other_thinking(event: Document) -> list[Document]:
    delta = delta_of(event)
    if delta.get("reasoning"):
        delta["reasoning_content"] = delta["reasoning"].upper()
    return [event]


def _stream_of_one_id() -> OnEvent:
    return lambda event: [] if event is None else [{**event, "id": "chatcmpl-1"}]


def _few_more(body: Document) -> Document:
    return {**body, **{key: body[key] + 3 for key in ("max_tokens", "max_completion_tokens") if key in body}}


def _at_most_one(body: Document) -> Document:
    return {**body, "temperature": min(body.get("temperature", 1.0), 1.0)}


def _first_stop(body: Document) -> Document:
    stop = body.get("stop")
    return {**body, "stop": stop[:1]} if isinstance(stop, list) else body


def _required_as_auto(body: Document) -> Document:
    return {**body, "tool_choice": "auto"} if body.get("tool_choice") == "required" else body


def _of_role(role: str, change: Callable[[Row], Row]) -> Request:
    return messages(lambda rows: [change(row) if row["role"] == role else row for row in rows])


def _texts(change: Callable[[str], str]) -> Request:
    def of(row: Row) -> Row:
        return {**row, "content": change(row["content"])} if isinstance(row.get("content"), str) else row

    return messages(lambda rows: [of(row) for row in rows])


def _results_swapped(rows: list[Row]) -> list[Row]:
    results = [row for row in rows if row["role"] == "tool"]
    texts = iter([row["content"] for row in reversed(results)])
    return [{**row, "content": next(texts)} if row["role"] == "tool" else row for row in rows]


def _renumbered(rows: list[Row]) -> list[Row]:
    text = re.sub(r'"functions\.([\w-]+):(\d+)"', lambda m: f'"functions.{m[1]}:{int(m[2]) + 1}"', json.dumps(rows))
    changed: list[Row] = json.loads(text)
    return changed


def _with_arguments(change: Callable[[str], str]) -> Request:
    def of(row: Row) -> Row:
        calls = [
            {**call, "function": {**call["function"], "arguments": change(call["function"]["arguments"])}}
            for call in row.get("tool_calls") or ()
        ]
        return {**row, "tool_calls": calls} if calls else row

    return messages(lambda rows: [of(row) for row in rows])


def _without_bounds(rows: list[Any]) -> list[Any]:
    changed: list[Any] = json.loads(re.sub(r', "(?:minimum|maximum|additionalProperties)": \w+', "", json.dumps(rows)))
    return changed


def _when_streamed(change: Request) -> Request:
    return lambda body: change(body) if body.get("stream") else body


RARER_FAULTS = (
    _everywhere(_cut, "the last character of every text is lost, in completions too", "forced_text"),
    _everywhere(str.lower, "letters are lower-cased, in completions too", "echo"),
    _everywhere(lambda text: text.replace("\u00fc", "ue"), "umlauts are spelled out, in completions too", "echo"),
    ContentFault(
        "contents are decomposed (NFD)",
        "forced_text",
        answer=of_text("content", lambda text: unicodedata.normalize("NFD", text)),
    ),
    ContentFault(
        "contents are normalised (NFKC)",
        "forced_text",
        answer=of_text("content", lambda text: unicodedata.normalize("NFKC", text)),
    ),
    ContentFault("contents are trimmed", "forced_text", answer=of_text("content", str.strip)),
    ContentFault(
        "lines of contents are trimmed",
        "forced_text",
        answer=of_text("content", lambda text: "\n".join(line.rstrip() for line in text.split("\n"))),
    ),
    ContentFault(
        "backslashes of streams are doubled", "forced_text", stream=of_texts(lambda text: text.replace("\\", "\\\\"))
    ),
    ContentFault(
        "invisible letters of streams are lost",
        "forced_text",
        stream=of_texts(lambda text: "".join(sign for sign in text if unicodedata.category(sign) != "Cf")),
    ),
    ContentFault("contents after 800 characters are cut", "own_answers", answer=of_text("content", lambda t: t[:800])),
    ContentFault("1.0 becomes 1 in arguments", "forced_calls", answer=_decoded(_whole_numbers)),
    ContentFault("arguments with null are dropped", "forced_calls", answer=_decoded(_without_null)),
    ContentFault(
        "{} becomes an empty text", "forced_calls", answer=of_arguments(lambda text: "" if text == "{}" else text)
    ),
    ContentFault(
        "arguments are unescaped", "forced_calls", answer=of_arguments(lambda text: text.replace("\\\\", "\\"))
    ),
    ContentFault("letters in arguments are escaped", "forced_calls", answer=of_arguments(_escaped_letters)),
    ContentFault("arguments after 500 characters are cut", "forced_calls", answer=of_arguments(lambda t: t[:500])),
    ContentFault(
        "calls with the same arguments are taken for one",
        "forced_calls",
        answer=_once,
    ),
    ContentFault("the choices of n are swapped", "choices", document=_choices_swapped),
    ContentFault("one choice is given n times", "choices", document=_one_choice),
    ContentFault("a choice comes that was not asked for", "own_answers", document=_another_choice),
    ContentFault("log-probabilities are those of the next token", "own_parameters", answer=_shifted),
    ContentFault("log-probabilities are decimal", "own_parameters", document=_decimal),
    ContentFault("the last of the likeliest tokens is missing", "logprobs", document=_fewer_rivals),
    ContentFault("one reasoning token more is counted", "own_answers", document=_more_thinking),
    ContentFault("the role is missing", "own_answers", answer=_without_role),
    ContentFault("another model is named", "own_answers", document=_of_document(model="gpt-4o")),
    ContentFault("all answers have one id", "own_answers", document=_of_document(id="chatcmpl-1")),
    ContentFault("all streams have one id", "own_answers", stream=_stream_of_one_id),
    ContentFault("pieces of several calls come in turns", "own_several", stream=_interleaved),
    ContentFault("the id of a call changes in the stream", "own_calls", stream=of_rows(_id_of_pieces)),
    ContentFault("two fields of the thinking differ in streams", "own_answers", stream=each(_other_thinking)),
    ContentFault("max_tokens is more by three", "own_cuts", request=_few_more),
    ContentFault("the temperature is at most 1", "own_parameters", request=_at_most_one),
    ContentFault("only the first stop string is kept", "own_parameters", request=_first_stop),
    ContentFault(
        "the stop string is left in",
        "own_parameters",
        request=lambda body: {**body, "include_stop_str_in_output": True} if body.get("stop") else body,
    ),
    ContentFault("stop_token_ids is dropped", "own_parameters", request=without("stop_token_ids")),
    ContentFault("min_tokens is dropped", "own_parameters", request=without("min_tokens")),
    ContentFault("the seed is always 1", "seed", request=lambda body: {**body, "seed": 1}),
    ContentFault("required is taken for auto", "tool_choice_required", request=_required_as_auto),
    ContentFault(
        "response_format is dropped in streams", "json_schema", request=_when_streamed(without("response_format"))
    ),
    ContentFault(
        "the system message is put last",
        "own_history",
        request=messages(lambda rows: sorted(rows, key=lambda row: row["role"] == "system")),
    ),
    ContentFault(
        "results of tools are emptied", "own_history", request=_of_role("tool", lambda row: {**row, "content": ""})
    ),
    ContentFault("results of tools are swapped", "own_history", request=messages(_results_swapped)),
    ContentFault("ids of the history are renumbered", "own_history", request=messages(_renumbered)),
    ContentFault("arguments of the history are emptied", "own_history", request=_with_arguments(lambda text: "{}")),
    ContentFault(
        "arguments of the history are sorted",
        "own_history",
        request=_with_arguments(lambda text: json.dumps(json.loads(text), sort_keys=True)),
    ),
    ContentFault(
        "names of messages are dropped",
        "own_history",
        request=messages(lambda rows: [{key: value for key, value in row.items() if key != "name"} for row in rows]),
    ),
    ContentFault(
        "messages are composed (NFC)", "own_history", request=_texts(lambda text: unicodedata.normalize("NFC", text))
    ),
    ContentFault(
        "invisible letters of messages are dropped",
        "own_history",
        request=_texts(lambda text: text.replace("\u200b", "")),
    ),
    ContentFault("line ends of messages are changed", "own_history", request=_texts(lambda t: t.replace("\r\n", "\n"))),
    ContentFault("messages after 1,000 characters are cut", "own_history", request=_texts(lambda text: text[:1000])),
    ContentFault(
        "words beside calls of the history are dropped",
        "own_history",
        request=messages(lambda rows: [{**row, "content": ""} if row.get("tool_calls") else row for row in rows]),
    ),
    ContentFault(
        "empty messages are dropped",
        "own_history",
        request=messages(lambda rows: [row for row in rows if row.get("content") != "" or row.get("tool_calls")]),
    ),
    ContentFault("only the last twenty messages are kept", "own_history", request=messages(lambda rows: rows[-20:])),
    ContentFault("another kind of object is named", "own_answers", document=_of_document(object="text_completion")),
    ContentFault("bounds in schemas are dropped", "own_history", request=tools(_without_bounds)),
    ContentFault("halves of answers are exchanged under load", "own_load", under_load=True, halves=True),
)
