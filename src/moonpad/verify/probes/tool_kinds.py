"""Tools of each kind: several calls, names with hyphens, no arguments, nested and long ones, other alphabets."""

from collections.abc import Callable, Sequence
from typing import Final

from moonpad.load.openai_schema import ToolCall
from moonpad.verify.api import Api
from moonpad.verify.offered_tools import (
    WEATHER,
    WEATHER_QUESTION,
    Tool,
    argument,
    as_text,
    ask_with_tools,
    call_lost,
    call_lost_if_able,
    tool,
    wrong_calls,
    wrong_end,
)
from moonpad.verify.probe import Outcome, passed, probe
from moonpad.verify.probe_helpers import greedy

TEXT: Final = {"type": "string"}
HYPHENS: Final = tool("get-current-weather", "Get the current weather in a city.", ("city",), city=TEXT)
EMPTY: Final = tool("get_server_time", "Get the current time of the server. It takes no arguments.")
NESTED: Final = tool(
    "book_train",
    "Book a train.",
    ("route", "class", "passengers"),
    route={"type": "object", "properties": {"from": TEXT, "to": TEXT}, "required": ["from", "to"]},
    **{"class": {"type": "string", "enum": ["first", "second"]}},
    passengers={"type": "array", "items": TEXT, "minItems": 2},
)
WRITE: Final = tool("write_file", "Write a text to a file.", ("path", "text"), path=TEXT, text=TEXT)
LINES: Final = 1600
"""Of 40 characters each: 64 KB."""

Judge = Callable[[Sequence[ToolCall]], Outcome | None]


@probe("tool_several")
async def several(api: Api) -> Outcome:
    question = "What is the weather in Paris and the weather in Rome?"
    return await _judged(api, question, WEATHER, 2, _different)


def _different(calls: Sequence[ToolCall]) -> Outcome | None:
    if len({call.id for call in calls}) == len(calls) and len({call.arguments for call in calls}) == len(calls):
        return None
    return call_lost_if_able(f"two calls have the same id or the same arguments: {as_text(calls)}")


@probe("tool_hyphen")
async def hyphen(api: Api) -> Outcome:
    return await _judged(api, WEATHER_QUESTION, HYPHENS)


@probe("tool_empty")
async def no_arguments(api: Api) -> Outcome:
    return await _judged(api, "What is the time on the server?", EMPTY)


@probe("tool_schema")
async def schema(api: Api) -> Outcome:
    question = "Book first class from Köln to Zürich for Ada and Zoë."
    return await _judged(api, question, NESTED, judge=_in_unicode)


def _in_unicode(calls: Sequence[ToolCall]) -> Outcome | None:
    route = argument(calls[0], "route")
    if isinstance(route, dict) and route.get("from") == "Köln" and route.get("to") == "Zürich":
        return None
    message = f"asked to book from Köln to Zürich, the call has {calls[0].arguments[:160]}"
    return call_lost_if_able(message, "check the tokenizer's files; update the engine")


async def _judged(api: Api, question: str, offered: Tool, least: int = 1, judge: Judge = lambda calls: None) -> Outcome:
    """Asks, and judges what holds for all calls before what this question is for."""
    answer = await ask_with_tools(api, greedy(question, tools=[offered], tool_choice="auto"))
    name = offered["function"]["name"]
    for place, text in (("content", answer.content), (answer.reasoning_field, answer.reasoning)):
        if f"functions.{name}:" in text or "<|tool_call" in text:
            return call_lost(f"the call of {name} is unparsed text in `{place}`")
    if len(answer.tool_calls) < least:
        return call_lost_if_able(f"{len(answer.tool_calls)} calls for {question!r}, which needs {least}")
    fault = wrong_calls(answer, [offered]) or judge(answer.tool_calls) or wrong_end(answer)
    return fault or passed("; ".join(f"{call.id} {call.arguments}" for call in answer.tool_calls))


@probe("tool_long")
async def long(api: Api) -> Outcome:
    text = "\n".join(f"line {number:05d} abcdefghijklmnopqrstuvwxyz" for number in range(LINES))
    question = f"Write exactly this text to list.txt:\n{text}"
    body = greedy(question, tools=[WRITE], tool_choice="auto", max_tokens=40_000)
    answer = await ask_with_tools(api, body, answer_s=api.deadlines.stream_s)
    if not answer.tool_calls:
        return call_lost(f"no call: {answer.content[:120]!r}", "read the whole answer: moonpad verify --json")
    if fault := wrong_calls(answer, [WRITE]):
        return fault
    written = argument(answer.tool_calls[0], "text")
    size = len(written) if isinstance(written, str) else 0
    if size < 0.98 * len(text):
        message = f"{len(text)} characters were to be written, the call has {size}"
        return call_lost(message, "update the engine: its parser may cut long arguments")
    return passed(f"{len(answer.tool_calls[0].arguments)} characters of arguments, complete")
