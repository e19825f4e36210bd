"""What an answer has around its text: role, indices, ids, one end, usage. Pure; no input raises an exception."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from moonpad.load.openai_schema import REASONING_FIELDS, Message, Usage, read_answer, read_json, read_usage
from moonpad.values.records import replace

DONE: Final = b"[DONE]"
TEXT_FIELDS: Final = ("content", *REASONING_FIELDS)


class TokenLogprob(NamedTuple):
    """A token as text, its natural log-probability, and those of the likeliest tokens at its place."""

    text: str
    value: float
    likeliest: Mapping[str, float]


def faults_of_answer(document: object, choices: int = 1) -> tuple[str, ...]:
    """What is wrong around a whole answer, a sentence each; `choices`: as many as were asked for. What cannot be read
    at all is another fault."""
    if not isinstance(document, dict) or not isinstance(document.get("choices"), list):
        return ()
    return tuple(dict.fromkeys(_faults_of_answer(document, choices)))


def _faults_of_answer(document: Mapping[str, Any], choices: int) -> Iterator[str]:
    if len(document["choices"]) != choices:
        yield f"the answer has {len(document['choices'])} choices, {choices} were asked for"
    if document.get("object") not in (None, "chat.completion"):
        yield f"the answer says that it is a {document['object']!r}, not a 'chat.completion'"
    for place, choice in enumerate(document["choices"]):
        if not isinstance(choice, dict):
            continue
        if choice.get("index", place) != place:
            yield f"the index of choice {place} is {choice['index']!r}"
        message = choice.get("message")
        if not isinstance(message, dict):
            continue
        if message.get("role") != "assistant":
            yield f"the role of the answer is {message.get('role')!r}"
        if _thoughts_differ(message):
            yield f"{' and '.join(REASONING_FIELDS)} have different texts"
        ids = []
        for number, call in enumerate(_rows(message.get("tool_calls"))):
            if call.get("type") != "function":
                yield f"the type of call {number} is {call.get('type')!r}"
            ids.append(call.get("id"))
        if len({str(id_) for id_ in ids}) < len(ids):
            yield f"several calls have one id: {', '.join(map(str, ids))}"


def _thoughts_differ(message: Mapping[str, Any]) -> bool:
    return len({str(message[name]) for name in REASONING_FIELDS if message.get(name)}) > 1


@dataclass(slots=True)
class StreamEnvelope:
    """Reads the events of a stream in their order."""

    faults: list[str] = field(default_factory=list)
    prompt_ids: tuple[int, ...] = ()
    id: str = ""
    model: str = ""
    logprobs: list[TokenLogprob] = field(default_factory=list)
    _deltas: int = 0
    _ended: bool = False
    _usages: int = 0
    _done: bool = False
    _call: int = -1
    """The index of the call whose pieces come."""
    _call_id: object = None

    def feed(self, payload: bytes) -> None:
        if self._done:
            self._add("an event comes after [DONE]")
        if payload.strip() == DONE:
            self._done = True
            return
        event = read_json(payload)
        if isinstance(event, dict):
            for fault in self._of_event(event):
                self._add(fault)

    def _add(self, fault: str) -> None:
        if fault not in self.faults:
            self.faults.append(fault)

    def _of_event(self, event: Mapping[str, Any]) -> Iterator[str]:
        id_ = event.get("id")
        if isinstance(id_, str) and self.id not in ("", id_):
            yield f"the id of the stream changes from {self.id} to {id_}"
        self.id = id_ if isinstance(id_, str) else self.id
        if event.get("object") not in (None, "chat.completion.chunk"):
            yield f"an event of the stream says that it is a {event['object']!r}, not a 'chat.completion.chunk'"
        model = event.get("model")
        if isinstance(model, str) and self.model not in ("", model):
            yield f"the model of the stream changes from {self.model} to {model}"
        self.model = model if isinstance(model, str) else self.model
        self.logprobs.extend(logprobs_of(event))
        self.prompt_ids = self.prompt_ids or prompt_ids(event)
        choices = _rows(event.get("choices"))
        if read_usage(event.get("usage")) is not None and not choices:
            self._usages += 1
            if self._usages > 1:
                yield "the usage comes more than once"
            if not self._ended:
                yield "the usage comes before the end of the answer"
        for choice in choices:
            yield from self._of_choice(choice)

    def _of_choice(self, choice: Mapping[str, Any]) -> Iterator[str]:
        if choice.get("index", 0) != 0:
            yield f"the index of the choice is {choice['index']!r} in the stream, there is only 0"
        delta = choice.get("delta")
        delta = delta if isinstance(delta, dict) else {}
        role = delta.get("role")
        if self._deltas == 0 and role is None:
            yield "the first delta of the stream has no role"
        if role not in (None, "assistant"):
            yield f"the role in the stream is {role!r}"
        if _thoughts_differ(delta):
            yield f"{' and '.join(REASONING_FIELDS)} have different texts in the stream"
        self._deltas += 1
        calls = _rows(delta.get("tool_calls"))
        if self._ended and (calls or any(delta.get(name) for name in TEXT_FIELDS)):
            yield "text comes after finish_reason in the stream"
        if calls:
            yield from self._of_calls(calls)
        if choice.get("finish_reason"):
            if self._ended:
                yield "finish_reason comes more than once in the stream"
            self._ended = True

    def _of_calls(self, rows: list[dict[str, Any]]) -> Iterator[str]:
        for row in rows:
            index = row.get("index")
            if type(index) is not int or index < 0:
                yield f"the index of a call in the stream is {index!r}"
                continue
            if index == self._call + 1:
                self._call, self._call_id = index, row.get("id")
                if not row.get("id"):
                    yield f"the first piece of call {index} in the stream has no id"
                if row.get("type") not in ("function", None):
                    yield f"the type of call {index} in the stream is {row['type']!r}"
            elif index == self._call and _name_of(row):
                yield f"the name of call {index} comes more than once in the stream"
            elif index == self._call and row.get("id") not in (None, "", self._call_id):
                yield f"the id of call {index} changes in the stream from {self._call_id} to {row['id']}"
            elif index > self._call:
                yield f"call {index} comes in the stream after call {self._call}: indices count one by one from 0"
                self._call = index
            elif index < self._call:
                yield f"a piece of call {index} comes in the stream after call {self._call} has begun"


def _name_of(row: Mapping[str, Any]) -> object:
    function = row.get("function")
    return function.get("name") if isinstance(function, dict) else None


def _rows(value: object) -> list[dict[str, Any]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def prompt_ids(row: object) -> tuple[int, ...]:
    """The tokens of the prompt, as vLLM gives them for `return_token_ids`; empty without any."""
    ids = row.get("prompt_token_ids") if isinstance(row, dict) else None
    return tuple(ids) if isinstance(ids, list) and all(type(number) is int for number in ids) else ()


def other_choices(document: object) -> tuple[Message, ...]:
    """The choices after the first. Their tokens are counted together, so each has those of the prompt alone."""
    rows = document.get("choices") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(rows, list):
        return ()
    usage = read_usage(document.get("usage"))
    prompt = Usage(prompt_tokens=usage.prompt_tokens) if usage else None
    answers = (read_answer({"choices": [row]}) for row in rows[1:])
    return tuple(replace(answer, usage=prompt) for answer in answers if isinstance(answer, Message))


def logprobs_of(document: object) -> tuple[TokenLogprob, ...]:
    """Of the tokens of the first choice; empty where they were not asked for or cannot be read."""
    rows = document.get("choices") if isinstance(document, dict) else None
    choice = rows[0] if isinstance(rows, list) and rows and isinstance(rows[0], dict) else {}
    logprobs = choice.get("logprobs")
    tokens = _rows(logprobs.get("content")) if isinstance(logprobs, dict) else []
    read = [_logprob(row) for row in tokens]
    return tuple(row for row in read if row is not None) if None not in read else ()


def _logprob(row: Mapping[str, Any]) -> TokenLogprob | None:
    text, value = row.get("token"), row.get("logprob")
    if not isinstance(text, str) or not isinstance(value, int | float):
        return None
    pairs = [(top.get("token"), top.get("logprob")) for top in _rows(row.get("top_logprobs"))]
    return TokenLogprob(text, float(value), {str(name): float(top) for name, top in pairs if type(top) is float})
