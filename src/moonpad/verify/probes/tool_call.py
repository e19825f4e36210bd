"""One tool call: parsed, streamed, and cut by a limit."""

import re
from collections.abc import Sequence
from typing import Final

from moonpad.engines.api_facts import Topic
from moonpad.load.openai_schema import Delta, Message
from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.offered_tools import (
    ENABLE_PARSER,
    PARSER,
    TEMPLATE,
    UPDATE_PARSER,
    WEATHER,
    WEATHER_QUESTION,
    as_text,
    ask_with_tools,
    wrong_calls,
    wrong_end,
)
from moonpad.verify.probe import Outcome, failed, failed_if_able, passed, probe, skipped
from moonpad.verify.probe_helpers import ask_streamed, completion_tokens, greedy

NAME: Final = "get_weather"
QUESTION: Final = greedy(WEATHER_QUESTION, tools=[WEATHER], tool_choice="auto")
# An unparsed call, with its special tokens or, where the server strips those, without.
RAW_CALL: Final = re.compile(rf"<\|tool_calls?_|functions\.?{NAME}|{NAME}\W{{0,3}}\d*\s*\{{")

CLOSING_TOKENS: Final = 2
"""Those that close the call and its section."""


@probe(
    "tool_call",
    proves="a call comes parsed: an offered name, arguments valid by the schema, Kimi's id, finish_reason tool_calls",
    matters="agents act only on parsed calls; a call left as text ends their work without an error",
    topic=Topic.TOOL_PARSER,
)
async def tool_call(api: Api) -> Outcome:
    answer = await ask_with_tools(api, QUESTION)
    if not answer.tool_calls:
        return _no_call(answer)
    if len(answer.tool_calls) > 1:
        message = f"{len(answer.tool_calls)} calls where the question needs one"
        return failed_if_able(Code.TOOL_CALL_LOST, PARSER, message, ENABLE_PARSER)
    call = answer.tool_calls[0]
    evidence = f"{call.id} with {call.arguments}, finish_reason tool_calls"
    return wrong_calls(answer, [WEATHER]) or wrong_end(answer) or passed(evidence)


def _no_call(answer: Message) -> Outcome:
    for place, text in (("content", answer.content), (answer.reasoning_field, answer.reasoning)):
        if RAW_CALL.search(text):
            message = f"the model called {NAME}, and the call is unparsed text in `{place}`"
            return failed(Code.TOOL_CALL_LOST, PARSER, message, ENABLE_PARSER)
    if answer.finish_reason == "tool_calls":
        message = "finish_reason is tool_calls, and there is no call"
        return failed(Code.TOOL_CALL_LOST, PARSER, message, ENABLE_PARSER)
    message = f"no call of {NAME} for {WEATHER_QUESTION!r}: the model answered in words"
    remedy = "check that the chat template is the model's own and declares the tools (--chat-template)"
    return failed_if_able(Code.TOOL_CALL_LOST, TEMPLATE, message, remedy)


@probe(
    "tool_stream",
    proves="the deltas of a call add up to the call without streaming: id, one name, arguments, finish_reason",
    matters="agents stream; tests with whole answers do not see what differs there",
    topic=Topic.TOOL_PARSER,
)
async def tool_stream(api: Api) -> Outcome:
    whole = await ask_with_tools(api, QUESTION)
    stream = await ask_streamed(api, QUESTION, UPDATE_PARSER)
    streamed = stream.message
    if not whole.tool_calls and not streamed.tool_calls:
        message = "no call came, with streaming or without"
        return failed_if_able(Code.TOOL_CALL_LOST, PARSER, message, ENABLE_PARSER)
    return _repeated(stream.deltas) or wrong_calls(streamed, [WEATHER]) or await _unequal(api, whole, streamed)


def _repeated(deltas: Sequence[Delta]) -> Outcome | None:
    """Clients join the pieces: a name that comes twice becomes twice as long."""
    named: set[int] = set()
    for piece in (piece for delta in deltas for piece in delta.calls):
        if piece.name and piece.index in named:
            message = f"the name of call {piece.index} comes more than once in the stream"
            return failed(Code.STREAM_BROKEN, PARSER, message, UPDATE_PARSER)
        if not piece.name and piece.index not in named:
            message = f"the arguments of call {piece.index} come before its name"
            return failed(Code.STREAM_BROKEN, PARSER, message, UPDATE_PARSER)
        named.add(piece.index)
    return None


async def _unequal(api: Api, whole: Message, streamed: Message) -> Outcome:
    if whole.reasoning and not streamed.reasoning:
        size = len(whole.reasoning)
        message = f"the stream has no reasoning beside a call; without streaming it is {size} characters"
        return failed(Code.REASONING_LOST, "--reasoning-parser", message, UPDATE_PARSER)
    if streamed.tool_calls == whole.tool_calls and streamed.content == whole.content:
        if streamed.finish_reason != whole.finish_reason:
            message = f"finish_reason is {streamed.finish_reason!r} in the stream, {whole.finish_reason!r} without"
            return failed(Code.STREAM_BROKEN, "finish_reason", message, UPDATE_PARSER)
        return passed(f"the deltas add up to the call without streaming: {as_text(streamed.tool_calls)}")
    again = await api.chat(QUESTION)
    if isinstance(again, Message) and again.tool_calls != whole.tool_calls:
        return skipped("greedy answers to one question differ without streaming too: a stream cannot be judged")
    message = (
        f"the stream adds up to {as_text(streamed.tool_calls)}, without streaming it is {as_text(whole.tool_calls)}"
    )
    return failed(Code.STREAM_BROKEN, PARSER, message, UPDATE_PARSER)


@probe(
    "tool_cut",
    proves="a call whose last tokens max_tokens cuts is still in the answer",
    matters="if a cut call is dropped silently, the answer looks like one without a call",
    topic=Topic.TOOL_PARSER,
    issues=("dynamo#8208",),
)
async def tool_cut(api: Api) -> Outcome:
    whole = await ask_with_tools(api, QUESTION)
    tokens = completion_tokens(whole)
    if not whole.tool_calls or not tokens or tokens <= CLOSING_TOKENS:
        return skipped("no call came, so there is none to cut")
    cut = await ask_with_tools(api, {**QUESTION, "max_tokens": tokens - CLOSING_TOKENS})
    if not cut.tool_calls:
        answer = f"content {cut.content[:80]!r}, finish_reason {cut.finish_reason!r}"
        message = f"max_tokens ends {CLOSING_TOKENS} tokens before the end of a call, and the call is gone: {answer}"
        return failed(Code.TOOL_CALL_LOST, PARSER, message, f"{UPDATE_PARSER}; leave room in max_tokens")
    arguments = cut.tool_calls[0].arguments
    if not whole.tool_calls[0].arguments.startswith(arguments):
        return skipped("greedy answers to one question differ: a cut one cannot be judged")
    where = f"cut {CLOSING_TOKENS} tokens before its end"
    return passed(f"{where}, the call is there with finish_reason {cut.finish_reason}: {arguments}")
