"""Values of a request that a server takes, and that spoil its answers: samples that are all alike, an end that is
passed over, a penalty that is too strong, a switch of thinking of other models."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.clients.asked_server import calls_to, is_shown_to_fail
from moonpad.explain.checks.clients.request_names import is_one_group
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import numbered
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_LONGEST: Final = 1000
_SERVERS: Final = (names.EXPERTS_BY_VARIABLE, names.EXPERTS_BY_OPTION)
_SAMPLES: Final = re.compile(r"(?:[\"']n\\?[\"']\s*:|(?<![\w.])n\s*=)\s*(?P<number>[2-9]|[1-9]\d{1,2})(?![\w.])")
_GREEDY: Final = re.compile(r"(?:[\"']temperature\\?[\"']\s*:|\btemperature\s*=)\s*0(?:\.0+)?(?![.\d])")
_ENDLESS: Final = re.compile(r"(?<![\w-])[\"']?ignore_eos\\?[\"']?\s*[:=]\s*[Tt]rue\b")
_MEASURES: Final = re.compile(
    r"bench|load ?test ?:|measur|throughput|stress|perf(?:ormance)? test|压测|基准", re.IGNORECASE
)
_COPIED: Final = re.compile(r"\b(?:production|users?|prod)\b", re.IGNORECASE)
_PENALTY: Final = re.compile(r"\brepetition_penalty\\?[\"']?\s*[:=]\s*(?P<value>1\.[2-9]\d*|[2-9](?:\.\d+)?)\b")
_SOFT: Final = re.compile(r"(?<![\w/])/no_?think\b")
_WITHOUT_SOFT: Final = re.compile(
    r"kimi[-_]?k[23]|kimi-linear|deepseek-(?:v|r)|qwen3-[\w.-]*2507|qwen3-(?:coder|next)|minimax|gpt-oss", re.IGNORECASE
)
"""Models whose templates and cards know no such word."""
_THINKS: Final = re.compile(r"thinking|kimi[-_]?k2[._-][5-9]|kimi[-_]?k3|deepseek-r1|minimax-m|gpt-oss", re.IGNORECASE)


def samples_alike(case: Case) -> Iterator[Remark]:
    """`n=8, temperature=0`."""
    if case.base not in _SERVERS:
        return
    for call in calls_to(case):
        samples = _SAMPLES.search(call.text)
        if samples is None or not _GREEDY.search(call.text) or is_shown_to_fail(case, call.line):
            continue
        message = f"{case.script.where(call.line)}: at temperature 0 the {samples['number']} samples are the same text"
        yield _said("temperature", message, "write a temperature above 0, 0.6 to 1.0 as the model's page says, or n=1")
        return


def endless_answer(case: Case) -> Iterator[Remark]:
    """`ignore_eos: true` outside of a measurement: each answer is as long as it may be."""
    lines = case.script.lines
    if case.base not in _SERVERS or not is_one_group(case) or not is_in_lines(_ENDLESS, lines, _LONGEST):
        return
    if is_in_lines(_MEASURES, lines, _LONGEST) and not is_in_lines(_COPIED, lines, _LONGEST):
        return
    line = next(number for number, text in numbered(case.script, 1, len(lines)) if _ENDLESS.search(text))
    message = f"{case.script.where(line)}: the end of the answer is passed over: each runs on to max_tokens, and what "
    yield _said("ignore_eos", f"{message}comes behind its end is noise", "leave it out: it is for measurements")


def strong_penalty(case: Case) -> Iterator[Remark]:
    """`repetition_penalty: 1.3`, which counts the prompt too."""
    lines = case.script.lines
    if case.base not in _SERVERS or not is_one_group(case) or not is_in_lines(_PENALTY, lines, _LONGEST):
        return
    for number, text in numbered(case.script, 1, len(lines)):
        match = _PENALTY.search(text)
        if match is not None:
            message = (
                f"{case.script.where(number)}: repetition_penalty {match['value']} makes every word unlikely that is "
            )
            message += "in the prompt or the answer already: code, JSON, arguments of tools and long answers go wrong"
            yield _said("repetition_penalty", message, "leave it out, or write at most 1.05", Severity.NOTE)
            return


def soft_switch(case: Case) -> Iterator[Remark]:
    """`/no_think` in a message to a model that knows no such word."""
    model, lines = (case.first.model or "").rstrip("/").rpartition("/")[2], case.script.lines
    if not _WITHOUT_SOFT.search(model) or not _THINKS.search(model) or not is_one_group(case):
        return
    if not is_in_lines(_SOFT, lines, _LONGEST):
        return
    line = next(number for number, text in numbered(case.script, 1, len(lines)) if _SOFT.search(text))
    if is_shown_to_fail(case, line):
        return
    message = f"{case.script.where(line)}: {shortened(model, 40)} takes /no_think for text: it is a word of the first "
    remedy = (
        'switch thinking off as the model\'s page says (chat_template_kwargs: {"thinking": false}), where it can be'
    )
    yield _said("/no_think", f"{message}Qwen3 models", remedy)


def _said(place: str, message: str, remedy: str, severity: Severity = Severity.WARNING) -> Remark:
    return replace(make_remark(severity, Code.INVALID_VALUE, place, message, remedy), command=None)
