"""Faults of whole answers: each changes a choice in place."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from typing import Any

from tests.broken_endpoints.content_proxy import ContentFault, Document
from tests.broken_endpoints.stream_faults import of_texts

Change = Callable[[Document], None]


def of_arguments(change: Callable[[str], str]) -> Change:
    def answer(choice: Document) -> None:
        for call in _calls(choice):
            call["function"]["arguments"] = change(call["function"]["arguments"])

    return answer


def of_text(field: str, change: Callable[[str], str]) -> Change:
    def answer(choice: Document) -> None:
        message = choice.get("message") or {}
        if message.get(field):
            message[field] = change(message[field])

    return answer


def of_calls(change: Callable[[list[Document]], list[Document]]) -> Change:
    """Where an answer has several."""

    def answer(choice: Document) -> None:
        if len(calls := _calls(choice)) > 1:
            choice["message"]["tool_calls"] = change(calls)

    return answer


def of_ids(change: Callable[[int, Document], str]) -> Change:
    def answer(choice: Document) -> None:
        for number, call in enumerate(_calls(choice)):
            call["id"] = change(number, call)

    return answer


def swapped(path: tuple[str, ...]) -> Change:
    """Of the first two calls."""

    def change(calls: list[Document]) -> list[Document]:
        first, second = (_at(calls[number], path[:-1]) for number in (0, 1))
        first[path[-1]], second[path[-1]] = second[path[-1]], first[path[-1]]
        return calls

    return of_calls(change)


def moved(source: str, target: str) -> Change:
    def answer(choice: Document) -> None:
        message = choice.get("message") or {}
        if text := message.get(source):
            message[target], message[source] = (message.get(target) or "") + text, None

    return answer


def calls_as(target: str) -> Change:
    def answer(choice: Document) -> None:
        for call in _calls(choice):
            message = choice["message"]
            message[target] = f"{message.get(target) or ''}{call['id']}{call['function']['arguments']}"
        if _calls(choice):
            choice["message"]["tool_calls"] = None

    return answer


def ending(new: Callable[[str, Document], str]) -> Change:
    def answer(choice: Document) -> None:
        choice["finish_reason"] = new(str(choice.get("finish_reason")), choice)

    return answer


def usage_of(name: str, change: Callable[[Document], Any]) -> Change:
    def usage(document: Document) -> None:
        if row := document.get("usage"):
            if name == "reasoning_tokens":
                row["completion_tokens_details"] = {"reasoning_tokens": change(row)}
            else:
                row[name] = change(row)

    return usage


def merge(calls: list[Document]) -> list[Document]:
    calls[0]["function"]["arguments"] = "".join(call["function"]["arguments"] for call in calls)
    return calls[:1]


def merge_objects(calls: list[Document]) -> list[Document]:
    whole = {key: value for call in calls for key, value in json.loads(call["function"]["arguments"]).items()}
    calls[0]["function"]["arguments"] = json.dumps(whole)
    return calls[:1]


def _calls(choice: Document) -> list[Document]:
    return (choice.get("message") or {}).get("tool_calls") or []


def _at(row: Document, path: tuple[str, ...]) -> Document:
    for name in path:
        row = row[name]
    return row


def _rename(choice: Document) -> None:
    for call in _calls(choice):
        name = call["function"]["name"]
        call["function"]["name"] = name.replace("-", "_")
        call["id"] = call["id"].replace(name, name.replace("-", "_"))


def _sorted_keys(text: str) -> str:
    return json.dumps(json.loads(text), sort_keys=True)


def _as_strings(text: str) -> str:
    return json.dumps({key: str(value) for key, value in json.loads(text).items()})


def _plus(row: Document) -> int:
    return int(row["prompt_tokens"]) + 1


def _completion(row: Document) -> int:
    return int(row["completion_tokens"])


def _everywhere(choice: Document) -> None:
    """In plain completions as in chats: one digit is another, and so in each of the tokens."""
    choice["text"] = choice["text"].replace("8", "3")
    if rows := choice.get("logprobs"):
        rows["tokens"] = [token.replace("8", "3") for token in rows["tokens"]]


def _digit_in_all(choice: Document) -> None:
    message = choice.get("message") or {}
    for name in ("content", "reasoning"):
        if message.get(name):
            message[name] = message[name].replace("8", "3")


WHOLE_FAULTS = (
    ContentFault(
        "the last character of the arguments is lost", "own_calls", answer=of_arguments(lambda text: text[:-1])
    ),
    ContentFault(
        "the first character of the arguments is lost", "own_calls", answer=of_arguments(lambda text: text[1:])
    ),
    ContentFault("the arguments are doubled", "own_calls", answer=of_arguments(lambda text: text * 2)),
    ContentFault(
        "the arguments are re-encoded without spaces",
        "own_calls",
        answer=of_arguments(lambda text: json.dumps(json.loads(text), separators=(",", ":"))),
    ),
    ContentFault("the keys of the arguments are sorted", "own_calls", answer=of_arguments(_sorted_keys)),
    ContentFault("numbers in the arguments become texts", "own_calls", answer=of_arguments(_as_strings)),
    ContentFault("the arguments are escaped twice", "own_calls", answer=of_arguments(json.dumps)),
    ContentFault("letters of the arguments are lower-cased", "own_calls", answer=of_arguments(str.lower)),
    ContentFault("the arguments of two calls are swapped", "own_several", answer=swapped(("function", "arguments"))),
    ContentFault("the names of two calls are swapped", "own_several", answer=swapped(("function", "name"))),
    ContentFault("the ids of two calls are swapped", "own_several", answer=swapped(("id",))),
    ContentFault("calls come in the reverse order", "own_several", answer=of_calls(lambda calls: calls[::-1])),
    ContentFault("calls are merged as texts", "own_several", answer=of_calls(merge)),
    ContentFault("calls are merged as objects", "own_several", answer=of_calls(merge_objects)),
    ContentFault("calls after the first are lost", "own_several", answer=of_calls(lambda calls: calls[:1])),
    ContentFault("the last of several calls is lost", "own_several", answer=of_calls(lambda calls: calls[:-1])),
    ContentFault("the last call comes twice", "own_several", answer=of_calls(lambda calls: [*calls, calls[-1]])),
    ContentFault(
        "ids count from 0 in each answer",
        "tool_ids",
        answer=of_ids(lambda number, call: f"functions.{call['function']['name']}:{number}"),
    ),
    ContentFault(
        "ids do not count", "own_several", answer=of_ids(lambda number, call: f"functions.{call['function']['name']}:0")
    ),
    ContentFault("ids are of another make", "own_calls", answer=of_ids(lambda number, call: f"call_{number:08x}")),
    ContentFault("hyphens in names become underscores", "tool_hyphen", answer=_rename),
    ContentFault("calls become content", "own_calls", answer=calls_as("content")),
    ContentFault("calls become reasoning", "own_calls", answer=calls_as("reasoning")),
    ContentFault("the reasoning is put into the content", "own_answers", answer=moved("reasoning", "content")),
    ContentFault("the content is put into the reasoning", "own_answers", answer=moved("content", "reasoning")),
    ContentFault("the reasoning is lost", "own_answers", answer=of_text("reasoning", lambda text: "")),
    ContentFault("the reasoning is doubled", "own_answers", answer=of_text("reasoning", lambda text: text * 2)),
    ContentFault(
        "the end of the reasoning is lost", "own_answers", answer=of_text("reasoning", lambda text: text[:-1])
    ),
    ContentFault("the end of the content is lost", "own_answers", answer=of_text("content", lambda t: t[:-1])),
    ContentFault("the beginning of the content is lost", "own_answers", answer=of_text("content", lambda t: t[1:])),
    ContentFault("the content is doubled", "own_answers", answer=of_text("content", lambda text: text * 2)),
    ContentFault("the content is escaped for HTML", "own_answers", answer=of_text("content", html.escape)),
    ContentFault(
        "letters beyond ASCII become question marks",
        "own_answers",
        answer=of_text("content", lambda text: text.encode("ascii", "replace").decode()),
    ),
    ContentFault("a line break follows the content", "own_answers", answer=of_text("content", lambda t: t + "\n")),
    ContentFault("digits change", "own_answers", answer=of_text("content", lambda t: t.replace("7", "1"))),
    ContentFault(
        "a digit changes in completions too",
        "own_cuts",
        answer=_digit_in_all,
        stream=of_texts(lambda text: text.replace("8", "3")),
        completion=_everywhere,
    ),
    ContentFault("long contents are cut", "own_answers", answer=of_text("content", lambda text: text[:60])),
    ContentFault("a call ends with stop", "own_calls", answer=ending(lambda e, _: "stop" if e != "length" else e)),
    ContentFault(
        "a cut answer ends with stop", "own_cuts", answer=ending(lambda end, _: "stop" if end == "length" else end)
    ),
    ContentFault("an answer ends with length", "own_answers", answer=ending(lambda end, _: "length")),
    ContentFault("the prompt counts one token more", "own_answers", answer=usage_of("prompt_tokens", _plus)),
    ContentFault(
        "the answer counts one token less",
        "own_answers",
        answer=usage_of("completion_tokens", lambda row: row["completion_tokens"] - 1),
    ),
    ContentFault("the total is that of the answer", "own_answers", answer=usage_of("total_tokens", _completion)),
    ContentFault("no reasoning tokens are counted", "own_answers", answer=usage_of("reasoning_tokens", lambda row: 0)),
)
