"""Faults of streams: each is made anew for a stream, and says what becomes of its events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.broken_endpoints.content_proxy import ContentFault, Document, OnEvent

TEXTS = ("content", "reasoning")


def delta_of(event: Document | None) -> Document:
    choices = (event or {}).get("choices") or [{}]
    return choices[0].get("delta") or {}


def is_text(event: Document | None) -> bool:
    return any(delta_of(event).get(name) for name in TEXTS)


def is_call(event: Document | None) -> bool:
    return bool(delta_of(event).get("tool_calls"))


def is_piece(event: Document | None) -> bool:
    """Of arguments, without a name."""
    return is_call(event) and not any(row["function"].get("name") for row in delta_of(event)["tool_calls"])


def each(change: Callable[[Document], list[Document]]) -> Callable[[], OnEvent]:
    return lambda: lambda event: [] if event is None else change(event)


def without_nth(matches: Callable[[Document | None], bool], lost: Callable[[int], bool]) -> Callable[[], OnEvent]:
    def make() -> OnEvent:
        count = 0

        def on_event(event: Document | None) -> list[Document]:
            nonlocal count
            if event is None:
                return []
            if matches(event):
                count += 1
                if lost(count):
                    return []
            return [event]

        return on_event

    return make


def held(
    matches: Callable[[Document | None], bool], release: Callable[[Document | None, Document | None], list[Document]]
) -> Callable[[], OnEvent]:
    """Keeps back the last matching event until the next one, or the end of such, comes; `release` says what becomes of
    the kept one and the next, which is None at the end."""

    def make() -> OnEvent:
        kept: Document | None = None

        def on_event(event: Document | None) -> list[Document]:
            nonlocal kept
            if matches(event):
                if kept is None:
                    kept = event
                    return []
                out, kept = release(kept, event), None
                return out
            out = release(kept, None) if kept is not None else []
            kept = None
            return [*out, *([event] if event is not None else [])]

        return on_event

    return make


def last_lost(matches: Callable[[Document | None], bool]) -> Callable[[], OnEvent]:
    """The last of a run of such events."""

    def make() -> OnEvent:
        kept: Document | None = None

        def on_event(event: Document | None) -> list[Document]:
            nonlocal kept
            out = [kept] if kept is not None and matches(event) else []
            if matches(event):
                kept = event
                return out
            kept = None
            return [*out, *([event] if event is not None else [])]

        return on_event

    return make


def renamed(source: str, target: str) -> Callable[[], OnEvent]:
    def change(event: Document) -> list[Document]:
        delta = delta_of(event)
        if delta.get(source):
            delta[target] = delta.pop(source)
        return [event]

    return each(change)


def of_rows(change: Callable[[Document], Any]) -> Callable[[], OnEvent]:
    def on_event(event: Document) -> list[Document]:
        for row in delta_of(event).get("tool_calls") or ():
            change(row)
        return [event]

    return each(on_event)


def of_texts(change: Callable[[str], str]) -> Callable[[], OnEvent]:
    def on_event(event: Document) -> list[Document]:
        delta = delta_of(event)
        for name in TEXTS:
            if delta.get(name):
                delta[name] = change(delta[name])
        return [event]

    return each(on_event)


def ending(change: Callable[[str], str | None]) -> Callable[[], OnEvent]:
    def on_event(event: Document) -> list[Document]:
        for choice in event.get("choices") or ():
            if choice.get("finish_reason"):
                choice["finish_reason"] = change(choice["finish_reason"])
        return [event]

    return each(on_event)


def _name_again() -> OnEvent:
    names: dict[int, str] = {}

    def on_event(event: Document | None) -> list[Document]:
        for row in delta_of(event).get("tool_calls") or ():
            function = row["function"]
            names[row["index"]] = function.get("name") or names.get(row["index"], "")
            function["name"] = names[row["index"]]
        return [] if event is None else [event]

    return on_event


def _text_after_the_end() -> OnEvent:
    def on_event(event: Document | None) -> list[Document]:
        if event is None:
            return []
        choices = event.get("choices") or []
        if choices and choices[0].get("finish_reason"):
            late = {**event, "choices": [{"index": 0, "delta": {"content": "."}, "finish_reason": None}]}
            return [event, late]
        return [event]

    return on_event


def _usage(change: Callable[[Document], list[Document]]) -> Callable[[], OnEvent]:
    return each(lambda event: change(event) if event.get("usage") and not event.get("choices") else [event])


def _fewer(event: Document) -> list[Document]:
    event["usage"]["completion_tokens"] -= 1
    event["usage"]["total_tokens"] -= 1
    return [event]


def _id_changes() -> OnEvent:
    count = 0

    def on_event(event: Document | None) -> list[Document]:
        nonlocal count
        count += 1
        return [] if event is None else [{**event, "id": f"chatcmpl-{count}"}]

    return on_event


def _index(index: Callable[[int], int]) -> Callable[[], OnEvent]:
    return of_rows(lambda row: row.update(index=index(row["index"])))


def _swap(kept: Document | None, event: Document | None) -> list[Document]:
    return [row for row in (event, kept) if row is not None]


STREAM_FAULTS = (
    ContentFault(
        "the first delta is lost", "own_answers", stream=without_nth(lambda e: e is not None, lambda n: n == 1)
    ),
    ContentFault("the first delta of text is lost", "own_answers", stream=without_nth(is_text, lambda n: n == 1)),
    ContentFault("the last delta of text is lost", "own_answers", stream=last_lost(is_text)),
    ContentFault("each ninth delta of text is lost", "own_answers", stream=without_nth(is_text, lambda n: n % 9 == 0)),
    ContentFault("pairs of deltas are swapped", "own_answers", stream=held(is_text, _swap)),
    ContentFault("deltas come twice", "own_answers", stream=each(lambda e: [e, e] if is_text(e) else [e])),
    ContentFault("the first piece of a call is lost", "own_calls", stream=without_nth(is_call, lambda n: n == 1)),
    ContentFault("the last piece of a call is lost", "own_calls", stream=last_lost(is_piece)),
    ContentFault("pieces of a call are swapped", "own_calls", stream=held(is_piece, _swap)),
    ContentFault("pieces of a call come twice", "own_calls", stream=each(lambda e: [e, e] if is_piece(e) else [e])),
    ContentFault("the third piece of a call is lost", "own_calls", stream=without_nth(is_piece, lambda n: n == 3)),
    ContentFault("all calls have the index 0", "own_several", stream=_index(lambda index: 0)),
    ContentFault("indices begin with 1", "own_calls", stream=_index(lambda index: index + 1)),
    ContentFault("indices count by two", "own_several", stream=_index(lambda index: index * 2)),
    ContentFault("the name comes with each piece", "tool_stream", stream=_name_again),
    ContentFault("calls have no id in the stream", "own_calls", stream=of_rows(lambda row: row.pop("id", None))),
    ContentFault(
        "ids end with 0 in the stream",
        "own_several",
        stream=of_rows(lambda row: row.update(id=row["id"].rpartition(":")[0] + ":0") if row.get("id") else None),
    ),
    ContentFault("a streamed call ends with stop", "own_calls", stream=ending(lambda end: "stop")),
    ContentFault("a stream has no finish_reason", "own_answers", stream=ending(lambda end: None)),
    ContentFault("a cut stream ends with stop", "own_cuts", stream=ending(lambda e: "stop" if e == "length" else e)),
    ContentFault("text comes after the end", "own_answers", stream=_text_after_the_end),
    ContentFault("the reasoning is streamed as content", "own_answers", stream=renamed("reasoning", "content")),
    ContentFault("the content is streamed as reasoning", "own_answers", stream=renamed("content", "reasoning")),
    ContentFault("spaces at the edges of deltas are lost", "own_answers", stream=of_texts(str.strip)),
    ContentFault(
        "deltas are decoded by another alphabet",
        "own_answers",
        stream=of_texts(lambda text: text.encode().decode("latin-1")),
    ),
    ContentFault("streams count a token less", "own_answers", stream=_usage(_fewer)),
    ContentFault("streams have no usage", "own_answers", stream=_usage(lambda event: [])),
    ContentFault("the usage comes twice", "own_answers", stream=_usage(lambda event: [event, event])),
    ContentFault("the id of a stream changes", "own_answers", stream=_id_changes),
    ContentFault("a stream has no [DONE]", "own_answers", no_done=True),
)
