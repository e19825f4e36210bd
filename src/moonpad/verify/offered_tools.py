"""The tools that probes offer, and what must hold for every call of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from moonpad.load.openai_schema import Message, Reply, ToolCall, read_json
from moonpad.values.finding import Code
from moonpad.verify.api import Api, Body
from moonpad.verify.json_schema import schema_fault
from moonpad.verify.probe import Outcome, ProbeEnded, failed, failed_if_able
from moonpad.verify.probe_helpers import THINK_TAG, no_answer, special_tokens_in

Tool = Mapping[str, Any]
PARSER: Final = "--tool-call-parser"
TEMPLATE: Final = "--chat-template"
ENABLE_PARSER: Final = "start the engine with its tool-call parser for Kimi (kimi_k2)"
UPDATE_PARSER: Final = f"{ENABLE_PARSER}, in its newest release"
KIMI_ID: Final = re.compile(r"functions\.(?P<name>.+):(?P<number>\d{1,9})", re.DOTALL)


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
WEATHER_QUESTION: Final = "What is the weather in Paris?"
FIRST_CALL: Final = "functions.get_weather:0"


def call_turns(
    assistant: Mapping[str, object], call_id: str = FIRST_CALL, city: str = "Paris", degrees: int = 23
) -> tuple[Mapping[str, Any], ...]:
    """A question, its call and the result; `assistant` are more fields of the turn with the call."""
    function = {"name": "get_weather", "arguments": f'{{"city": "{city}"}}'}
    call = {"id": call_id, "type": "function", "function": function}
    return (
        {"role": "user", "content": f"What is the weather in {city}?"},
        {"role": "assistant", **assistant, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call_id, "content": f"Sunny, {degrees} degrees."},
    )


def call_lost(message: str, remedy: str = UPDATE_PARSER, where: str = PARSER) -> Outcome:
    """A failure of the server that parses the calls."""
    return failed(Code.TOOL_CALL_LOST, where, message, remedy)


def call_lost_if_able(message: str, remedy: str = UPDATE_PARSER, where: str = PARSER) -> Outcome:
    """The same, where a small model may be the cause."""
    return failed_if_able(Code.TOOL_CALL_LOST, where, message, remedy)


async def ask_with_tools(api: Api, body: Body, *, answer_s: float | None = None) -> Message:
    """The answer to a chat that offers tools.

    Raises:
        ProbeEnded: an HTTP error, or an answer of another shape.
    """
    answer = await api.chat(body, answer_s=answer_s)
    if isinstance(answer, Message):
        return answer
    # vLLM answers 400 to tools with `auto` if it was started without a parser.
    if isinstance(answer, Reply) and answer.status == 400 and "tool" in answer.error_text():
        raise ProbeEnded(
            call_lost(f"a request with a tool was refused (HTTP 400: {answer.error_text()})", ENABLE_PARSER)
        )
    raise ProbeEnded(no_answer(api, answer))


def wrong_calls(answer: Message, tools: Sequence[Tool], first: int = 0) -> Outcome | None:
    """What is wrong with the calls of an answer, whether by the model or the server: a name that was not offered,
    arguments that are not JSON or break the schema, an id that is not Kimi's or does not count from `first`.
    """
    parameters = {offered["function"]["name"]: offered["function"]["parameters"] for offered in tools}
    for number, call in enumerate(answer.tool_calls, first):
        if fault := _wrong_function(call, parameters) or _wrong_id(call, number):
            return fault
    if THINK_TAG.search(answer.content):
        message = f"thinking is in the content beside the calls: {_short(answer.content)}"
        remedy = "start the engine with its reasoning parser for Kimi (kimi_k2)"
        return failed(Code.REASONING_LOST, "--reasoning-parser", message, remedy)
    if tokens := special_tokens_in(answer.content, answer.reasoning):
        message = f"special tokens are visible beside the calls: {', '.join(tokens)}"
        return failed(Code.WRONG_ANSWER, PARSER, message, UPDATE_PARSER)
    return None


def wrong_end(answer: Message, *allowed: str) -> Outcome | None:
    """What is wrong with the finish_reason of an answer with calls: by default only `tool_calls` is right."""
    allowed = allowed or ("tool_calls",)
    if answer.finish_reason in allowed:
        return None
    expected = " or ".join(map(repr, allowed))
    message = f"finish_reason is {answer.finish_reason!r} after a call, expected {expected}: agents stop here"
    return failed(Code.TOOL_CALL_LOST, "finish_reason", message, UPDATE_PARSER)


def as_text(calls: Sequence[ToolCall]) -> str:
    """The calls as evidence."""
    return "; ".join(f"{call.id} {call.name} {call.arguments[:100]}" for call in calls) or "no call"


def argument(call: ToolCall, name: str) -> object:
    """One argument of a call; None where it has none of that name."""
    arguments = read_json(call.arguments)
    return arguments.get(name) if isinstance(arguments, dict) else None


def _wrong_function(call: ToolCall, parameters: Mapping[str, Any]) -> Outcome | None:
    if call.name not in parameters:
        return call_lost_if_able(
            f"{call.name!r} was called, which was never offered (offered: {', '.join(parameters)})"
        )
    arguments = read_json(call.arguments)
    if arguments is None:
        message = f"the arguments of {call.name} are not JSON: {_short(call.arguments)}"
        remedy = "update the engine: its parser may cut long arguments, or those of speculative tokens"
        return call_lost_if_able(message, remedy)
    if fault := schema_fault(arguments, parameters[call.name]):
        remedy = f"{ENABLE_PARSER}; check that the chat template passes the schema to the model"
        return call_lost_if_able(f"the arguments of {call.name} break its schema: {fault}", remedy)
    return None


def _wrong_id(call: ToolCall, number: int) -> Outcome | None:
    remedy = f"{ENABLE_PARSER}: Kimi reads its own ids in the history, and others spoil later calls"
    match = KIMI_ID.fullmatch(call.id)
    if match is None:
        return call_lost(f"the id of a call is {call.id!r}, not 'functions.{call.name}:{number}'", remedy)
    if match["name"] != call.name:
        return call_lost(f"the id {call.id!r} names another function than the call, {call.name!r}", remedy)
    if int(match["number"]) != number:
        return call_lost_if_able(f"the id {call.id!r} should count {number}: ids count over the conversation", remedy)
    return None


def _short(text: str) -> str:
    return repr(text if len(text) <= 160 else f"{text[:80]} … {text[-60:]}")
