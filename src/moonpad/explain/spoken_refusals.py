"""Variables with which an engine refuses to start, in a report of a failure that has no command: of those refusals that
need nothing but variables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from moonpad.catalog.start_refusals import StartRefusal, start_refusals
from moonpad.explain.checks.releases.known_reports import fits
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.versions import order, since

_ADVICE: Final = re.compile(r"\b(?:please|try|you (?:can|could|may)|consider)\b|建议|请设置", re.IGNORECASE)
"""`please set the environment variable X=1`, which logs say of variables that may not be set."""


def refusals_of(engine: str, version: str, lines: Sequence[str]) -> Iterator[Remark]:
    """Of the lines that no engine has logged."""
    for row in _of_variables(engine):
        names = [name.removeprefix("$") for name in row.given]
        given = zip(names, row.given.values(), strict=True)
        if not _of_release(row, version) or not all(_is_set(name, value, lines) for name, value in given):
            continue
        left_out = [name.lstrip("-$") for name in row.lacks]
        if not any(re.search(rf"(?<![\w-]){re.escape(name)}\b", line) for name in left_out for line in lines):
            yield make_remark(Severity.WARNING, Code(row.code), names[0], row.message, row.remedy)


@cache
def _of_variables(engine: str) -> tuple[StartRefusal, ...]:
    return tuple(row for row in start_refusals().values() if engine in row.engines and _needs_no_more(row))


def _needs_no_more(row: StartRefusal) -> bool:
    known_of_a_command = (
        *(row.written, row.unless, row.when, row.unlike),
        *(row.platforms, row.not_on, row.devices, row.weights, row.models),
    )
    by_variables = bool(row.given) and all(name.startswith("$") for name in row.given)
    return by_variables and not any(known_of_a_command) and not any("." in name for name in row.lacks)


def _of_release(row: StartRefusal, version: str) -> bool:
    if not version:
        return not row.until
    return since(version, row.since) and (not row.until or order(version) < order(row.until))


def _is_set(name: str, value: str, lines: Sequence[str]) -> bool:
    """By a line that only sets it, or by one that says `export`."""
    text = re.escape(name)
    sets = re.compile(
        rf"(?:^[ \t>`]*|\bexport[ \t]+|(?<!\w)-e[ \t]+|--env[ =]){text}=[\"']?(?P<value>[\w.,-]+)", re.ASCII
    )
    not_set = re.compile(rf"^[ \t]*#[ \t]*(?:export[ \t]+)?{text}=|\bunset\b[^\n]*\b{text}\b", re.ASCII)
    kept = [line for line in lines if not not_set.search(line)]
    if any("unset" in line for line in lines if line not in kept):
        return False
    return any(
        fits(value, match["value"]) and not _ADVICE.search(line[: match.start()])
        for line in kept
        for match in sets.finditer(line)
    )
