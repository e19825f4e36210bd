"""`tool_choice` is obeyed."""

from typing import Final

from moonpad.engines.api_facts import Topic
from moonpad.load.openai_schema import Message
from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.offered_tools import (
    UPDATE_PARSER,
    WEATHER,
    WEATHER_QUESTION,
    ask_with_tools,
    tool,
    wrong_calls,
    wrong_end,
)
from moonpad.verify.probe import Outcome, failed, passed, probe
from moonpad.verify.probe_helpers import greedy
from moonpad.verify.probes.tool_call import RAW_CALL

CHOICE: Final = "tool_choice"
TIME: Final = tool("get_time", "Get the current time in a city.", ("city",), city={"type": "string"})
TOOLS: Final = [WEATHER, TIME]
# A constrained answer of a small model may ramble inside a string; the limit ends that.
LIMIT: Final = 512


@probe(
    "tool_choice_none",
    proves="tool_choice none gives no call, and no call as text either",
    matters="agents forbid tools to get an answer in words",
    gateway="pass tool_choice on",
)
async def none(api: Api) -> Outcome:
    answer = await _ask(api, WEATHER_QUESTION, "none")
    if answer.tool_calls:
        message = f"tool_choice is none, and there are {len(answer.tool_calls)} calls"
        return failed(Code.PARAMETER_IGNORED, CHOICE, message, UPDATE_PARSER)
    if RAW_CALL.search(answer.content):
        message = f"tool_choice is none, and a call is in the content as text: {answer.content[:120]!r}"
        return failed(Code.PARAMETER_IGNORED, CHOICE, message, UPDATE_PARSER)
    return passed(f"no call, finish_reason {answer.finish_reason}")


@probe(
    "tool_choice_required",
    proves="tool_choice required gives a call of an offered tool, with arguments valid by its schema",
    matters="agents that need a call do not read words",
    topic=Topic.TOOL_PARSER,
)
async def required(api: Api) -> Outcome:
    return await _forced(api, "Good morning!", "required", "required")


@probe(
    "tool_choice_named",
    proves="a tool named in tool_choice is called, and no other",
    matters="clients get structured answers this way",
    topic=Topic.TOOL_PARSER,
)
async def named(api: Api) -> Outcome:
    return await _forced(api, WEATHER_QUESTION, {"type": "function", "function": {"name": "get_time"}}, "get_time")


async def _forced(api: Api, question: str, choice: object, wanted: str) -> Outcome:
    """`wanted` is "required" or the tool's name."""
    answer = await _ask(api, question, choice)
    if not answer.tool_calls:
        got = f"content {answer.content[:80]!r}, finish_reason {answer.finish_reason!r}"
        message = f"tool_choice is {wanted}, and there is no call: {got}"
        return failed(Code.PARAMETER_IGNORED, CHOICE, message, UPDATE_PARSER)
    names = sorted({call.name for call in answer.tool_calls})
    if wanted != "required" and names != [wanted]:
        message = f"tool_choice is {wanted}, and {', '.join(names)} was called"
        return failed(Code.PARAMETER_IGNORED, CHOICE, message, UPDATE_PARSER)
    evidence = f"{names[0]} was called for {question!r}, finish_reason {answer.finish_reason}"
    return wrong_calls(answer, TOOLS) or wrong_end(answer, "tool_calls", "stop") or passed(evidence)


async def _ask(api: Api, question: str, choice: object) -> Message:
    return await ask_with_tools(api, greedy(question, tools=TOOLS, tool_choice=choice, max_tokens=LIMIT))
