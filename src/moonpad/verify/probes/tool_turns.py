"""Calls over several turns: ids that count on, results that are used, foreign ids in the history."""

from collections.abc import Mapping
from typing import Final

from moonpad.load.openai_schema import Message
from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.offered_tools import (
    FIRST_CALL,
    PARSER,
    TEMPLATE,
    UPDATE_PARSER,
    WEATHER,
    ask_with_tools,
    call_lost,
    call_lost_if_able,
    call_turns,
    wrong_calls,
)
from moonpad.verify.probe import Outcome, ProbeEnded, failed, failed_if_able, passed, probe
from moonpad.verify.probe_helpers import special_tokens_in

FOREIGN_ID: Final = "call_9b1deb4d"
ANSWERED: Final = (
    {"role": "assistant", "content": "It is sunny in Paris, 23 degrees."},
    {"role": "user", "content": "And what is the weather in Rome?"},
)


@probe("tool_ids")
async def ids(api: Api) -> Outcome:
    answer = await _next_call(api, FIRST_CALL, "in the second turn")
    return wrong_calls(answer, [WEATHER], 1) or passed(f"after {FIRST_CALL} comes {answer.tool_calls[0].id}")


@probe("tool_foreign")
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
        raise ProbeEnded(call_lost(f"the call {where} is unparsed text: {answer.content[:120]!r}"))
    remedy = "rewrite foreign ids before the template, as Moonshot's K2-Vendor-Verifier does: functions.NAME:NUMBER"
    raise ProbeEnded(call_lost_if_able(f"no call {where}: {answer.content[:120]!r}", remedy, TEMPLATE))


async def _ask_after_call(api: Api, call_id: str, *then: Mapping[str, object]) -> Message:
    """The answer after a question, a call with this id, its result, and what follows."""
    messages = [*call_turns({"content": ""}, call_id), *then]
    body = {"messages": messages, "tools": [WEATHER], "tool_choice": "auto", "temperature": 0, "max_tokens": 512}
    return await ask_with_tools(api, body)


@probe("tool_result")
async def result(api: Api) -> Outcome:
    answer = await _ask_after_call(api, FIRST_CALL)
    if tokens := special_tokens_in(answer.content, answer.reasoning):
        message = f"special tokens are visible in the answer after a tool's result: {', '.join(tokens)}"
        return failed(Code.WRONG_ANSWER, PARSER, message, UPDATE_PARSER)
    if answer.finish_reason == "stop" and not answer.content.strip():
        message, remedy = "the answer after a tool's result is empty", "update chat template and engine"
        return failed_if_able(Code.WRONG_ANSWER, TEMPLATE, message, remedy)
    if "23" not in answer.content:
        message = f"the result has 23 degrees, the answer is {answer.content[:120]!r}"
        remedy = "check that the chat template renders results: '## Return of ID'"
        return failed_if_able(Code.WRONG_ANSWER, TEMPLATE, message, remedy)
    return passed(f"the result is in the answer: {answer.content[:80]!r}")
