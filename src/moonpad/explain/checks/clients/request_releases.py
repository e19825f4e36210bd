"""Fields of requests and answers that the server's release does not have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from moonpad.catalog.options import versions
from moonpad.engines import foreign_names as names
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.clients.asked_server import BETWEEN, HOSTED, is_shown_to_fail, own_port
from moonpad.explain.checks.clients.request_names import is_one_group
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import numbered
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace
from moonpad.values.versions import since

_FIRST: Final = "0.8.5"
_LONGEST: Final = 1000


class _Field(NamedTuple):
    """`first` and `until`: releases that were read and do not have it, from and before; "" without an end."""

    pattern: re.Pattern[str]
    other: re.Pattern[str]
    """What a text that knows both has somewhere."""
    first: str
    until: str
    what: str
    remedy: str


_FIELDS: Final = (
    _Field(
        re.compile(r"[\"'](?P<name>guided_(?:json|regex|choice|grammar))[\"']\s*:"),
        re.compile(r"structured_outputs"),
        "0.14.0",
        "",
        "is gone since 0.12, and the server passes over it: the answer is not held to it",
        "write structured_outputs with json, regex, choice or grammar, or response_format",
    ),
    _Field(
        re.compile(r"[\"'](?P<name>structured_outputs)[\"']\s*:"),
        re.compile(r"guided_"),
        "",
        "0.10.2",
        "is not a field of this release, which passes over it: the answer is not held to it",
        "write guided_json, guided_regex or guided_choice, or take a later release",
    ),
    _Field(
        re.compile(r"\.(?:delta|message)\.(?P<name>reasoning_content)\b(?!\s*=)"),
        re.compile(r"(?:delta|message)\.reasoning\b|[\"']reasoning[\"']"),
        "0.17.0",
        "",
        "of an answer is called reasoning since 0.16 or 0.17: the library finds no such attribute",
        "read message.reasoning and delta.reasoning",
    ),
)


def field_of_release(case: Case) -> Iterator[Remark]:
    """`extra_body={"guided_json": …}` of a release that has structured_outputs, and the other way round."""
    version, script = case.base_version, case.script
    if case.base != names.EXPERTS_BY_VARIABLE or not version or not is_one_group(case) or not own_port(case):
        return
    if not since(version, _FIRST) or not versions(case.commands[0].program):
        return
    if any(is_in_lines(pattern, script.lines, _LONGEST) for pattern in (HOSTED, BETWEEN)):
        return
    for field in _FIELDS:
        if not since(version, field.first) or (field.until and since(version, field.until)):
            continue
        if not is_in_lines(field.pattern, script.lines, _LONGEST) or is_in_lines(field.other, script.lines, _LONGEST):
            continue
        for number, text in numbered(script, 1, len(script.lines)):
            match = field.pattern.search(text)
            if match is None or text.lstrip().startswith("#") or is_shown_to_fail(case, number):
                continue
            message = f"{script.where(number)}: {match['name']} {field.what}"
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, match["name"], message, field.remedy)
            yield replace(remark, command=None)
            return
