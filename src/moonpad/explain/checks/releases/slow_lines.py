"""What the log of an engine says of slower paths that it took, and of drafts that are hardly ever accepted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Final, NamedTuple

from moonpad.catalog.slow_marks import slow_marks
from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.slow_complaints import complains_of_speed
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_LONGEST: Final = 1000
_LOGGED: Final = re.compile(
    r"Performance might|[Aa]ccept|Retract|Socket|: Active|cuda graph|reset to|native support|[Pp]reempt|all ?reduce"
)
"""In each line that a mark is about."""
_NOT_TOLD: Final = frozenset({"eager", "slow-tokenizer"})
"""Those that the command says itself, and one that is wrong for most models here."""
_MEAN: Final = re.compile(r"SpecDecoding metrics: .*\bMean acceptance length: (?P<length>\d+\.\d+)")
_EACH: Final = re.compile(r"Per-position acceptance rate: (?P<rates>(?:\d\.\d+, )*\d\.\d+)")
_LENGTH: Final = re.compile(r"#running-req: [1-9].*\baccept len: (?P<length>\d\.\d+)")
_SHORT: Final = 1.25
_SELDOM: Final = 0.05
_FEW_POSITIONS: Final = 3
_OFTEN: Final = 0.3


class _Line(NamedTuple):
    number: int
    message: str
    remedy: str


def slow_line(case: Case) -> Iterator[Remark]:
    """The first line of each kind."""
    script = case.script
    if case.again or not is_first(case.commands, script):
        return
    script.budget.once("lines of a log", 2 * len(script.lines), "the lines of its logs")
    lines = _slow_lines(script.lines)
    severity = Severity.WARNING if lines and complains_of_speed(script) else Severity.NOTE
    for each in lines:
        message = f"{script.where(each.number)}: {each.message}"
        yield replace(make_remark(severity, Code.SUBOPTIMAL, "log", message, each.remedy), command=None)


@lru_cache(maxsize=2)
def _slow_lines(lines: tuple[str, ...]) -> tuple[_Line, ...]:
    found: dict[str, _Line] = {}
    for number, line in enumerate(lines, 1):
        text = line[:_LONGEST]
        if not _LOGGED.search(text):
            continue
        for key, pattern, message, remedy in _marks():
            if key not in found and pattern.search(text):
                found[key] = _Line(number, message, remedy)
        drafts = _of_drafts(text)
        if drafts:
            found.setdefault("drafts", _Line(number, *drafts))
    return tuple(found.values())


def _of_drafts(text: str) -> tuple[str, str] | None:
    """What happens and the remedy, of drafts that cost more than they bring."""
    each, length = _EACH.search(text), _MEAN.search(text) or _LENGTH.search(text)
    if length is not None and float(length["length"]) < _SHORT:
        message = (
            f"{length['length']} tokens a step are accepted, the one of the model itself among them: drafting costs "
        )
        return f"{message}more than it brings", "leave the drafts out, or take a draft that was trained for this model"
    rates = [float(number) for number in each["rates"].split(", ")] if each is not None else []
    used = sum(number >= _SELDOM for number in rates)
    if used and rates[0] >= _OFTEN and len(rates) - used >= _FEW_POSITIONS and used <= len(rates) // 2:
        message = f"of {len(rates)} drafted tokens those from number {used + 1} on are hardly ever accepted"
        return f"{message}, and each is computed", f"draft {used} or {used + 1} tokens"
    return None


@cache
def _marks() -> tuple[tuple[str, re.Pattern[str], str, str], ...]:
    rows = (row for row in slow_marks() if row.key not in _NOT_TOLD)
    return tuple((row.key, re.compile(row.pattern), row.message, row.remedy) for row in rows)
