"""What the model behind a sound endpoint wrote for each question of the probes, with how sure it was of each token."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal

import msgspec
import orjson

from moonpad.verify.api import Body
from moonpad.verify.own_text.continuation import SAMPLING_FIELDS, Continuation
from moonpad.verify.own_text.difference import common_prefix

MARGIN_DIGITS: Final = 2


@dataclass(frozen=True, slots=True)
class RecordedText:
    """`starts`: where in the text each token begins; `margins`: by how much each led, in nats, cut at 99."""

    question: str
    text: str
    finish_reason: str
    prompt_tokens: int | None
    completion_tokens: int | None
    starts: tuple[int, ...]
    margins: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class AnswerRecording:
    """A JSON document. `made_by`: the endpoint that was recorded; the texts by the `key_of` their request."""

    model: str
    made_by: str
    at: str
    texts: Annotated[Mapping[str, RecordedText], msgspec.Meta(min_length=1)]
    kind: Literal["answers"] = "answers"
    schema: Literal[1] = 1


def key_of(body: Body, limit: int) -> str:
    """Of a request: equal where the model must write the same, whichever engine serves it. Its stream or whole answer
    has one text."""
    fields = {name: body[name] for name in SAMPLING_FIELDS if body.get(name) is not None}
    document = {"messages": body["messages"], "tools": body.get("tools") or [], "limit": limit, **fields}
    return hashlib.sha256(orjson.dumps(document, option=orjson.OPT_SORT_KEYS)).hexdigest()[:24]


def recorded(body: Body, own: Continuation) -> RecordedText:
    messages = body["messages"]
    starts = own.starts()
    last = messages[-1] if isinstance(messages, list | tuple) and messages else {}
    return RecordedText(
        question=str(last.get("content", ""))[-80:],
        text=own.text,
        finish_reason=own.finish_reason,
        prompt_tokens=own.usage.prompt_tokens,
        completion_tokens=own.usage.completion_tokens,
        starts=starts,
        margins=tuple(round(min(token.margin, 99.0), MARGIN_DIGITS) for token in own.tokens[: len(starts)]),
    )


def departs(trusted: RecordedText, text: str, tokens: Sequence[str] = ()) -> tuple[int, float] | None:
    """Where a text leaves the recorded one, and how clearly the recorded model preferred its own there; None where they
    are the same. `tokens`: those of the text, as far as they are known. Without recorded ones the margin is 0: nothing
    is clear then."""
    if text == trusted.text:
        return None
    at = common_prefix(trusted.text, text)
    place = max((place for place, start in enumerate(trusted.starts) if start <= at), default=None)
    if place is None:
        return at, 0.0
    first = place
    if tokens:
        ends = (*trusted.starts[1:], len(trusted.text))
        recorded_tokens = [trusted.text[start:end] for start, end in zip(trusted.starts, ends, strict=True)]
        first = min(place, common_prefix(recorded_tokens, tokens))
    elif place and trusted.starts[place] == at:
        first = place - 1  # another token may begin with the one before: " " and " have"
    return at, min(trusted.margins[first : place + 1])
