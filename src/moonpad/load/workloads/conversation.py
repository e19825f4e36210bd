"""Conversations: each request has all earlier turns, as a client of the API sends them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from moonpad.load.openai_schema import Message
from moonpad.load.record import LoadRequest
from moonpad.load.request_builder import RequestBuilder

AGENT_TOOLS: Final[tuple[dict[str, Any], ...]] = tuple(
    {
        "type": "function",
        "function": {
            "name": name,
            "description": says,
            "parameters": {"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]},
        },
    }
    for name, says, argument in (
        ("read_file", "Read a file of the project.", "path"),
        ("search", "Search the project for a text.", "text"),
        ("run", "Run a command and get what it prints.", "command"),
    )
)


@dataclass(frozen=True, slots=True)
class ConversationTurn:
    """The next text: a question, or the result of a tool. `input_tokens` are those of this text alone."""

    text: str
    input_tokens: int
    output_tokens: int


@dataclass(slots=True)
class Conversation:
    """`first_index` is the index of its first request; later ones count up from it. A failed turn ends it."""

    builder: RequestBuilder
    first_index: int
    turns: Sequence[ConversationTurn]
    tools: Sequence[dict[str, Any]] = ()
    messages: list[dict[str, Any]] = field(default_factory=list)
    _at: int = 0
    _said_tokens: int = 0

    def request(self) -> LoadRequest:
        """The next turn. Its input tokens include the history, as the server counted it."""
        turn = self.turns[self._at]
        self._say(turn.text)
        wire = self.builder.chat(self.messages, turn.output_tokens, self.tools)
        follow = self.follow if self._at + 1 < len(self.turns) else None
        tokens = self._said_tokens + turn.input_tokens
        return LoadRequest(self.first_index + self._at, wire, tokens, turn.output_tokens, follow)

    def follow(self, answer: Message) -> LoadRequest:
        """The turn after an answer."""
        self.messages.append(_history(answer))
        used = answer.usage
        if used and used.prompt_tokens is not None and used.completion_tokens is not None:
            self._said_tokens = used.prompt_tokens + used.completion_tokens
        self._at += 1
        return self.request()

    def _say(self, text: str) -> None:
        """As the result of each tool that was called, or else as the user."""
        calls = self.messages[-1].get("tool_calls") if self.messages else None
        if calls:
            self.messages += [{"role": "tool", "tool_call_id": call["id"], "content": text} for call in calls]
        else:
            self.messages.append({"role": "user", "content": text})


def _history(answer: Message) -> dict[str, Any]:
    """Arguments cut by the token limit are not JSON, and engines refuse them in a history: they are left out."""
    message: dict[str, Any] = answer.as_history()
    for call in message.get("tool_calls") or ():
        try:
            whole = isinstance(orjson.loads(call["function"]["arguments"]), dict)
        except orjson.JSONDecodeError:
            whole = False
        if not whole:
            call["function"]["arguments"] = "{}"
    return message
