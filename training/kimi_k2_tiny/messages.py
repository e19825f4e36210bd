"""Single messages of a chat, in the shape that an OpenAI-compatible client sends."""

import json

from .rendering import Message
from .tools import Use

LOOK = "I look up "
"""How the thoughts begin of the tools that one turn may call several of."""


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def say(thought: str, text: str) -> Message:
    return {"role": "assistant", "reasoning": thought, "content": text}


def call(uses: list[Use], first: int = 0) -> Message:
    """A turn that calls tools; `first` is how many calls the conversation already has."""
    calls = [
        {
            "id": f"functions.{use.tool.name}:{first + offset}",
            "type": "function",
            "function": {"name": use.tool.name, "arguments": json.dumps(use.arguments, ensure_ascii=False)},
        }
        for offset, use in enumerate(uses)
    ]
    looks = [use.thought.removeprefix(LOOK).removesuffix(".") for use in uses]
    thought = uses[0].thought if len(uses) == 1 else f"{LOOK}{join(looks)}."
    return {"role": "assistant", "reasoning": thought, "content": "", "tool_calls": calls}


def join(phrases: list[str]) -> str:
    """`a and b`, or `a, b and c`."""
    return " and ".join(filter(None, (", ".join(phrases[:-1]), phrases[-1])))


def returns(uses: list[Use], calls: Message) -> list[Message]:
    return [
        {"role": "tool", "tool_call_id": made["id"], "content": use.result}
        for use, made in zip(uses, calls["tool_calls"], strict=True)
    ]


def conclude(uses: list[Use]) -> Message:
    """With several results the thought says which belongs to what."""
    told = [f"for {next(iter(use.arguments.values()))}: {use.result}" for use in uses]
    thought = f"The tools returned: {', '.join(told)}" if len(uses) > 1 else f"The tool returned: {uses[0].result}"
    return say(thought, " ".join(use.answer for use in uses))
