"""Answers that can only be one text, whatever the model is able to do: what differs is the server's.

A regular expression that one text matches forces a content, or several calls at once; an echo returns the prompt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from moonpad.engines.api_facts import ApiFacts
from moonpad.load.openai_schema import Malformed, Message, completion_text, read_json
from moonpad.values.finding import Code
from moonpad.values.records import replace
from moonpad.verify.api import Api, Asked
from moonpad.verify.judged_model import served_by
from moonpad.verify.offered_tools import UPDATE_PARSER, WEATHER, WEATHER_QUESTION, call_lost
from moonpad.verify.own_text.difference import Difference, common_prefix, differences
from moonpad.verify.own_text.kimi_text import read_kimi_text
from moonpad.verify.own_text.questions import LONG, MESSAGE, ODD
from moonpad.verify.probe import Outcome, failed, failed_if_able, passed, probe, skipped
from moonpad.verify.probe_helpers import CALCULATION, greedy, no_answer
from moonpad.verify.probes.own_text import ask_both
from moonpad.verify.probes.structured import regex_form
from moonpad.verify.tool_calls import ARGUMENTS_BEGIN, CALL_BEGIN, CALL_END, SECTION_BEGIN, SECTION_END

SPECIAL: Final = re.compile(r"[\\.^$|?*+()\[\]{}]")
MARKS: Final = (SECTION_BEGIN, CALL_BEGIN, ARGUMENTS_BEGIN, CALL_END, SECTION_END)
LIMIT: Final = 1536
"""A grammar may take the smallest tokens."""
DIRECTLY: Final = "ask the engine directly: a gateway or a proxy changes the text on the way"
NO_FIELD: Final = "the model list names no engine with a field for regular expressions, so no answer can be forced"

WORDS: Final = (
    "  Gr\u00fc\u00dfe \u4f60\u597d \U0001f642 \"sun\" 'lamp' **bold** `code` 1.0, 007  \n\n\t- a/b\\c \\u00e9 %20 \n"
)
TEXTS: Final = (f"{WORDS}{ODD}", LONG[:300])
ODD_ARGUMENTS: Final = (
    '{"to": "Zo\u00eb", "from": null,  "at": 1.0, "big": 12345678901234567890, "e": 1e3, "n": 10,'
    ' "text": "a \\"b\\" \\\\n \\n \\u00fc \\/ <i>&amp;</i> \u4f60\u597d cafe\u0301 \U0001f642 ",'
    ' "a": [1, {"b": false}], "": {}}'
)


def _call(name: str, number: int, arguments: str) -> str:
    return f"{CALL_BEGIN}functions.{name}:{number}{ARGUMENTS_BEGIN}{arguments}{CALL_END}"


def _section(*calls: tuple[str, str]) -> str:
    rows = (_call(name, number, arguments) for number, (name, arguments) in enumerate(calls))
    return f"{SECTION_BEGIN}{''.join(rows)}{SECTION_END}"


CALLS: Final = (
    _section(("get_weather", '{"city": "Paris"}'), ("send_message", ODD_ARGUMENTS), ("get_weather", "{}")),
    _section(("send_message", json.dumps({"text": LONG[:520]})), ("get_weather", '{"city":"Rome"}')),
    _section(*(("get_weather", f'{{"city": "{city}"}}') for city in ("Oslo", "Lima", "Oslo", "Rome", "Paris"))),
)
"""Other arguments than a model would write, several calls of one name, five of them, two that are the same."""


def pattern_of(text: str) -> str:
    """A regular expression that this text alone matches, as every engine's grammar reads it."""
    return SPECIAL.sub(r"\\\g<0>", text).replace("\n", r"\n").replace("\t", r"\t").replace("\r", r"\r")


@probe("forced_text")
async def forced_text(api: Api) -> Outcome:
    engine = await served_by(api)
    if engine is None or not engine.regex_fields:
        return skipped(NO_FIELD)
    bodies = [greedy(CALCULATION, max_tokens=LIMIT, **regex_form(engine, pattern_of(text))) for text in TEXTS]
    if refusal := await _refused(api, bodies[0]):
        return refusal
    for text, answers in zip(TEXTS, await ask_both(api, bodies), strict=True):
        if fault := _differs(answers, text, exact=engine.keeps_white_space):
            return fault
    size = sum(map(len, TEXTS))
    return passed(f"{len(TEXTS)} texts of {size} characters, whole and streamed, to the character")


@probe("forced_calls")
async def forced_calls(api: Api) -> Outcome:
    engine = await served_by(api)
    if engine is None or not engine.regex_fields:
        return skipped(NO_FIELD)
    bodies = [_with_calls(engine, text) for text in CALLS]
    if refusal := await _refused(api, bodies[0]):
        return refusal
    answers = await ask_both(api, bodies)
    judged = 0
    for text, both in zip(CALLS, answers, strict=True):
        if any(spells_marks(api.asked or (), answer, text) for answer in both):
            continue
        if fault := _differs(both, text, exact=False):
            return fault
        judged += 1
    if not judged:
        return skipped("under this grammar the marks of calls are not written as tokens, so no calls can be forced")
    return passed(f"{judged} answers with two to five calls, whole and streamed, to the character")


def spells_marks(asked: Sequence[Asked], answer: Message, text: str) -> bool:
    """Whether this answer spells marks of the forced calls with tokens of ordinary text, as a grammar allows. No parser
    needs to see a call then; vLLM's sees it in whole answers and not in streams."""
    tokens = next((row.logprobs for row in asked if row.answer == answer and row.logprobs), ())
    return any(sum(token.text.count(mark) for token in tokens) != text.count(mark) for mark in MARKS)


def _with_calls(engine: ApiFacts, text: str) -> dict[str, Any]:
    form = regex_form(engine, pattern_of(text))
    return greedy(
        WEATHER_QUESTION, max_tokens=LIMIT, tools=[WEATHER, MESSAGE], tool_choice="auto", logprobs=True, **form
    )


async def _refused(api: Api, body: Mapping[str, Any]) -> Outcome | None:
    answer = await api.chat({**body, "max_tokens": 1})
    if isinstance(answer, Message):
        return None
    if not isinstance(answer, Malformed) and answer.status in (400, 422):
        return skipped(f"an answer cannot be forced: {answer.error_text()}")
    return no_answer(api, answer)


def _differs(answers: tuple[Message, Message], text: str, *, exact: bool) -> Outcome | None:
    """`answers`: whole and streamed; `exact`: with the white space at the edges of the content."""
    for how, answer in zip(("whole", "streamed"), answers, strict=True):
        expected = replace(read_kimi_text(text, "stop"), reasoning=answer.reasoning)
        wrong = differences(expected, answer)
        if exact and not wrong and answer.content != expected.content:
            wrong = [Difference("content", repr(expected.content[-40:]), repr(answer.content[-40:]))]
        if wrong:
            return _not_forced(answer, how, wrong[0])
    return None


def _not_forced(answer: Message, how: str, wrong: Difference) -> Outcome:
    source = "the only text that the request allows"
    message = f"the {how} answer is not the one that was forced: {wrong.against(source)}"
    if answer.finish_reason == "length" or (answer.reasoning and not answer.content and not answer.tool_calls):
        return failed_if_able(Code.PARAMETER_IGNORED, "the thinking", f"{message}: it did not end", "an able model")
    if " call" in f" {wrong.part}":
        return call_lost(message, f"{UPDATE_PARSER}; {DIRECTLY}")
    return failed(Code.STREAM_BROKEN if how == "streamed" else Code.WRONG_ANSWER, "content", message, DIRECTLY)


@probe("echo")
async def echo(api: Api) -> Outcome:
    """Of /v1/completions, by which the chat's answers are judged."""
    text = f"{WORDS}{ODD}{LONG}end."
    body = {"prompt": text, "echo": True, "temperature": 0, "add_special_tokens": False}
    reply = await api.post("/completions", {**body, "max_tokens": 0})
    if reply.status in (400, 422):
        reply = await api.post("/completions", {**body, "max_tokens": 1})
    got = completion_text(reply.json()) if reply.status == 200 else None
    if got is None or len(got) < len(text) // 2:
        return skipped(f"the endpoint does not echo a prompt: {reply.because if got is None else repr(got[:60])}")
    if not got.startswith(text):
        at = common_prefix(text, got)
        difference = f"from character {at} on {got[at : at + 40]!r}, sent was {text[at : at + 40]!r}"
        message = f"an echoed prompt comes back changed, so texts of /v1/completions are: {difference}"
        return failed(Code.WRONG_ANSWER, "/v1/completions", message, DIRECTLY)
    if fault := await _streamed_differs(api):
        return fault
    return passed(f"a prompt of {len(text)} characters comes back to the character; a stream adds up to the whole text")


async def _streamed_differs(api: Api) -> Outcome | None:
    """Whether a streamed completion is another than the whole one, though each is the same twice."""
    body = {"prompt": "Count to 18. 1 2 3 4", "temperature": 0, "max_tokens": 24}
    whole, streamed = set[str | None](), set[str]()
    for _ in range(2):
        whole.add(completion_text((await api.post("/completions", body)).json()))
        reply = await api.post("/completions", {**body, "stream": True})
        if reply.status != 200:
            return None
        lines = (line.removeprefix("data:") for line in reply.text.splitlines() if line.startswith("data:"))
        streamed.add("".join(completion_text(read_json(line)) or "" for line in lines))
        if whole & streamed:
            return None
    if len(whole) > 1 or len(streamed) > 1 or None in whole:
        return None
    message = f"a completion is {streamed.pop()!r} streamed and {whole.pop()!r} whole"
    return failed(Code.STREAM_BROKEN, "/v1/completions", message, DIRECTLY)
