"""The day of a build that the text speaks of: `vLLM main of 2025-12-07`, "SGLang nightly (Feb 3, 2026)"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DATE: Final = (
    r"(?<![\d.])(?:(?P<year>20(?:2[3-9]|3\d))[-/](?P<month>0[1-9]|1[0-2])(?:[-/](?P<day>0[1-9]|[12]\d|3[01]))?"
    rf"|(?P<name>{'|'.join(_MONTHS)})[a-z]{{0,6}}\.?[ ](?:(?P<of_month>[12]?\d|3[01])(?:st|nd|rd|th)?,?[ ])?"
    r"(?P<in_year>20(?:2[3-9]|3\d)))(?![\d.:-]|[T ]\d\d:)"
)
_BUILD: Final = r"(?:main|master|nightly|trunk|HEAD|commit|latest|source|git|build|dev)"
_BETWEEN: Final = r"(?:(?!20[23]\d[-/])[^\n|]){0,60}?"
_LONGEST: Final = 400


def day_of_build(names: Iterable[str], lines: tuple[str, ...]) -> str:
    """`2025-12-07` of a build of the engine with one of these names: a date behind it, in brackets or with a word that
    says it is no release. Of a month alone its first day; "" where none is named, or several."""
    days = set(_days(tuple(names), lines))
    return days.pop() if len(days) == 1 else ""


@lru_cache(maxsize=16)
def _days(names: tuple[str, ...], lines: tuple[str, ...]) -> frozenset[str]:
    called = "|".join(map(re.escape, names))
    pattern = re.compile(
        rf"(?<![\w./-])(?:{called})(?![\w./-])(?:{_BETWEEN}\b{_BUILD}\b{_BETWEEN}|[ ]?\(){_DATE}", re.IGNORECASE
    )
    return frozenset(_found(pattern, lines))


def _found(pattern: re.Pattern[str], lines: tuple[str, ...]) -> Iterator[str]:
    for line in lines:
        if len(line) <= _LONGEST and "20" in line and (match := pattern.search(line)) is not None:
            yield _iso(match)


def _iso(match: re.Match[str]) -> str:
    if match["year"]:
        return f"{match['year']}-{match['month']}-{match['day'] or '01'}"
    month = _MONTHS.index(match["name"].casefold()) + 1
    return f"{match['in_year']}-{month:02}-{int(match['of_month'] or 1):02}"
