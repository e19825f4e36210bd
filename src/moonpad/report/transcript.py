"""A conversation as the API takes it, and as a person reads it. Pure."""

from __future__ import annotations

from typing import Any, Final

from moonpad.load.openai_schema import Message, ToolCall
from moonpad.values.units import duration
from moonpad.verify.offered_tools import WEATHER

Entry = dict[str, Any]
"""One message of a request's `messages`."""

DEMO_TOOL: Final = WEATHER
DEMO_RESULT: Final = "sunny, 21 C"


def assistant_message(message: Message) -> Entry:
    """The answer for the next request. Its reasoning goes back under the name that the server gave it."""
    entry: Entry = {"role": "assistant", "content": message.content}
    if message.reasoning:
        entry[message.reasoning_field] = message.reasoning
    if message.tool_calls:
        entry["tool_calls"] = [call.as_json() for call in message.tool_calls]
    return entry


def tool_message(call: ToolCall, text: str) -> Entry:
    return {"role": "tool", "tool_call_id": call.id, "content": text}


def call_line(call: ToolCall) -> str:
    return f"[tool call] {call.name}({call.arguments})  id {call.id}"


def usage_line(message: Message, elapsed_s: float, max_tokens: int) -> str:
    """The answer's tokens and time, and why it was cut, if it was."""
    parts = []
    if usage := message.usage:
        reasoning = f" ({usage.reasoning_tokens} of them reasoning)" if usage.reasoning_tokens else ""
        parts.append(
            f"{_count(usage.prompt_tokens)} prompt + {_count(usage.completion_tokens)} completion tokens{reasoning}"
        )
    else:
        parts.append("tokens not reported")
    parts.append(duration(elapsed_s))
    if message.finish_reason == "length":
        parts.append(f"cut at --max-tokens {max_tokens} or at the end of the context")
    return ", ".join(parts)


def _count(tokens: int | None) -> str:
    return "not reported" if tokens is None else str(tokens)
