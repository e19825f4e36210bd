"""One tool call, parsed."""

import re
from typing import Final

import jsonschema

from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.common import greedy, no_answer, special_tokens_in
from moonpad.verify.probe import Outcome, Probe, failed, failed_if_able, passed
from moonpad.verify.wire import Malformed, Message, Reply, ToolCall, read_json

QUESTION: Final = "What is the weather in Paris?"
NAME: Final = "get_weather"
PARAMETERS: Final = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "City name"}},
    "required": ["city"],
}
TOOL: Final = {
    "type": "function",
    "function": {"name": NAME, "description": "Get the current weather in a city.", "parameters": PARAMETERS},
}
# A call that nobody parsed, with its special tokens or, where the server strips those, without.
RAW_CALL: Final = re.compile(rf"<\|tool_calls?_|functions\.?{NAME}|{NAME}\W{{0,3}}\d*\s*\{{")
PARSER: Final = "--tool-call-parser"
START: Final = "start vLLM with --enable-auto-tool-choice --tool-call-parser kimi_k2"


async def run(api: Api) -> Outcome:
    answer = await api.chat(greedy(QUESTION, tools=[TOOL], tool_choice="auto"))
    if not isinstance(answer, Message):
        return refused(answer) or no_answer(api, answer)
    if not answer.tool_calls:
        return no_call(answer)
    if len(answer.tool_calls) > 1:
        message = f"{len(answer.tool_calls)} calls where the question needs one"
        return failed_if_able(Code.TOOL_CALL_LOST, PARSER, message, START)
    call = answer.tool_calls[0]
    return wrong_name(call) or wrong_arguments(call) or wrong_id(call) or wrong_rest(answer) or passed(evidence(call))


def refused(answer: Malformed | Reply) -> Outcome | None:
    """vLLM answers 400 to tools with `auto` where it was started without a parser."""
    if not isinstance(answer, Reply) or answer.status != 400 or "tool" not in answer.error_text():
        return None
    message = f"a request with a tool was refused (HTTP 400: {answer.error_text()})"
    return failed(Code.TOOL_CALL_LOST, PARSER, message, START)


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


def wrong_name(call: ToolCall) -> Outcome | None:
    if call.name == NAME:
        return None
    message = f"{call.name!r} was called; the only tool offered is {NAME}"
    return failed_if_able(Code.TOOL_CALL_LOST, PARSER, message, START)


def wrong_arguments(call: ToolCall) -> Outcome | None:
    arguments = read_json(call.arguments)
    if arguments is None:
        message = f"the arguments are no JSON: {call.arguments[:200]!r}"
        return failed_if_able(
            Code.TOOL_CALL_LOST, PARSER, message, "update vLLM: old parsers cut arguments (vllm#38579)"
        )
    try:
        jsonschema.validate(arguments, PARAMETERS)
    except jsonschema.ValidationError as error:
        message = f"the arguments break the tool's schema: {error.message[:200]}"
        return failed_if_able(Code.TOOL_CALL_LOST, PARSER, message, START)
    return None


def wrong_id(call: ToolCall) -> Outcome | None:
    if call.id == f"functions.{NAME}:0":
        return None
    message = f"the id of the first call is {call.id!r}, not 'functions.{NAME}:0'"
    if re.fullmatch(rf"functions\.{NAME}:\d+", call.id):
        return failed_if_able(Code.TOOL_CALL_LOST, PARSER, f"{message}: it counts from elsewhere", START)
    remedy = f"{START}: Kimi reads its own ids in the history, and foreign ones spoil later calls"
    return failed(Code.TOOL_CALL_LOST, PARSER, message, remedy)


def wrong_rest(answer: Message) -> Outcome | None:
    if answer.finish_reason != "tool_calls":
        message = f"finish_reason is {answer.finish_reason!r}, expected 'tool_calls': agents stop here"
        return failed(
            Code.TOOL_CALL_LOST, "finish_reason", message, f"{START}, and update it (sglang#25362, vllm#43155)"
        )
    if tokens := special_tokens_in(answer.content, answer.reasoning):
        message = f"special tokens are visible beside the call: {', '.join(tokens)}"
        return failed(Code.WRONG_ANSWER, PARSER, message, f"{START}, and update it (vllm#28543)")
    return None


def evidence(call: ToolCall) -> str:
    return f"{call.id} with {call.arguments}, finish_reason tool_calls"


PROBE = Probe(
    id="tool_call",
    proves="a call comes parsed: name offered, arguments valid by the schema, Kimi's id, finish_reason tool_calls",
    matters="agents act on parsed calls alone; a call left as text ends their work without an error",
    run=run,
)
