"""Tools to offer, and what every call of them must be, whatever was asked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import jsonschema

from moonpad.load.wire import Malformed, Message, Reply, ToolCall, read_json
from moonpad.values.finding import Code
from moonpad.verify.common import THINK_TAG, special_tokens_in
from moonpad.verify.probe import Outcome, failed, failed_if_able

Tool = Mapping[str, Any]
PARSER: Final = "--tool-call-parser"
START: Final = (
    "start vLLM with --enable-auto-tool-choice --tool-call-parser kimi_k2, SGLang with --tool-call-parser kimi_k2"
)
ID: Final = re.compile(r"functions\.(?P<name>.+):(?P<number>\d+)", re.DOTALL)


def tool(name: str, description: str, required: Sequence[str] = (), **properties: Mapping[str, Any]) -> Tool:
    """A function with these properties as its parameters."""
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


WEATHER: Final = tool(
    "get_weather",
    "Get the current weather in a city.",
    ("city",),
    city={"type": "string", "description": "City name"},
)


def names_of(tools: Sequence[Tool]) -> dict[str, Tool]:
    return {one["function"]["name"]: one for one in tools}


def refused(answer: Malformed | Reply) -> Outcome | None:
    """vLLM answers 400 to tools with `auto` where it was started without a parser."""
    if not isinstance(answer, Reply) or answer.status != 400 or "tool" not in answer.error_text():
        return None
    message = f"a request with a tool was refused (HTTP 400: {answer.error_text()})"
    return failed(Code.TOOL_CALL_LOST, PARSER, message, START)


def wrong_calls(answer: Message, tools: Sequence[Tool], first: int = 0) -> Outcome | None:
    """What is wrong with the calls of an answer, wherever the fault may lie: a name that was never offered, arguments
    that are no JSON or break the schema, an id that Kimi does not write or that does not count from `first`.
    """
    offered = names_of(tools)
    for number, call in enumerate(answer.tool_calls, first):
        if fault := _wrong_name(call, offered) or _wrong_arguments(call, offered) or _wrong_id(call, number):
            return fault
    if THINK_TAG.search(answer.content):
        message = f"thinking is in the content beside the calls: {_short(answer.content)}"
        remedy = "use the parser of this family: --reasoning-parser kimi_k2"
        return failed(Code.REASONING_LOST, "--reasoning-parser", message, remedy)
    if tokens := special_tokens_in(answer.content, answer.reasoning):
        message = f"special tokens are visible beside the calls: {', '.join(tokens)}"
        return failed(Code.WRONG_ANSWER, PARSER, message, f"{START}, and update it (vllm#28543)")
    return None


def wrong_end(answer: Message, *allowed: str) -> Outcome | None:
    """What is wrong with the finish_reason of an answer with calls: by default only `tool_calls` is right."""
    allowed = allowed or ("tool_calls",)
    if answer.finish_reason in allowed:
        return None
    expected = " or ".join(repr(one) for one in allowed)
    message = f"finish_reason is {answer.finish_reason!r} behind a call, expected {expected}: agents stop here"
    return failed(Code.TOOL_CALL_LOST, "finish_reason", message, f"{START}, and update it (sglang#25362, vllm#43155)")


def _wrong_name(call: ToolCall, offered: Mapping[str, Tool]) -> Outcome | None:
    if call.name in offered:
        return None
    message = f"{call.name!r} was called, which was never offered (offered: {', '.join(offered)})"
    return failed_if_able(Code.TOOL_CALL_LOST, PARSER, message, f"{START}, and update it (vllm#36891)")


def _wrong_arguments(call: ToolCall, offered: Mapping[str, Tool]) -> Outcome | None:
    arguments = read_json(call.arguments)
    if arguments is None:
        message = f"the arguments of {call.name} are no JSON: {_short(call.arguments)}"
        remedy = "update the engine: parsers cut long arguments (vllm#34442) and those of drafted tokens (vllm#38579)"
        return failed_if_able(Code.TOOL_CALL_LOST, PARSER, message, remedy)
    try:
        jsonschema.validate(arguments, offered[call.name]["function"]["parameters"])
    except jsonschema.ValidationError as error:
        message = f"the arguments of {call.name} break its schema: {error.message[:200]}"
        remedy = f"{START}; check the chat template, which tells the model of the schema (vllm#41739)"
        return failed_if_able(Code.TOOL_CALL_LOST, PARSER, message, remedy)
    return None


def _wrong_id(call: ToolCall, number: int) -> Outcome | None:
    remedy = f"{START}: Kimi reads its own ids in the history, and foreign ones spoil later calls"
    found = ID.fullmatch(call.id)
    if found is None:
        message = f"the id of a call is {call.id!r}, not 'functions.{call.name}:{number}'"
        return failed(Code.TOOL_CALL_LOST, PARSER, message, remedy)
    if found["name"] != call.name:
        message = f"the id {call.id!r} names another function than the call, {call.name!r}"
        return failed(Code.TOOL_CALL_LOST, PARSER, message, remedy)
    if int(found["number"]) != number:
        message = f"the id {call.id!r} should count {number}: ids count over the conversation"
        return failed_if_able(Code.TOOL_CALL_LOST, PARSER, message, remedy)
    return None


def _short(text: str) -> str:
    return repr(text if len(text) <= 160 else f"{text[:80]} … {text[-60:]}")
