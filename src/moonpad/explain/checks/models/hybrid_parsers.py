"""A parser that takes an answer for thoughts from its first word, for a model that thinks only where it is asked to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.cached_names import repository_of
from moonpad.catalog.options import values_of, versions
from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.grouping import model_of
from moonpad.explain.programs import is_server
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_THINKS_WHEN_ASKED: Final = re.compile(
    r"deepseek[-_]v3[._](?:1(?![0-9])|2(?!.*speciale))(?!.*(?:distill|base|eagle|mtp|draft))", re.IGNORECASE
)
_BEGINS_IN_THOUGHTS: Final = re.compile(r"deepseek[-_]r1", re.IGNORECASE)
_FOR_BOTH: Final = ("deepseek_v3", "deepseek-v3")
"""The names that engines have for the parser that looks whether thoughts were asked for."""
_ASKED: Final = re.compile(r"thinking[\"'\\]{0,4}[ ]?[:=][ ]?[\"'\\]{0,4}true", re.IGNORECASE)
_ASKED_OF_IT: Final = re.compile(rf"(?<![A-Za-z_]){_ASKED.pattern}", re.IGNORECASE)
"""`enable_thinking` is the key of other models."""
_LONGEST: Final = 1000


def parser_of_hybrid(case: Case) -> Iterator[Remark]:
    """Where the text has thoughts asked for, nothing is said: these requests are read well."""
    flag = case.engine.command_line.reasoning_parser
    for number, reading in enumerate(case.readings):
        place = reading.parsed.occurrence(flag) if flag else None
        given = str(place.value).strip("'\"") if place is not None else ""
        name = repository_of(reading.model).rstrip("/").rpartition("/")[2]
        if place is None or not _BEGINS_IN_THOUGHTS.fullmatch(given) or not _THINKS_WHEN_ASKED.search(name):
            continue
        case.script.budget.once("requests with thoughts", len(case.script.lines), "the text around its engine commands")
        asked = _ASKED_OF_IT if _serves_others(case) else _ASKED
        if is_in_lines(asked, case.script.lines, _LONGEST):
            return
        dest = flag.removeprefix("--").replace("-", "_")
        right = _for_both(case.engine.program, case.version, dest)
        message = (
            f"{shortened(name, 40)} thinks only where a request asks for it, and {shortened(given, 30)} takes every "
        )
        message += "answer for thoughts until they end: other answers arrive as reasoning with an empty content"
        program = case.engine.program
        first = "" if right else next((each for each in versions(program) if _for_both(program, each, dest)), "")
        remedy = f"write {flag} {right}" if right else "take the parser deepseek_v3"
        remedy += "" if not first else f", with {case.engine.facts.title} {first} or later"
        edits = [Edit(place.index, place.length, (place.written, right))] if right else []
        if edits and "=" in case.commands[number].argv[place.index].text:
            edits = [Edit(place.index, place.length, (f"{place.written}={right}",))]
        remark = make_remark(Severity.WARNING, Code.CONFLICT, flag, message, remedy, at=place.index, edits=edits)
        yield replace(remark, command=number)


def _serves_others(case: Case) -> bool:
    """Whether the text starts servers of models that think when they are not asked, too."""
    models = (model_of(each) or "" for each in case.script.commands if is_server(each.program))
    return any(model and not _THINKS_WHEN_ASKED.search(model) for model in models)


def _for_both(program: str, version: str, dest: str) -> str:
    """The name that a release has for it; "" where it has none."""
    known = values_of(program, version or None, dest)
    return next((each for each in _FOR_BOTH if each in known), "")
