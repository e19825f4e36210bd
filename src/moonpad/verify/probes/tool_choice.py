"""What `tool_choice` asks for."""

from typing import Final

from moonpad.load.wire import Message
from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.common import greedy, no_answer
from moonpad.verify.mend import TOOL_PARSERS, Mend
from moonpad.verify.probe import Outcome, Probe, failed, passed
from moonpad.verify.probes.tool_call import RAW_CALL
from moonpad.verify.tools import START, WEATHER, refused, tool, wrong_calls, wrong_end

CHOICE: Final = "tool_choice"
TIME: Final = tool("get_time", "Get the current time in a city.", ("city",), city={"type": "string"})
TOOLS: Final = [WEATHER, TIME]
WEATHER_QUESTION: Final = "What is the weather in Paris?"
UPDATE: Final = f"{START}, and update it: vllm#43155, vllm#46344"
# A constrained answer of a small model may ramble inside a string; the limit says so.
LIMIT: Final = 512


async def run_none(api: Api) -> Outcome:
    answer = await asked(api, WEATHER_QUESTION, "none")
    if isinstance(answer, Outcome):
        return answer
    if answer.tool_calls:
        message = f"{len(answer.tool_calls)} calls came where tool_choice is none"
        return failed(Code.PARAMETER_IGNORED, CHOICE, message, UPDATE)
    if RAW_CALL.search(answer.content):
        message = f"tool_choice is none, and a call is in the content as text: {answer.content[:120]!r}"
        remedy = f"{UPDATE}; vLLM's --exclude-tools-when-tool-choice-none leaves the tools out of the prompt"
        return failed(Code.PARAMETER_IGNORED, CHOICE, message, remedy)
    return passed(f"no call, finish_reason {answer.finish_reason}")


async def run_required(api: Api) -> Outcome:
    answer = await asked(api, "Good morning!", "required")
    if isinstance(answer, Outcome):
        return answer
    if not answer.tool_calls:
        return no_call(answer, "required")
    if fault := wrong_calls(answer, TOOLS) or wrong_end(answer, "tool_calls", "stop"):
        return fault
    return passed(f"{answer.tool_calls[0].name} was called for a greeting, finish_reason {answer.finish_reason}")


async def run_named(api: Api) -> Outcome:
    answer = await asked(api, WEATHER_QUESTION, {"type": "function", "function": {"name": "get_time"}})
    if isinstance(answer, Outcome):
        return answer
    if not answer.tool_calls:
        return no_call(answer, "get_time")
    names = {call.name for call in answer.tool_calls}
    if names != {"get_time"}:
        message = f"get_time was named, and {', '.join(sorted(names))} called"
        return failed(Code.PARAMETER_IGNORED, CHOICE, message, UPDATE)
    if fault := wrong_calls(answer, TOOLS) or wrong_end(answer, "tool_calls", "stop"):
        return fault
    return passed(f"get_time was called for a question of the weather, finish_reason {answer.finish_reason}")


async def asked(api: Api, question: str, choice: object) -> Message | Outcome:
    answer = await api.chat(greedy(question, tools=TOOLS, tool_choice=choice, max_tokens=LIMIT))
    return answer if isinstance(answer, Message) else refused(answer) or no_answer(api, answer)


def no_call(answer: Message, choice: str) -> Outcome:
    said = f"content {answer.content[:80]!r}, finish_reason {answer.finish_reason!r}"
    return failed(Code.PARAMETER_IGNORED, CHOICE, f"tool_choice is {choice}, and there is no call: {said}", UPDATE)


NONE = Probe(
    id="tool_choice_none",
    proves="with tool_choice none there is no call, and none as text either",
    matters="agents forbid tools to get an answer in words",
    mend=Mend(
        vllm="--exclude-tools-when-tool-choice-none leaves the tools out of the prompt",
        sglang="the newest release",
        trtllm="leave tools out of such a request",
        gateway="pass tool_choice on",
    ),
    known=("vllm#43155",),
    run=run_none,
)
REQUIRED = Probe(
    id="tool_choice_required",
    proves="with tool_choice required there is a call, of a tool that was offered, with arguments by its schema",
    matters="agents that need a call do not look at words",
    mend=TOOL_PARSERS,
    known=("vllm#43155", "vllm#46344"),
    run=run_required,
)
NAMED = Probe(
    id="tool_choice_named",
    proves="a tool that is named is called, and no other",
    matters="structured answers are asked for in this way",
    mend=TOOL_PARSERS,
    known=("vllm#43155", "vllm#46344"),
    run=run_named,
)
