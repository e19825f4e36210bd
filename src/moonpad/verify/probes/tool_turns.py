"""Calls over several turns: ids that count on, results that are used, foreign ids in the history."""

from collections.abc import Mapping
from typing import Any, Final

from moonpad.engines.api_facts import Topic
from moonpad.load.openai_schema import Message
from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.offered_tools import (
    PARSER,
    TEMPLATE,
    UPDATE_PARSER,
    WEATHER,
    WEATHER_QUESTION,
    ask_with_tools,
    wrong_calls,
)
from moonpad.verify.probe import Outcome, ProbeEnded, failed, failed_if_able, passed, probe
from moonpad.verify.probe_helpers import special_tokens_in

KIMI_ID: Final = "functions.get_weather:0"
FOREIGN_ID: Final = "call_9b1deb4d"
ANSWERED: Final = (
    {"role": "assistant", "content": "It is sunny in Paris, 23 degrees."},
    {"role": "user", "content": "And what is the weather in Rome?"},
)


async def _ask_after_call(api: Api, call_id: str, *then: Mapping[str, object]) -> Message:
    """The answer after a question, a call with this id, its result, and what follows."""
    function = {"name": "get_weather", "arguments": '{"city": "Paris"}'}
    messages: list[Mapping[str, Any]] = [
        {"role": "user", "content": WEATHER_QUESTION},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": call_id, "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": call_id, "content": "Sunny, 23 degrees."},
        *then,
    ]
    body = {"messages": messages, "tools": [WEATHER], "tool_choice": "auto", "temperature": 0, "max_tokens": 512}
    return await ask_with_tools(api, body)


@probe(
    "tool_ids",
    proves="the next call of a conversation has the next number",
    matters="Kimi counts its calls over the whole conversation; a count that starts again confuses it",
    topic=Topic.CHAT_TEMPLATE,
)
async def ids(api: Api) -> Outcome:
    answer = await _next_call(api, KIMI_ID, "in the second turn")
    return wrong_calls(answer, [WEATHER], 1) or passed(f"after {KIMI_ID} comes {answer.tool_calls[0].id}")


@probe(
    "tool_foreign",
    proves="after foreign ids in the history, the next call is still parsed and has Kimi's own id",
    matters="agents move conversations between models, and foreign ids spoil Kimi's calls (K2-Vendor-Verifier)",
    remedy="rewrite foreign ids to functions.NAME:NUMBER, counted over the conversation, before the template",
)
async def foreign(api: Api) -> Outcome:
    """If the call before had no number, the template chooses that of the next."""
    answer = await _next_call(api, FOREIGN_ID, "after a foreign id in the history")
    first = 1 if answer.tool_calls[0].id.endswith(":1") else 0
    return wrong_calls(answer, [WEATHER], first) or passed(f"after {FOREIGN_ID} comes {answer.tool_calls[0].id}")


async def _next_call(api: Api, call_id: str, where: str) -> Message:
    """
    Raises:
        ProbeEnded: the answer has no call.
    """
    answer = await _ask_after_call(api, call_id, *ANSWERED)
    if answer.tool_calls:
        return answer
    if "functions." in answer.content or "<|tool_call" in answer.content + answer.reasoning:
        message = f"the call {where} is unparsed text: {answer.content[:120]!r}"
        raise ProbeEnded(failed(Code.TOOL_CALL_LOST, PARSER, message, UPDATE_PARSER))
    message = f"no call {where}: {answer.content[:120]!r}"
    remedy = "rewrite foreign ids before the template, as Moonshot's K2-Vendor-Verifier does: functions.NAME:NUMBER"
    raise ProbeEnded(failed_if_able(Code.TOOL_CALL_LOST, TEMPLATE, message, remedy))


@probe(
    "tool_result",
    proves="the answer after a tool's result uses that result",
    matters="if the template loses a result, the model calls the tool again and again",
    topic=Topic.CHAT_TEMPLATE,
    issues=("Kimi-K2#128",),
)
async def result(api: Api) -> Outcome:
    answer = await _ask_after_call(api, KIMI_ID)
    if tokens := special_tokens_in(answer.content, answer.reasoning):
        message = f"special tokens are visible in the answer after a tool's result: {', '.join(tokens)}"
        return failed(Code.WRONG_ANSWER, PARSER, message, UPDATE_PARSER)
    if answer.finish_reason == "stop" and not answer.content.strip():
        message = "the answer after a tool's result is empty"
        return failed_if_able(Code.WRONG_ANSWER, TEMPLATE, message, "update chat template and engine")
    if "23" not in answer.content:
        message = f"the result has 23 degrees, the answer is {answer.content[:120]!r}"
        remedy = "check that the chat template renders results: '## Return of ID'"
        return failed_if_able(Code.WRONG_ANSWER, TEMPLATE, message, remedy)
    return passed(f"the result is in the answer: {answer.content[:80]!r}")
