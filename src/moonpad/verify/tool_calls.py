"""Reads tool calls from Kimi-K2's own text, for servers without a parser and to judge servers with one. Pure.

    parsed = parse_tool_calls(text)                 # a whole text
    stream = ToolCallStream(); stream.feed(piece); …; stream.finish()

The format (docs/tool_call_guidance.md of Kimi-K2-Instruct), all on one line:

    <|tool_calls_section_begin|><|tool_call_begin|>functions.NAME:NUMBER<|tool_call_argument_begin|>{JSON}<|tool_call_end|>
    … <|tool_calls_section_end|>

The text must hold its special tokens: ask with `skip_special_tokens: false`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from moonpad.values.records import replace

SECTION_BEGIN: Final = "<|tool_calls_section_begin|>"
SECTION_END: Final = "<|tool_calls_section_end|>"
CALL_BEGIN: Final = "<|tool_call_begin|>"
ARGUMENTS_BEGIN: Final = "<|tool_call_argument_begin|>"
CALL_END: Final = "<|tool_call_end|>"
MARKERS: Final = (SECTION_BEGIN, SECTION_END, CALL_BEGIN, ARGUMENTS_BEGIN, CALL_END)

_NUMBER: Final = re.compile(r"[0-9]{1,18}")
_MARKER: Final = re.compile("|".join(re.escape(marker) for marker in MARKERS))
_ENDS: Final = "|".join(re.escape(marker) for marker in (CALL_END, CALL_BEGIN, SECTION_END))
_IN_STRING: Final = re.compile(rf'\\.|"|{_ENDS}', re.DOTALL)
_OUT_OF_STRING: Final = re.compile(rf'"|{_ENDS}')


@dataclass(frozen=True, slots=True)
class ParsedCall:
    """One call as the model wrote it.

    id: its text, `functions.get_weather:0`. name: that of the function, "" where the id names none. number: the count
    at the id's end, over the conversation; None without one. arguments: the JSON as text. problem: what is wrong with
    the call, "" where nothing is.
    """

    id: str
    name: str
    number: int | None
    arguments: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ParsedCalls:
    """`content` is the text beside the calls, without their tokens. `problem`: of the section, else ""."""

    content: str
    calls: tuple[ParsedCall, ...]
    problem: str = ""

    @property
    def sound(self) -> bool:
        return not self.problem and not any(call.problem for call in self.calls)


@dataclass(frozen=True, slots=True)
class ContentPiece:
    """A piece of the text beside the calls."""

    text: str


@dataclass(frozen=True, slots=True)
class CallBegun:
    """The call number `index` of this answer: its id is known."""

    index: int
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class ArgumentsPiece:
    index: int
    text: str


@dataclass(frozen=True, slots=True)
class CallEnded:
    index: int
    problem: str


@dataclass(frozen=True, slots=True)
class SectionProblem:
    problem: str


Event = ContentPiece | CallBegun | ArgumentsPiece | CallEnded | SectionProblem


def parse_tool_calls(text: str) -> ParsedCalls:
    """The calls in a whole answer. Never raises, whatever the text."""
    stream = ToolCallStream()
    return join([*stream.feed(text), *stream.finish()])


def name_of(id: str) -> tuple[str, int | None]:
    """Function and number of an id; `("", None)` where it names no function, as `call_0` does."""
    name, _, number = id.removeprefix("functions.").rpartition(":")
    return (name, int(number)) if name and _NUMBER.fullmatch(number) else ("", None)


def join(events: Iterable[Event]) -> ParsedCalls:
    """What a stream's events add up to, however the text was cut."""
    content: list[str] = []
    calls: list[ParsedCall] = []
    problems: list[str] = []
    for event in events:
        match event:
            case ContentPiece(text):
                content.append(text)
            case CallBegun(_, id_, name):
                calls.append(ParsedCall(id_, name, name_of(id_)[1], ""))
            case ArgumentsPiece(index, text):
                calls[index] = replace(calls[index], arguments=calls[index].arguments + text)
            case CallEnded(index, problem):
                calls[index] = replace(calls[index], problem=problem)
            case SectionProblem(problem):
                problems.append(problem)
    return ParsedCalls("".join(content), tuple(calls), "; ".join(dict.fromkeys(problems)))


@dataclass(slots=True)
class ToolCallStream:
    """Parses a text that comes in pieces; the calls are the same however it is cut.

    Arguments end at the first `<|tool_call_end|>` before which they are one JSON value. If there is none, they end
    at the first such token: a token inside a JSON string is text, unless that string is never closed.
    """

    _pending: str = ""
    """Text that is not decided yet."""
    _state: str = "text"
    _in_section: bool = False
    _index: int = -1
    _id: str = ""
    _sent: list[str] = field(default_factory=list)
    """The arguments of this call that were yielded."""
    _at: int = 0
    """How far the pending arguments were read; whether that is inside a string; the first end token inside one."""
    _in_string: bool = False
    _possible_end: int | None = None

    def feed(self, piece: str) -> list[Event]:
        self._pending += piece
        return list(self._events(last=False))

    def finish(self) -> list[Event]:
        """The events that the end of the text decides. Nothing may be fed after it."""
        return list(self._events(last=True))

    def _events(self, *, last: bool) -> Iterator[Event]:
        steps = {"text": self._text, "id": self._read_id, "arguments": self._arguments}
        while True:
            before = self._state, self._pending
            yield from steps[self._state](last=last)
            if (self._state, self._pending) == before:
                break
        if last and self._in_section:
            self._in_section = False
            yield SectionProblem("the section does not end")

    # - beside the calls -

    def _text(self, *, last: bool) -> Iterator[Event]:
        marker = _MARKER.search(self._pending)
        until = marker.start() if marker else len(self._pending) - (0 if last else _open_marker(self._pending))
        text = self._pending[:until]
        if text and not self._in_section:
            yield ContentPiece(text)
        elif text.strip():  # between the calls some models break lines
            yield SectionProblem("there is text between the calls")
        self._pending = self._pending[until:]
        if marker is None:
            return
        self._pending = self._pending[len(marker[0]) :]
        if marker[0] == SECTION_BEGIN:
            self._in_section = True
        elif marker[0] == SECTION_END:
            if not self._in_section:
                yield SectionProblem("a section ends that has not begun")
            self._in_section = False
        elif marker[0] == CALL_BEGIN:
            if not self._in_section:
                yield SectionProblem("a call is outside a section")
            self._state = "id"
        else:
            yield SectionProblem(f"{marker[0]} is outside a call")

    # - a call -

    def _read_id(self, *, last: bool) -> Iterator[Event]:
        marker = _MARKER.search(self._pending)
        if marker is None and not last:
            return
        self._id = (self._pending[: marker.start()] if marker else self._pending).strip()
        self._pending = self._pending[marker.start() :] if marker else ""
        self._index += 1
        yield CallBegun(self._index, self._id, name_of(self._id)[0])
        self._sent, self._at, self._in_string, self._possible_end = [], 0, False, None
        if marker is not None and marker[0] == ARGUMENTS_BEGIN:
            self._pending = self._pending[len(ARGUMENTS_BEGIN) :]
            self._state = "arguments"
            return
        if marker is not None and marker[0] in (CALL_END, SECTION_BEGIN):
            self._pending = self._pending[len(marker[0]) :]
        self._state = "text"
        yield CallEnded(self._index, "it has no arguments" if marker else "the text ends inside its id")

    def _arguments(self, *, last: bool) -> Iterator[Event]:
        while match := (_IN_STRING if self._in_string else _OUT_OF_STRING).search(self._pending, self._at):
            if match[0].startswith("\\"):
                self._at = match.end()
            elif match[0] == '"':
                self._at, self._in_string = match.end(), not self._in_string
            elif self._in_string:
                self._possible_end = match.start() if self._possible_end is None else self._possible_end
                self._at = match.end()
            else:
                yield from self._end_of_call(match.start())
                return
        if last:
            yield from self._cut()
            return
        if self._in_string and self._pending.endswith("\\", self._at):
            self._at = len(self._pending) + 1  # the next character, whatever it is, does not end the string
        else:
            self._at = max(self._at, len(self._pending) - _open_marker(self._pending, self._at))
        if self._possible_end is None:
            yield from self._pass_on(min(self._at, len(self._pending)))

    def _end_of_call(self, at: int) -> Iterator[Event]:
        """At an end outside of a string: it is the end, unless the string began by mistake, before a doubtful one."""
        if self._possible_end is not None and not _is_json("".join(self._sent) + self._pending[:at]):
            at = self._possible_end
        yield from self._close(at)

    def _cut(self) -> Iterator[Event]:
        if self._possible_end is not None:
            yield from self._close(self._possible_end)
            return
        yield from self._pass_on(len(self._pending))
        self._state = "text"
        yield CallEnded(self._index, "the text ends inside its arguments")

    def _close(self, at: int) -> Iterator[Event]:
        yield from self._pass_on(at)
        ended = self._pending.startswith(CALL_END)
        self._pending = self._pending.removeprefix(CALL_END)
        self._state = "text"
        yield CallEnded(self._index, self._fault() or ("" if ended else "its end is missing"))

    def _fault(self) -> str:
        arguments = "".join(self._sent)
        if not name_of(self._id)[0]:
            return f"its id {self._id[:100]!r} names no function"
        if not _is_json(arguments):
            return "its arguments are not JSON"
        return "" if arguments.lstrip().startswith("{") else "its arguments are not a JSON object"

    def _pass_on(self, until: int) -> Iterator[Event]:
        if text := self._pending[:until]:
            self._sent.append(text)
            yield ArgumentsPiece(self._index, text)
        self._pending = self._pending[until:]
        self._at = max(0, self._at - until)
        self._possible_end = None


def _open_marker(text: str, start: int = 0) -> int:
    """How many characters at the end of `text` may be the beginning of a marker."""
    at = text.rfind("<", start)
    tail = text[at:] if at >= 0 else ""
    return len(tail) if tail and any(marker.startswith(tail) for marker in MARKERS) else 0


def _is_json(text: str) -> bool:
    try:
        json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return False
    return True


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")
