"""Tools of each kind: several calls, names with hyphens, no arguments, nested and long ones, other alphabets."""

from collections.abc import Callable, Sequence
from typing import Final

from moonpad.engines.api_facts import Topic
from moonpad.load.openai_schema import ToolCall
from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.offered_tools import (
    PARSER,
    UPDATE_PARSER,
    WEATHER,
    WEATHER_QUESTION,
    Tool,
    argument,
    as_text,
    ask_with_tools,
    tool,
    wrong_calls,
    wrong_end,
)
from moonpad.verify.probe import Outcome, failed, failed_if_able, passed, probe
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


@probe(
    "tool_several",
    proves="two calls in one answer are two, with ids that count and their own arguments",
    matters="if calls are merged, or lost behind the first, an agent's work ends half done",
    topic=Topic.TOOL_PARSER,
)
async def several(api: Api) -> Outcome:
    question = "What is the weather in Paris, and what is the weather in Rome?"
    return await _judged(api, question, WEATHER, 2, _different)


def _different(calls: Sequence[ToolCall]) -> Outcome | None:
    if len({call.id for call in calls}) == len(calls) and len({call.arguments for call in calls}) == len(calls):
        return None
    message = f"two calls have the same id or the same arguments: {as_text(calls)}"
    return failed_if_able(Code.TOOL_CALL_LOST, PARSER, message, UPDATE_PARSER)


@probe(
    "tool_hyphen",
    proves="a tool with hyphens in its name is called by that name",
    matters="MCP servers name tools this way; parsers that expect \\w only leave the call as text",
    topic=Topic.TOOL_PARSER,
    issues=("dynamo#8532",),
)
async def hyphen(api: Api) -> Outcome:
    return await _judged(api, WEATHER_QUESTION, HYPHENS)


@probe(
    "tool_empty",
    proves="a call without arguments has {} as its arguments",
    matters="clients parse the arguments as JSON, and an empty text is not JSON",
    topic=Topic.TOOL_PARSER,
)
async def no_arguments(api: Api) -> Outcome:
    return await _judged(api, "What is the time on the server?", EMPTY)


@probe(
    "tool_schema",
    proves="nested objects, enums, lists and non-ASCII letters arrive valid by the schema",
    matters="tools validate their arguments; Moonshot's verifier counts this as schema accuracy",
    topic=Topic.TOOL_PARSER,
)
async def schema(api: Api) -> Outcome:
    question = "Book first class from Köln to Zürich for Ada and Zoë."
    return await _judged(api, question, NESTED, judge=_in_unicode)


def _in_unicode(calls: Sequence[ToolCall]) -> Outcome | None:
    route = argument(calls[0], "route")
    if isinstance(route, dict) and route.get("from") == "Köln" and route.get("to") == "Zürich":
        return None
    message = f"asked to book from Köln to Zürich, the call has {calls[0].arguments[:160]}"
    return failed_if_able(Code.TOOL_CALL_LOST, PARSER, message, "check the tokenizer's files; update the engine")


async def _judged(api: Api, question: str, offered: Tool, least: int = 1, judge: Judge = lambda calls: None) -> Outcome:
    """Asks, and judges what holds for all calls before what this question is for."""
    answer = await ask_with_tools(api, greedy(question, tools=[offered], tool_choice="auto"))
    name = offered["function"]["name"]
    for place, text in (("content", answer.content), (answer.reasoning_field, answer.reasoning)):
        if f"functions.{name}:" in text or "<|tool_call" in text:
            message = f"the call of {name} is unparsed text in `{place}`"
            return failed(Code.TOOL_CALL_LOST, PARSER, message, UPDATE_PARSER)
    if len(answer.tool_calls) < least:
        message = f"{len(answer.tool_calls)} calls for {question!r}, which needs {least}"
        return failed_if_able(Code.TOOL_CALL_LOST, PARSER, message, UPDATE_PARSER)
    fault = wrong_calls(answer, [offered]) or judge(answer.tool_calls) or wrong_end(answer)
    return fault or passed("; ".join(f"{call.id} {call.arguments}" for call in answer.tool_calls))


@probe(
    "tool_long",
    proves="arguments of 64 KB arrive complete",
    matters="agents write files with calls; parsers have cut arguments at 8 KB",
    topic=Topic.TOOL_PARSER,
    needs_able_model=True,
)
async def long(api: Api) -> Outcome:
    text = "\n".join(f"line {number:05d} abcdefghijklmnopqrstuvwxyz" for number in range(LINES))
    question = f"Write exactly this text to list.txt:\n{text}"
    body = greedy(question, tools=[WRITE], tool_choice="auto", max_tokens=40_000)
    answer = await ask_with_tools(api, body, answer_s=api.deadlines.stream_s)
    if not answer.tool_calls:
        message = f"no call: {answer.content[:120]!r}"
        return failed(Code.TOOL_CALL_LOST, PARSER, message, "read the whole answer: moonpad verify --json")
    if fault := wrong_calls(answer, [WRITE]):
        return fault
    written = argument(answer.tool_calls[0], "text")
    size = len(written) if isinstance(written, str) else 0
    if size < 0.98 * len(text):
        message = f"{len(text)} characters were to be written, the call has {size}"
        return failed(Code.TOOL_CALL_LOST, PARSER, message, "update the engine: its parser may cut long arguments")
    return passed(f"{len(answer.tool_calls[0].arguments)} characters of arguments, complete")
