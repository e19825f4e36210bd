"""What an engine's server streams of a text with tool calls, from the events of `tool_calls.py`. Pure.

Found by asking the engines' own parsers token by token (tests/engines/recorded/tool_parsers.json). What a client can
rely on is in both: a call's name comes once, before or with the first piece of its arguments; pieces join to the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from moonpad.load.openai_schema import CallDelta
from moonpad.verify.tool_calls import ArgumentsPiece, CallBegun, CallEnded, Event


def sglang_deltas(events: Iterable[Event]) -> Iterator[CallDelta]:
    """Of one piece of text, by SGLang 0.5.23's parser: the name as soon as it is known, with what came along of the
    arguments. The id is the server's own count over the conversation; here it is the model's.
    """
    begun: CallBegun | None = None
    for event in events:
        match event:
            case CallBegun():
                if begun is not None:
                    yield CallDelta(begun.index, begun.id, begun.name, "")
                begun = event
            case ArgumentsPiece(index, text) if begun is not None:
                yield CallDelta(index, begun.id, begun.name, text)
                begun = None
            case ArgumentsPiece(index, text):
                yield CallDelta(index, "", "", text)
            case _:
                pass
    if begun is not None:
        yield CallDelta(begun.index, begun.id, begun.name, "")


@dataclass(slots=True)
class VllmDeltas:
    """By vLLM 0.32's parser: the name comes with the first piece of the arguments, and a piece's last character
    waits for what follows where it is the brace that may end them, or a `[`."""

    _begun: CallBegun | None = None
    _held: str = ""
    _depth: int = 0
    _in_string: bool = False
    _escaped: bool = False

    def of(self, events: Iterable[Event]) -> Iterator[CallDelta]:
        for event in events:
            match event:
                case CallBegun():
                    self._begun, self._held, self._depth, self._in_string, self._escaped = event, "", 0, False, False
                case ArgumentsPiece(index, text):
                    text = self._held + text
                    self._walk(text[len(self._held) :])
                    may_end = text.endswith("}") and self._depth == 0 and not self._in_string
                    self._held = text[-1] if may_end or text.endswith("[") else ""
                    yield from self._delta(index, text.removesuffix(self._held) if self._held else text)
                case CallEnded(index):
                    held, self._held = self._held, ""
                    yield from self._delta(index, held)
                case _:
                    pass

    def _delta(self, index: int, text: str) -> Iterator[CallDelta]:
        if text:
            begun, self._begun = self._begun, None
            yield CallDelta(index, begun.id if begun else "", begun.name if begun else "", text)

    def _walk(self, text: str) -> None:
        """How deep the brackets are, and whether a string is open, behind this text."""
        for char in text:
            if self._escaped:
                self._escaped = False
            elif self._in_string:
                self._escaped, self._in_string = char == "\\", char != '"'
            else:
                self._in_string = char == '"'
                self._depth += (char in "{[") - (char in "}]")
