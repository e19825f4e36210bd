"""Tools of each kind: several at once, names with hyphens, without arguments, with nested ones, in other alphabets."""

from collections.abc import Callable, Sequence
from typing import Final

from moonpad.load.wire import Message, ToolCall, read_json
from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.common import greedy, no_answer
from moonpad.verify.mend import TOOL_PARSERS
from moonpad.verify.probe import Outcome, Probe, failed, failed_if_able, passed
from moonpad.verify.tools import PARSER, START, WEATHER, Tool, refused, tool, wrong_calls, wrong_end

HYPHENS: Final = tool("get-current-weather", "Get the current weather in a city.", ("city",), city={"type": "string"})
EMPTY: Final = tool("get_server_time", "Get the current time of the server. It takes no arguments.")
NESTED: Final = tool(
    "book_train",
    "Book a train.",
    ("route", "class", "passengers"),
    route={
        "type": "object",
        "properties": {"from": {"type": "string"}, "to": {"type": "string"}},
        "required": ["from", "to"],
    },
    **{"class": {"type": "string", "enum": ["first", "second"]}},
    passengers={"type": "array", "items": {"type": "string"}, "minItems": 2},
)

Judge = Callable[[Sequence[ToolCall]], Outcome | None]


async def judged(api: Api, question: str, tools: Sequence[Tool], least: int, judge: Judge) -> Outcome:
    """Asks, and judges what is common to all calls before what this question is for."""
    answer = await api.chat(greedy(question, tools=list(tools), tool_choice="auto"))
    if not isinstance(answer, Message):
        return refused(answer) or no_answer(api, answer)
    if fault := as_text(answer, tools):
        return fault
    if len(answer.tool_calls) < least:
        message = f"{len(answer.tool_calls)} calls for {question!r}, which needs {least}"
        return failed_if_able(Code.TOOL_CALL_LOST, PARSER, message, f"{START}, and update it (vllm#24478)")
    if fault := wrong_calls(answer, tools) or judge(answer.tool_calls) or wrong_end(answer):
        return fault
    return passed("; ".join(f"{call.id} {call.arguments}" for call in answer.tool_calls))


def as_text(answer: Message, tools: Sequence[Tool]) -> Outcome | None:
    """A call that nobody parsed."""
    for name in (one["function"]["name"] for one in tools):
        for place, text in (("content", answer.content), (answer.reasoning_field, answer.reasoning)):
            if f"functions.{name}:" in text or "<|tool_call" in text:
                message = f"the call of {name} is text in `{place}`: nobody parsed it"
                return failed(Code.TOOL_CALL_LOST, PARSER, message, f"{START}, and update it (dynamo#8532)")
    return None


async def run_several(api: Api) -> Outcome:
    question = "What is the weather in Paris, and what is the weather in Rome?"
    return await judged(api, question, [WEATHER], 2, different)


def different(calls: Sequence[ToolCall]) -> Outcome | None:
    if len({call.id for call in calls}) == len(calls) and len({call.arguments for call in calls}) == len(calls):
        return None
    message = "two calls have one id or the same arguments: " + "; ".join(f"{one.id} {one.arguments}" for one in calls)
    return failed_if_able(Code.TOOL_CALL_LOST, PARSER, message, f"{START}, and update it (vllm#24478)")


async def run_hyphens(api: Api) -> Outcome:
    return await judged(api, "What is the weather in Paris?", [HYPHENS], 1, lambda calls: None)


async def run_empty(api: Api) -> Outcome:
    return await judged(api, "What is the time on the server?", [EMPTY], 1, lambda calls: None)


async def run_nested(api: Api) -> Outcome:
    question = "Book first class from Köln to Zürich for Ada and Zoë."
    return await judged(api, question, [NESTED], 1, in_unicode)


def in_unicode(calls: Sequence[ToolCall]) -> Outcome | None:
    arguments = read_json(calls[0].arguments)
    route = arguments.get("route") if isinstance(arguments, dict) else None
    if isinstance(route, dict) and route.get("from") == "Köln" and route.get("to") == "Zürich":
        return None
    message = f"asked to book from Köln to Zürich, the call has {calls[0].arguments[:160]}"
    return failed_if_able(Code.TOOL_CALL_LOST, PARSER, message, "check the tokenizer's files; update the engine")


SEVERAL = Probe(
    id="tool_several",
    proves="two calls in one answer are two, with ids that count and arguments of their own",
    matters="calls that are merged into one, or lost behind the first, end an agent's work half done",
    mend=TOOL_PARSERS,
    known=("vllm#24478", "sglang#25362"),
    run=run_several,
)
HYPHEN = Probe(
    id="tool_hyphen",
    proves="a tool whose name has hyphens is called by it",
    matters="MCP servers name tools so, and parsers that expect \\w alone leave the call as text",
    mend=TOOL_PARSERS,
    known=("dynamo#8532",),
    run=run_hyphens,
)
NO_ARGUMENTS = Probe(
    id="tool_empty",
    proves="a call without arguments has the JSON {} for them",
    matters="clients parse the arguments; an empty text is no JSON",
    mend=TOOL_PARSERS,
    run=run_empty,
)
SCHEMA = Probe(
    id="tool_schema",
    proves="nested objects, enums, lists and letters beyond ASCII arrive by the schema",
    matters="tools validate what they get; Moonshot's verifier counts this as schema accuracy",
    mend=TOOL_PARSERS,
    known=("vllm#41739",),
    run=run_nested,
)
