"""A conversation as the API wants it back, and as a person reads it. Pure."""

from __future__ import annotations

from typing import Any, Final

from moonpad.load.wire import Message, ToolCall
from moonpad.values.units import duration

Entry = dict[str, Any]
"""One message of a request's `messages`."""

DEMO_TOOL: Final[Entry] = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the current weather in a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "description": "City name"}},
            "required": ["city"],
        },
    },
}
DEMO_RESULT: Final = "sunny, 21 C"


def said_by_user(text: str) -> Entry:
    return {"role": "user", "content": text}


def said_by_system(text: str) -> Entry:
    return {"role": "system", "content": text}


def said_by_model(message: Message) -> Entry:
    """The answer for the next request. Its reasoning goes back under the name that the server gave it."""
    entry: Entry = {"role": "assistant", "content": message.content}
    if message.reasoning:
        entry[message.reasoning_field] = message.reasoning
    if message.tool_calls:
        entry["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    return entry


def tool_result(call: ToolCall, text: str) -> Entry:
    return {"role": "tool", "tool_call_id": call.id, "content": text}


def call_line(call: ToolCall) -> str:
    return f"[tool call] {call.name}({call.arguments})  id {call.id}"


def usage_line(message: Message, elapsed_s: float, max_tokens: int) -> str:
    """What the answer cost, and why it ended where that is not its own end."""
    parts = []
    if usage := message.usage:
        thought = f" ({usage.reasoning_tokens} of them reasoning)" if usage.reasoning_tokens else ""
        parts.append(
            f"{_count(usage.prompt_tokens)} prompt + {_count(usage.completion_tokens)} completion tokens{thought}"
        )
    else:
        parts.append("tokens not reported")
    parts.append(duration(elapsed_s))
    if message.finish_reason == "length":
        parts.append(f"cut at --max-tokens {max_tokens} or at the end of the context")
    return ", ".join(parts)


def _count(tokens: int | None) -> str:
    return "not reported" if tokens is None else str(tokens)
