"""Options and variables that a server is slow with, or answers wrongly: data/slow_settings.toml."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from moonpad.catalog.slow_settings import SlowSetting, slow_settings
from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.documents.slow_complaints import LONGEST, complains_of_speed
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Finding, Severity

_NO: Final = "--no-"
_SETS: Final = r"[ ]*[=:]|[\"']?[ ]*,?[ ]*\bvalue\b"
_OPTION_ALONE: Final = re.compile(r"[\s#>]*--[\w-]+(?:[= ][^\s-]\S*)?[\s\\]*")
"""A line of a command, which says nothing of the option."""


def slow_setting(case: Case) -> Iterator[Remark]:
    """`CUDA_LAUNCH_BLOCKING=1` in what serves, `--enforce-eager` in a text that complains of a slow server."""
    told: set[str] = set()
    for row in slow_settings():
        if row.engines and case.engine.name not in row.engines and case.base not in row.engines:
            continue
        for name in row.options:
            place = _place_of(name, case)
            value = place.value.strip("'\"") if place is not None and isinstance(place.value, str) else ""
            if (
                place is None
                or place.written in told
                or not _is_of(row, value)
                or not _holds(row, case)
                or _is_spoken_of(name, case)
            ):
                continue
            severity = _severity(row, case)
            told.add(place.written)
            yield make_remark(severity, Code.SUBOPTIMAL, place.written, row.message, row.remedy, at=place.index)
            break
        for name in row.variables:
            if not case.variable(name) or not _is_of(row, case.variable(name)) or not _holds(row, case):
                continue
            if not row.meant and _is_spoken_of(name, case):
                continue
            finding = Finding(_severity(row, case), Code.SUBOPTIMAL, name, row.message, row.remedy)
            yield Remark(finding, command=0, variable=name)
            break


def _severity(row: SlowSetting, case: Case) -> Severity:
    return Severity.NOTE if row.at_a_price and not complains_of_speed(case.script) else Severity.WARNING


def _place_of(name: str, case: Case) -> Occurrence | None:
    """Of the option, or of the one that it denies: parsers note `--no-x` as `--x` that is off."""
    place = case.option(name)
    if place is None and name.startswith(_NO):
        denied = case.option(f"--{name.removeprefix(_NO)}")
        return denied if denied is not None and denied.value is False else None
    return place


def _is_of(row: SlowSetting, value: str) -> bool:
    if not row.values:
        return True
    return bool(value) and not unresolved(value) and re.fullmatch(row.values, value) is not None


def _holds(row: SlowSetting, case: Case) -> bool:
    """Whether the text is of those that the row is about."""
    script = case.script
    script.budget.work(len(script.lines), "the text around its engine commands")
    if row.meant and is_in_lines(_lines_with(row.meant), script.lines, LONGEST):
        return False
    if row.devices and not is_in_lines(_lines_with(row.devices), script.lines, LONGEST):
        return False
    if row.evidence and is_in_lines(_lines_with(row.evidence), script.lines, LONGEST):
        return True
    if row.complaint:
        return is_in_lines(_lines_with(row.complaint), script.lines, LONGEST)
    return not row.complained or complains_of_speed(script)


def _is_spoken_of(name: str, case: Case) -> bool:
    """Whether the text speaks of it beside its commands: who does so knows what it does."""
    lines = case.script.lines
    commands = [command for command in case.script.commands if command.program != "other"]
    within = {line for each in commands for word in each.words for line in range(word.line, word.end_line + 1)}
    sets = re.compile(rf"(?<![\w-]){re.escape(name)}(?:{_SETS})") if not name.startswith("-") else None
    case.script.budget.work(len(lines) + len(within), "the text around its engine commands")
    for number, line in enumerate(lines, 1):
        text = line[:LONGEST]
        if name not in text or number in within or _OPTION_ALONE.fullmatch(text):
            continue
        if sets is None or not sets.search(text):
            return True
    return False


@cache
def _lines_with(words: str) -> re.Pattern[str]:
    return re.compile(words, re.IGNORECASE)
