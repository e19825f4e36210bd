"""The model's own text, for a server that parses no calls."""

from typing import Final

import jsonschema

from moonpad.load.wire import Message, completion_text, read_json
from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.common import greedy, no_answer, tokenize
from moonpad.verify.mend import Mend
from moonpad.verify.probe import Outcome, Probe, failed, failed_if_able, passed
from moonpad.verify.tool_calls import MARKERS, Parsed, ParsedCall, parse_tool_calls
from moonpad.verify.tools import WEATHER

QUESTION: Final = "What is the weather in Paris?"
WHERE: Final = "skip_special_tokens"


async def run(api: Api) -> Outcome:
    """With `tool_choice` none no server should parse, and the tools are in the prompt all the same. vLLM's parser drops
    the call even then (0.32): where the server has a tokenizer to ask, the rendered prompt is continued as plain text.
    """
    answer = await api.chat(greedy(QUESTION, tools=[WEATHER], tool_choice="none", skip_special_tokens=False))
    if not isinstance(answer, Message):
        return no_answer(api, answer)
    text = answer.reasoning + answer.content
    parsed = parse_tool_calls(text)
    if not parsed.calls and (continued := await continued_prompt(api)):
        text = continued
        parsed = parse_tool_calls(text)
    return nothing(text, parsed) or wrong(parsed) or passed(said(parsed.calls))


async def continued_prompt(api: Api) -> str:
    """What the model writes behind the prompt that the chat template makes; "" where that cannot be asked."""
    chat = greedy(QUESTION)
    found = await tokenize(api, messages=chat["messages"], tools=[WEATHER], add_generation_prompt=True)
    tokens = found.get("tokens") if found else None
    if not isinstance(tokens, list):
        return ""
    body = {"model": api.endpoint.model, "prompt": tokens, "temperature": 0, "max_tokens": chat["max_tokens"]}
    reply = await api.post("/completions", {**body, "skip_special_tokens": False})
    return completion_text(reply.json()) or "" if reply.status == 200 else ""


def nothing(text: str, parsed: Parsed) -> Outcome | None:
    if parsed.calls:
        return None
    if "functions." in text and not any(marker in text for marker in MARKERS):
        message = f"the call is there without its special tokens: {text[:120]!r}"
        return failed(Code.TOOL_CALL_LOST, WHERE, message, "the server drops skip_special_tokens=false: ask it itself")
    message = f"there is no call in the model's text: {text[:120]!r}"
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
