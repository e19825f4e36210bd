"""The model's own text, for a server that parses no calls."""

from typing import Final

import jsonschema

from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.common import greedy, no_answer
from moonpad.verify.mend import Mend
from moonpad.verify.probe import Outcome, Probe, failed, failed_if_able, passed
from moonpad.verify.tool_calls import MARKERS, Parsed, ParsedCall, parse_tool_calls
from moonpad.verify.tools import WEATHER
from moonpad.verify.wire import Message, read_json

QUESTION: Final = "What is the weather in Paris?"
WHERE: Final = "skip_special_tokens"


async def run(api: Api) -> Outcome:
    """With `tool_choice` none no server parses, and the tools are in the prompt all the same."""
    answer = await api.chat(greedy(QUESTION, tools=[WEATHER], tool_choice="none", skip_special_tokens=False))
    if not isinstance(answer, Message):
        return no_answer(api, answer)
    parsed = parse_tool_calls(answer.reasoning + answer.content)
    return nothing(answer, parsed) or wrong(parsed) or passed(said(parsed.calls))


def nothing(answer: Message, parsed: Parsed) -> Outcome | None:
    if parsed.calls:
        return None
    if "functions." in answer.content and not any(marker in answer.content for marker in MARKERS):
        message = f"the call is there without its special tokens: {answer.content[:120]!r}"
        return failed(Code.TOOL_CALL_LOST, WHERE, message, "the server drops skip_special_tokens=false: ask it itself")
    message = f"there is no call in the model's text: {answer.content[:120]!r}"
    remedy = (
        "with tool_choice none some servers leave the tools out of the prompt (--exclude-tools-when-tool-choice-none)"
    )
    return failed_if_able(Code.TOOL_CALL_LOST, "tools", message, remedy)


def wrong(parsed: Parsed) -> Outcome | None:
    first = parsed.calls[0]
    problem = parsed.problem or next((call.problem for call in parsed.calls if call.problem), "")
    if problem:
        message = f"the model's text has a call, and {problem}: {first.id!r} {first.arguments[:120]!r}"
        return failed_if_able(
            Code.TOOL_CALL_LOST, "--chat-template", message, "check the chat template and the weights"
        )
    if first.name != "get_weather" or first.number != 0:
        message = f"the model's text calls {first.id!r}, expected 'functions.get_weather:0'"
        return failed_if_able(
            Code.TOOL_CALL_LOST, "--chat-template", message, "check the chat template and the weights"
        )
    try:
        jsonschema.validate(read_json(first.arguments), WEATHER["function"]["parameters"])
    except jsonschema.ValidationError as error:
        message = f"the arguments in the model's text break the schema: {error.message[:200]}"
        return failed_if_able(
            Code.TOOL_CALL_LOST, "--chat-template", message, "check the chat template and the weights"
        )
    return None


def said(calls: tuple[ParsedCall, ...]) -> str:
    return "in the model's own text: " + "; ".join(f"{call.id} {call.arguments}" for call in calls)


PROBE = Probe(
    id="raw_calls",
    proves="the model's own text has a call in Kimi's format, whether the server parses it or not",
    matters="where no parser exists, a client can parse it itself: moonpad.verify.tool_calls (seed 4)",
    mend=Mend(
        each="the model's own chat template, which declares the tools, and its own weights",
        vllm="leave --exclude-tools-when-tool-choice-none out",
        gateway="pass skip_special_tokens on",
    ),
    run=run,
)
