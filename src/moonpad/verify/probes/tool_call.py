"""One tool call: parsed, streamed, cut by a limit, and as `tool_choice` wants it."""

import re
from collections.abc import Sequence
from typing import Final

from moonpad.load.openai_schema import Delta, Message, join
from moonpad.values.finding import Code
from moonpad.values.records import replace
from moonpad.verify.api import Api, Body
from moonpad.verify.offered_tools import (
    ENABLE_PARSER,
    PARSER,
    TEMPLATE,
    UPDATE_PARSER,
    WEATHER,
    WEATHER_QUESTION,
    as_text,
    ask_with_tools,
    call_lost,
    call_lost_if_able,
    tool,
    wrong_calls,
    wrong_end,
)
from moonpad.verify.probe import Outcome, failed, passed, probe, skipped
from moonpad.verify.probe_helpers import completion_tokens, events_of, greedy
from moonpad.verify.probes.streaming import stream

NAME: Final = "get_weather"
QUESTION: Final = greedy(WEATHER_QUESTION, tools=[WEATHER], tool_choice="auto")
# An unparsed call, with its special tokens or, where the server strips those, without.
RAW_CALL: Final = re.compile(rf"<\|tool_calls?_|functions\.?{NAME}|{NAME}\W{{0,3}}\d*\s*\{{")

CLOSING_TOKENS: Final = 2
"""Those that close the call and its section."""

TIME: Final = tool("get_time", "Get the current time in a city.", ("city",), city={"type": "string"})
TOOLS: Final = [WEATHER, TIME]
# A constrained answer of a small model may ramble inside a string; the limit ends that.
LIMIT: Final = 512


@probe("tool_call")
async def tool_call(api: Api) -> Outcome:
    answer = await ask_with_tools(api, QUESTION)
    if not answer.tool_calls:
        return _no_call(answer)
    if len(answer.tool_calls) > 1:
        return call_lost_if_able(f"{len(answer.tool_calls)} calls where the question needs one", ENABLE_PARSER)
    call = answer.tool_calls[0]
    evidence = f"{call.id} with {call.arguments}, finish_reason tool_calls"
    return wrong_calls(answer, [WEATHER]) or wrong_end(answer) or passed(evidence)


def _no_call(answer: Message) -> Outcome:
    for place, text in (("content", answer.content), (answer.reasoning_field, answer.reasoning)):
        if RAW_CALL.search(text):
            return call_lost(f"the model called {NAME}, and the call is unparsed text in `{place}`", ENABLE_PARSER)
    if answer.finish_reason == "tool_calls":
        return call_lost("finish_reason is tool_calls, and there is no call", ENABLE_PARSER)
    message = f"no call of {NAME} for {WEATHER_QUESTION!r}: the model answered in words"
    remedy = "check that the chat template is the model's own and declares the tools (--chat-template)"
    return call_lost_if_able(message, remedy, TEMPLATE)


@probe("tool_stream")
async def tool_stream(api: Api) -> Outcome:
    whole = await ask_with_tools(api, QUESTION)
    deltas = [event async for event in events_of(api, QUESTION, UPDATE_PARSER) if isinstance(event, Delta)]
    streamed = join(deltas)
    if not whole.tool_calls and not streamed.tool_calls:
        return call_lost_if_able("no call came, with streaming or without", ENABLE_PARSER)
    return _repeated(deltas) or wrong_calls(streamed, [WEATHER]) or await _unequal(api, whole, streamed)


def _repeated(deltas: Sequence[Delta]) -> Outcome | None:
    """Clients join the pieces: a name that comes twice becomes twice as long."""
    named: set[int] = set()
    for piece in (piece for delta in deltas for piece in delta.calls):
        if piece.name and piece.index in named:
            return _broken(f"the name of call {piece.index} comes more than once in the stream")
        if not piece.name and piece.index not in named:
            return _broken(f"the arguments of call {piece.index} come before its name")
        named.add(piece.index)
    return None


async def _unequal(api: Api, whole: Message, streamed: Message) -> Outcome:
    if whole.reasoning and not streamed.reasoning:
        message = (
            f"the stream has no reasoning beside a call; without streaming it is {len(whole.reasoning)} characters"
        )
        return failed(Code.REASONING_LOST, "--reasoning-parser", message, UPDATE_PARSER)
    if streamed.tool_calls == whole.tool_calls and streamed.content == whole.content:
        if streamed.finish_reason != whole.finish_reason:
            message = f"finish_reason is {streamed.finish_reason!r} in the stream, {whole.finish_reason!r} without"
            return _broken(message, "finish_reason")
        return passed(f"the deltas add up to the call without streaming: {as_text(streamed.tool_calls)}")
    again = await api.chat(QUESTION)
    if isinstance(again, Message) and again.tool_calls != whole.tool_calls:
        return skipped("greedy answers to one question differ without streaming too: a stream cannot be judged")
    calls, expected = as_text(streamed.tool_calls), as_text(whole.tool_calls)
    return _broken(f"the stream adds up to {calls}, without streaming it is {expected}")


def _broken(message: str, where: str = PARSER) -> Outcome:
    return failed(Code.STREAM_BROKEN, where, message, UPDATE_PARSER)


@probe("tool_cut")
async def tool_cut(api: Api) -> Outcome:
    whole = await ask_with_tools(api, QUESTION)
    tokens = completion_tokens(whole)
    if not whole.tool_calls or not tokens or tokens <= CLOSING_TOKENS:
        return skipped("no call came, so there is none to cut")
    cut = await ask_with_tools(api, {**QUESTION, "max_tokens": tokens - CLOSING_TOKENS})
    if not cut.tool_calls:
        answer = f"content {cut.content[:80]!r}, finish_reason {cut.finish_reason!r}"
        message = f"max_tokens ends {CLOSING_TOKENS} tokens before the end of a call, and the call is gone: {answer}"
        return call_lost(message, f"{UPDATE_PARSER}; leave room in max_tokens")
    arguments = cut.tool_calls[0].arguments
    if not whole.tool_calls[0].arguments.startswith(arguments):
        return skipped("greedy answers to one question differ: a cut one cannot be judged")
    end = f"finish_reason {cut.finish_reason}: {arguments}"
    return passed(f"cut {CLOSING_TOKENS} tokens before its end, the call is there with {end}")


@probe("tool_choice_none")
async def none(api: Api) -> Outcome:
    answer = await _ask_choosing(api, WEATHER_QUESTION, "none")
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
    answer = await _ask_choosing(api, question, choice)
    if not answer.tool_calls:
        got = f"content {answer.content[:80]!r}, finish_reason {answer.finish_reason!r}"
        return _ignored(f"tool_choice is {wanted}, and there is no call: {got}")
    names = sorted({call.name for call in answer.tool_calls})
    if wanted != "required" and names != [wanted]:
        return _ignored(f"tool_choice is {wanted}, and {', '.join(names)} was called")
    if fault := wrong_calls(answer, TOOLS) or wrong_end(answer, "tool_calls", "stop"):
        # The form is the server's: a small model can only ramble until the limit.
        return fault if answer.finish_reason == "length" else replace(fault, model_may_be_why=False)
    streamed = await stream(api, _choosing(question, choice))
    if (streamed.tool_calls, streamed.finish_reason) != (answer.tool_calls, answer.finish_reason):
        if (await _ask_choosing(api, question, choice)).tool_calls != answer.tool_calls:
            return skipped("greedy answers to one question differ without streaming too: a stream cannot be judged")
        got = f"{as_text(streamed.tool_calls)}, finish_reason {streamed.finish_reason!r}"
        expected = f"{as_text(answer.tool_calls)}, finish_reason {answer.finish_reason!r}"
        return _broken(f"tool_choice is {wanted}: the stream adds up to {got}, without streaming it is {expected}")
    return passed(f"{names[0]} was called for {question!r}, whole and streamed, finish_reason {answer.finish_reason}")


def _ignored(message: str) -> Outcome:
    return failed(Code.PARAMETER_IGNORED, "tool_choice", message, UPDATE_PARSER)


async def _ask_choosing(api: Api, question: str, choice: object) -> Message:
    return await ask_with_tools(api, _choosing(question, choice))


def _choosing(question: str, choice: object) -> Body:
    return greedy(question, tools=TOOLS, tool_choice=choice, max_tokens=LIMIT)
