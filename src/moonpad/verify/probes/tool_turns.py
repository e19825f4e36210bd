"""Calls over several turns: ids that count on, results that are used, ids of others in the history."""

from collections.abc import Mapping, Sequence
from typing import Final

from moonpad.load.wire import Message
from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.common import no_answer, special_tokens_in
from moonpad.verify.mend import TEMPLATES, Mend
from moonpad.verify.probe import Outcome, Probe, failed, failed_if_able, passed
from moonpad.verify.tools import PARSER, START, WEATHER, refused, wrong_calls

KIMI_ID: Final = "functions.get_weather:0"
FOREIGN_ID: Final = "call_9b1deb4d"


def turns(id_: str, then: str = "") -> list[Mapping[str, object]]:
    """A question, a call with this id, its result, and the next question."""
    function = {"name": "get_weather", "arguments": '{"city": "Paris"}'}
    return [
        {"role": "user", "content": "What is the weather in Paris?"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": id_, "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": id_, "content": "Sunny, 23 degrees."},
        *(
            [
                {"role": "assistant", "content": "It is sunny in Paris, 23 degrees."},
                {"role": "user", "content": then},
            ]
            if then
            else []
        ),
    ]


async def asked(api: Api, messages: Sequence[Mapping[str, object]]) -> Message | Outcome:
    body = {"messages": list(messages), "tools": [WEATHER], "tool_choice": "auto", "temperature": 0, "max_tokens": 512}
    answer = await api.chat(body)
    return answer if isinstance(answer, Message) else refused(answer) or no_answer(api, answer)


async def run_ids(api: Api) -> Outcome:
    return await next_call(api, turns(KIMI_ID, "And what is the weather in Rome?"), 1)


async def run_foreign(api: Api) -> Outcome:
    """The number of the next call is the template's choice where the one before had none."""
    answer = await asked(api, turns(FOREIGN_ID, "And what is the weather in Rome?"))
    if isinstance(answer, Outcome):
        return answer
    if not answer.tool_calls:
        return lost(answer, "behind a foreign id in the history")
    first = 1 if answer.tool_calls[0].id.endswith(":1") else 0
    return wrong_calls(answer, [WEATHER], first) or passed(f"behind {FOREIGN_ID} comes {answer.tool_calls[0].id}")


async def next_call(api: Api, messages: Sequence[Mapping[str, object]], number: int) -> Outcome:
    answer = await asked(api, messages)
    if isinstance(answer, Outcome):
        return answer
    if not answer.tool_calls:
        return lost(answer, "in the second turn")
    return wrong_calls(answer, [WEATHER], number) or passed(f"behind {KIMI_ID} comes {answer.tool_calls[0].id}")


def lost(answer: Message, where: str) -> Outcome:
    if "functions." in answer.content or "<|tool_call" in answer.content + answer.reasoning:
        message = f"the call {where} is text: {answer.content[:120]!r}"
        return failed(Code.TOOL_CALL_LOST, PARSER, message, f"{START}, and update it")
    message = f"no call {where}: {answer.content[:120]!r}"
    remedy = "rewrite foreign ids before the template, as Moonshot's K2-Vendor-Verifier does: functions.NAME:NUMBER"
    return failed_if_able(Code.TOOL_CALL_LOST, "--chat-template", message, remedy)


async def run_result(api: Api) -> Outcome:
    answer = await asked(api, turns(KIMI_ID))
    if isinstance(answer, Outcome):
        return answer
    if tokens := special_tokens_in(answer.content, answer.reasoning):
        message = f"special tokens are visible in the answer from a result: {', '.join(tokens)}"
        return failed(Code.WRONG_ANSWER, PARSER, message, f"{START}, and update it (vllm#28543)")
    if answer.finish_reason == "stop" and not answer.content.strip():
        message = "behind a tool's result the answer is empty"
        return failed_if_able(
            Code.WRONG_ANSWER, "--chat-template", message, "update chat template and engine (Kimi-K2#128)"
        )
    if "23" not in answer.content:
        message = f"the result says 23 degrees, the answer {answer.content[:120]!r}"
        remedy = "check that the chat template renders results: '## Return of ID'"
        return failed_if_able(Code.WRONG_ANSWER, "--chat-template", message, remedy)
    return passed(f"the result is in the answer: {answer.content[:80]!r}")


IDS = Probe(
    id="tool_ids",
    proves="the next call of a conversation has the next number",
    matters="Kimi counts its calls over the whole conversation; a count that starts again confuses it",
    mend=TEMPLATES,
    run=run_ids,
)
RESULT = Probe(
    id="tool_result",
    proves="a tool's result is in the answer that follows",
    matters="a result that the template loses is called for again and again",
    mend=TEMPLATES,
    run=run_result,
)
FOREIGN = Probe(
    id="tool_foreign",
    proves="a history with ids of another make still leads to a call, parsed, with Kimi's own id",
    matters="agents move conversations between models; foreign ids spoil Kimi's calls (K2-Vendor-Verifier)",
    mend=Mend(
        each="rewrite foreign ids to functions.NAME:NUMBER before the template, counted over the conversation",
        vllm="--tool-call-parser kimi_k2, and the newest release",
        sglang="--tool-call-parser kimi_k2: SGLang counts ids itself",
    ),
    run=run_foreign,
)
