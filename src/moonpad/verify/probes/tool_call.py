"""One tool call, parsed."""

import re
from typing import Final

from moonpad.load.wire import Message, ToolCall
from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.common import greedy, no_answer
from moonpad.verify.mend import TOOL_PARSERS
from moonpad.verify.probe import Outcome, Probe, failed, failed_if_able, passed
from moonpad.verify.tools import PARSER, START, WEATHER, refused, wrong_calls, wrong_end

QUESTION: Final = "What is the weather in Paris?"
NAME: Final = "get_weather"
# A call that nobody parsed, with its special tokens or, where the server strips those, without.
RAW_CALL: Final = re.compile(rf"<\|tool_calls?_|functions\.?{NAME}|{NAME}\W{{0,3}}\d*\s*\{{")


async def run(api: Api) -> Outcome:
    answer = await api.chat(greedy(QUESTION, tools=[WEATHER], tool_choice="auto"))
    if not isinstance(answer, Message):
        return refused(answer) or no_answer(api, answer)
    if not answer.tool_calls:
        return no_call(answer)
    if len(answer.tool_calls) > 1:
        message = f"{len(answer.tool_calls)} calls where the question needs one"
        return failed_if_able(Code.TOOL_CALL_LOST, PARSER, message, START)
    return wrong_calls(answer, [WEATHER]) or wrong_end(answer) or passed(evidence(answer.tool_calls[0]))


def no_call(answer: Message) -> Outcome:
    for place, text in (("content", answer.content), (answer.reasoning_field, answer.reasoning)):
        if RAW_CALL.search(text):
            message = f"the model called {NAME}, and the call is text in `{place}`: nobody parsed it"
            return failed(Code.TOOL_CALL_LOST, PARSER, message, START)
    if answer.finish_reason == "tool_calls":
        return failed(Code.TOOL_CALL_LOST, PARSER, "finish_reason is tool_calls, and there is no call", START)
    message = f"no call of {NAME} for {QUESTION!r}: the model answered in words"
    remedy = "check that the chat template is the model's own and declares the tools (--chat-template)"
    return failed_if_able(Code.TOOL_CALL_LOST, "--chat-template", message, remedy)


def evidence(call: ToolCall) -> str:
    return f"{call.id} with {call.arguments}, finish_reason tool_calls"


PROBE = Probe(
    id="tool_call",
    proves="a call comes parsed: name offered, arguments valid by the schema, Kimi's id, finish_reason tool_calls",
    matters="agents act on parsed calls alone; a call left as text ends their work without an error",
    mend=TOOL_PARSERS,
    known=("vllm#27565", "sglang#21377", "sglang#25362", "vllm#38579", "vllm#32216", "vllm#36891"),
    run=run,
)
