"""Answers of a given form."""

import re
from collections.abc import Mapping
from typing import Final

import jsonschema

from moonpad.load.wire import Malformed, Message, Reply, read_json
from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.common import greedy, no_answer
from moonpad.verify.mend import STRUCTURES
from moonpad.verify.probe import Outcome, Probe, failed, failed_if_able, passed, skipped

SCHEMA: Final = {
    "type": "object",
    "properties": {"town": {"enum": ["Paris", "Rome"]}, "warm": {"type": "boolean"}},
    "required": ["town", "warm"],
    "additionalProperties": False,
}
PATTERN: Final = r"\d{4}-\d{2}-\d{2}"
LIMIT: Final = 512


async def asked(api: Api, question: str, **form: object) -> Message | Reply | Malformed:
    return await api.chat(greedy(question, max_tokens=LIMIT, **form))


def refused(api: Api, answer: Reply | Malformed, what: str) -> Outcome:
    if isinstance(answer, Reply) and answer.status in (400, 422):
        return skipped(f"{what} is refused: {answer.error_text()}")
    return no_answer(api, answer)


def unformed(answer: Message, what: str, where: str) -> Outcome:
    message = f"{what} was asked for, and came: {answer.content[:160]!r}"
    if answer.finish_reason == "length":
        return failed_if_able(Code.PARAMETER_IGNORED, where, f"{message}, cut by the limit", "raise the limit")
    remedy = "check that no gateway drops the field; vLLM: --structured-outputs-config, and --reasoning-parser kimi_k2"
    return failed(Code.PARAMETER_IGNORED, where, message, remedy)


async def run_object(api: Api) -> Outcome:
    form: Mapping[str, object] = {"type": "json_object"}
    answer = await asked(api, "Give me a JSON object with the key town.", response_format=form)
    if not isinstance(answer, Message):
        return refused(api, answer, "json_object")
    if not isinstance(read_json(answer.content), dict):
        return unformed(answer, "a JSON object", "response_format")
    return passed(answer.content[:120])


async def run_schema(api: Api) -> Outcome:
    form = {"type": "json_schema", "json_schema": {"name": "town", "strict": True, "schema": SCHEMA}}
    answer = await asked(api, "Is it warm in Rome?", response_format=form)
    if not isinstance(answer, Message):
        return refused(api, answer, "json_schema")
    document = read_json(answer.content)
    try:
        jsonschema.validate(document, SCHEMA)
    except jsonschema.ValidationError:
        return unformed(answer, "JSON by a schema", "response_format")
    return passed(answer.content[:120])


async def run_regex(api: Api) -> Outcome:
    """vLLM's `structured_outputs`, SGLang's `regex`, and vLLM's name of before 0.12: each ignores the others'."""
    found = await api.get("/models")
    if '"vllm"' not in found.text and '"sglang"' not in found.text:
        return skipped("the endpoint does not say that it is vLLM or SGLang, and the API has no such field")
    answer = await asked(
        api, "When was the first of May?", structured_outputs={"regex": PATTERN}, regex=PATTERN, guided_regex=PATTERN
    )
    if not isinstance(answer, Message):
        return refused(api, answer, "a regular expression")
    if not re.fullmatch(PATTERN, answer.content):
        return unformed(answer, f"text by {PATTERN}", "structured_outputs")
    return passed(answer.content)


OBJECT = Probe(
    id="json_object",
    proves="response_format json_object gives one JSON object",
    matters="a field that is silently ignored shows only when the first answer is no JSON",
    mend=STRUCTURES,
    run=run_object,
)
JSON_SCHEMA = Probe(
    id="json_schema",
    proves="response_format json_schema gives JSON by the schema, behind the thinking",
    matters="programs read it without a look; a grammar that begins inside the thinking spoils both",
    mend=STRUCTURES,
    run=run_schema,
)
REGEX = Probe(
    id="regex",
    proves="an answer by a regular expression matches it, where the engine has that",
    matters="the engines each have a field of their own for it, and ignore the others'",
    mend=STRUCTURES,
    run=run_regex,
)
