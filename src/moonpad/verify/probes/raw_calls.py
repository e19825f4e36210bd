"""The model's own text of a call, for a server that parses no calls."""

from moonpad.load.openai_schema import completion_text, read_json
from moonpad.values.records import replace
from moonpad.verify.api import Api
from moonpad.verify.json_schema import schema_fault
from moonpad.verify.offered_tools import TEMPLATE, WEATHER, WEATHER_QUESTION, call_lost, call_lost_if_able
from moonpad.verify.probe import Outcome, passed, probe
from moonpad.verify.probe_helpers import ask, greedy, tokenize
from moonpad.verify.tool_calls import MARKERS, ParsedCalls, parse_tool_calls


@probe("raw_calls")
async def raw_calls(api: Api) -> Outcome:
    """With `tool_choice` none no server should parse, and the tools are in the prompt all the same. vLLM's parser drops
    the call even then (0.32): if the server has a tokenizer to ask, the rendered prompt is continued as plain text.
    """
    body = greedy(WEATHER_QUESTION, tools=[WEATHER], tool_choice="none", skip_special_tokens=False)
    answer = await ask(api, body)
    text = answer.reasoning + answer.content
    parsed = parse_tool_calls(text)
    if not parsed.calls and (continued := await _continued_prompt(api)):
        text = continued
        parsed = parse_tool_calls(text)
    if not parsed.calls:
        return _no_call(text)
    if fault := _wrong_text(parsed):
        return call_lost_if_able(fault, "check the chat template and the weights", TEMPLATE)
    calls = "; ".join(f"{call.id} {call.arguments}" for call in parsed.calls)
    return replace(passed(f"in the model's own text: {calls}"), unparsed="<think>" in answer.content)


async def _continued_prompt(api: Api) -> str:
    """What the model writes after the prompt that the chat template makes; "" where that cannot be asked."""
    chat = greedy(WEATHER_QUESTION)
    document = await tokenize(api, messages=chat["messages"], tools=[WEATHER], add_generation_prompt=True)
    tokens = document.get("tokens")
    if not isinstance(tokens, list):
        return ""
    body = {"prompt": tokens, "temperature": 0, "max_tokens": chat["max_tokens"], "skip_special_tokens": False}
    reply = await api.post("/completions", body)
    return completion_text(reply.json()) or "" if reply.status == 200 else ""


def _no_call(text: str) -> Outcome:
    if "functions." in text and not any(marker in text for marker in MARKERS):
        remedy = "ask the engine directly: skip_special_tokens=false is dropped on the way"
        return call_lost(f"the call has lost its special tokens: {text[:120]!r}", remedy, "skip_special_tokens")
    remedy = "check that the prompt has the tools: with tool_choice none some servers leave them out"
    return call_lost_if_able(f"there is no call in the model's text: {text[:120]!r}", remedy, "tools")


def _wrong_text(parsed: ParsedCalls) -> str:
    first = parsed.calls[0]
    if problem := parsed.problem or next((call.problem for call in parsed.calls if call.problem), ""):
        return f"the model's text has a call, but {problem}: {first.id!r} {first.arguments[:120]!r}"
    if first.name != "get_weather" or first.number != 0:
        return f"the model's text calls {first.id!r}, expected 'functions.get_weather:0'"
    fault = schema_fault(read_json(first.arguments), WEATHER["function"]["parameters"])
    return f"the arguments in the model's text break the schema: {fault}" if fault else ""
