"""Answers in a requested form."""

import re
from typing import Any, Final

from moonpad.engines.api_facts import ApiFacts
from moonpad.load.openai_schema import Message, Reply, read_json
from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.json_schema import schema_fault
from moonpad.verify.judged_model import served_by
from moonpad.verify.probe import Outcome, ProbeEnded, failed, failed_if_able, passed, probe, skipped
from moonpad.verify.probe_helpers import greedy, no_answer
from moonpad.verify.probes.streaming import stream

SCHEMA: Final = {
    "type": "object",
    "properties": {"capital": {"enum": ["Madrid", "Rome"]}, "known": {"type": "boolean"}},
    "required": ["capital", "known"],
    "additionalProperties": False,
}
PATTERN: Final = r"\d{4}-\d{2}-\d{2}"
ADA: Final = "Give JSON for Ada, age 47."
CAPITAL: Final = "What is the capital of Spain?"
"""Answered in words where no form is asked for."""
LIMIT: Final = 512


@probe("json_object")
async def json_object(api: Api) -> Outcome:
    form = {"response_format": {"type": "json_object"}}
    begun = await _ask(api, CAPITAL, form, "json_object")
    if not begun.content.lstrip().startswith("{"):
        return wrong_form(begun, "a JSON object", "response_format")
    answer = await _ask(api, ADA, form, "json_object")
    for reply in (answer, await _streamed(api, ADA, form)):
        if not isinstance(read_json(reply.content), dict):
            return wrong_form(reply, "a JSON object", "response_format")
    return passed(answer.content[:120])


@probe("json_schema")
async def json_schema(api: Api) -> Outcome:
    schema = {"name": "capital", "strict": True, "schema": SCHEMA}
    form = {"response_format": {"type": "json_schema", "json_schema": schema}}
    answer = await _ask(api, CAPITAL, form, "json_schema")
    for reply in (answer, await _streamed(api, CAPITAL, form)):
        if schema_fault(read_json(reply.content), SCHEMA):
            return wrong_form(reply, "JSON by a schema", "response_format")
    return passed(answer.content[:120])


@probe("regex")
async def regex(api: Api) -> Outcome:
    engine = await served_by(api)
    if engine is None or not engine.regex_fields:
        return skipped("the model list names no engine with a field for regular expressions, and the API has none")
    form = regex_form(engine, PATTERN)
    question = "When was the first of May?"
    answer = await _ask(api, question, form, "a regular expression")
    for reply in (answer, await _streamed(api, question, form)):
        if not re.fullmatch(PATTERN, reply.content):
            return wrong_form(reply, f"text matching {PATTERN}", engine.regex_fields[0].partition(".")[0])
    return passed(answer.content)


def regex_form(engine: ApiFacts, pattern: str) -> dict[str, Any]:
    """The fields of a request whose answer must match."""
    form: dict[str, Any] = {}
    for path in engine.regex_fields:
        outer, _, inner = path.partition(".")
        form[outer] = {inner: pattern} if inner else pattern
    return form


async def _streamed(api: Api, question: str, form: dict[str, Any]) -> Message:
    return await stream(api, greedy(question, max_tokens=LIMIT, **form))


async def _ask(api: Api, question: str, form: dict[str, Any], what: str) -> Message:
    """
    Raises:
        ProbeEnded: the form is refused, or no answer came.
    """
    answer = await api.chat(greedy(question, max_tokens=LIMIT, **form))
    if isinstance(answer, Message):
        return answer
    if isinstance(answer, Reply) and answer.status in (400, 422):
        raise ProbeEnded(skipped(f"{what} is refused: {answer.error_text()}"))
    raise ProbeEnded(no_answer(api, answer))


def wrong_form(answer: Message, what: str, where: str) -> Outcome:
    message = f"the request asked for {what}, the answer is {answer.content[:160]!r}"
    if answer.finish_reason == "length":
        return failed_if_able(Code.PARAMETER_IGNORED, where, f"{message}, cut at {LIMIT} tokens", "use an able model")
    if not answer.content and answer.reasoning:  # the form begins after the thinking
        return failed_if_able(
            Code.PARAMETER_IGNORED, where, f"{message}: it ended in its thinking", "use an able model"
        )
    remedy = "check that no gateway drops the field, and that the reasoning parser for Kimi (kimi_k2) is on"
    return failed(Code.PARAMETER_IGNORED, where, message, remedy)
