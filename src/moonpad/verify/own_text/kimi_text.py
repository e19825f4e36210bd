"""Reads a whole answer in Kimi's own text: thinking, content, calls and end. Pure.

<think>thinking</think>content<|tool_calls_section_begin|>…<|tool_calls_section_end|>
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from moonpad.load.openai_schema import Message, ToolCall
from moonpad.values.records import replace
from moonpad.verify.tool_calls import (
    ARGUMENTS_BEGIN,
    CALL_BEGIN,
    CALL_END,
    SECTION_BEGIN,
    SECTION_END,
    ParsedCall,
    parse_tool_calls,
)

THINK: Final = "<think>"
THINK_END: Final = "</think>"
END_TOKENS: Final = ("<|im_end|>", "[EOS]")


@dataclass(frozen=True, slots=True)
class OwnAnswer:
    """What a chat endpoint must make of a text.

    cut: the limit ended it. problem: why its calls cannot be read for certain, "" if they can: then a parser may read
    something else and be right too.
    """

    reasoning: str
    content: str
    calls: tuple[ParsedCall, ...]
    finish_reason: str
    cut: bool = False
    problem: str = ""

    @property
    def whole_calls(self) -> tuple[ToolCall, ...]:
        """Without one that the limit cut."""
        sound = (call for call in self.calls if not call.problem)
        return tuple(ToolCall(call.id, call.name, call.arguments) for call in sound)


def read_kimi_text(text: str, finish_reason: str, *, thinking: bool = False) -> OwnAnswer:
    """`text` has its special tokens; `thinking`: the prompt has opened the thinking already. Never raises."""
    text = without_end(text)
    reasoning, rest = _split(text, thinking)
    parsed = parse_tool_calls(rest)
    cut = finish_reason == "length"
    problem = parsed.problem or next((call.problem for call in parsed.calls if call.problem), "")
    end = "length" if cut else "tool_calls" if parsed.calls else "stop"
    return OwnAnswer(reasoning, parsed.content, parsed.calls, end, cut, problem)


def renumbered(answer: OwnAnswer, messages: Any) -> OwnAnswer:
    """Its calls with the ids of an engine that counts the calls of the conversation itself."""
    before = sum(len(turn.get("tool_calls") or ()) for turn in messages if turn.get("role") == "assistant")
    calls = (
        replace(call, id=f"functions.{call.name}:{number}") if not call.problem else call
        for number, call in enumerate(answer.calls, before)
    )
    return replace(answer, calls=tuple(calls))


def without_end(text: str) -> str:
    """Without the token that ended it, which some servers show."""
    return next((text.removesuffix(end) for end in END_TOKENS if text.endswith(end)), text)


def _split(text: str, thinking: bool) -> tuple[str, str]:
    """The thinking, and what follows. A section of calls ends the thinking too, as the engines' parsers have it."""
    opened = text.startswith(THINK)
    body = text.removeprefix(THINK)
    if not (opened or thinking or THINK_END in body):
        return "", text
    end, section = body.find(THINK_END), body.find(SECTION_BEGIN)
    if section >= 0 and (end < 0 or section < end):
        return body[:section], body[section:]
    return (body, "") if end < 0 else (body[:end], body[end + len(THINK_END) :])


def as_kimi_text(answer: Message, *, opened: bool) -> str:
    """An answer as the model would have written it; `opened`: the model writes <think> itself."""
    text = f"{THINK if opened else ''}{answer.reasoning}{THINK_END}" if answer.reasoning or opened else ""
    text += answer.content
    if answer.tool_calls:
        calls = (f"{CALL_BEGIN}{call.id}{ARGUMENTS_BEGIN}{call.arguments}{CALL_END}" for call in answer.tool_calls)
        text += f"{SECTION_BEGIN}{''.join(calls)}{SECTION_END}"
    return text
