"""`tool_choice` is obeyed."""

from typing import Final

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

TIME: Final = tool("get_time", "Get the current time in a city.", ("city",), city={"type": "string"})
TOOLS: Final = [WEATHER, TIME]
# A constrained answer of a small model may ramble inside a string; the limit ends that.
LIMIT: Final = 512


@probe("tool_choice_none")
async def none(api: Api) -> Outcome:
    answer = await _ask(api, WEATHER_QUESTION, "none")
    if answer.tool_calls:
        return _ignored(f"tool_choice is none, and there are {len(answer.tool_calls)} calls")
    if RAW_CALL.search(answer.content):
        return _ignored(f"tool_choice is none, and a call is in the content as text: {answer.content[:120]!r}")
    return passed(f"no call, finish_reason {answer.finish_reason}")


@probe("tool_choice_required")
async def required(api: Api) -> Outcome:
    return await _forced(api, "Good morning!", "required", "required")


@probe("tool_choice_named")
async def named(api: Api) -> Outcome:
    return await _forced(api, WEATHER_QUESTION, {"type": "function", "function": {"name": "get_time"}}, "get_time")


async def _forced(api: Api, question: str, choice: object, wanted: str) -> Outcome:
    """`wanted` is "required" or the tool's name."""
    answer = await _ask(api, question, choice)
    if not answer.tool_calls:
        got = f"content {answer.content[:80]!r}, finish_reason {answer.finish_reason!r}"
        return _ignored(f"tool_choice is {wanted}, and there is no call: {got}")
    names = sorted({call.name for call in answer.tool_calls})
    if wanted != "required" and names != [wanted]:
        return _ignored(f"tool_choice is {wanted}, and {', '.join(names)} was called")
    evidence = f"{names[0]} was called for {question!r}, finish_reason {answer.finish_reason}"
    return wrong_calls(answer, TOOLS) or wrong_end(answer, "tool_calls", "stop") or passed(evidence)


def _ignored(message: str) -> Outcome:
    return failed(Code.PARAMETER_IGNORED, "tool_choice", message, UPDATE_PARSER)


async def _ask(api: Api, question: str, choice: object) -> Message:
    return await ask_with_tools(api, greedy(question, tools=TOOLS, tool_choice=choice, max_tokens=LIMIT))
