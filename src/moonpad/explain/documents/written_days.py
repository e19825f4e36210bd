"""The day on which a report or a part of a thread was written: `opened on Nov 3, 2025`, `name · comment · 2025-11-25`,
or the last day of its log. A guide with a day is for any release: of its head nothing is read but when its commands
were tried or written down, `Tested on 2026-05-09`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_YEAR: Final = r"(20(?:2[3-9]|3\d))"
_DAY: Final = (
    rf"(?:{_YEAR}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"
    rf"|({'|'.join(_MONTHS)})[a-z]{{0,6}}\.?[ ](\d{{1,2}})(?:st|nd|rd|th)?,?[ ]{_YEAR}"
    rf"|(\d{{1,2}})[ ]({'|'.join(_MONTHS)})[a-z]{{0,6}}\.?,?[ ]{_YEAR})(?!\d)"
)
_HEADS: Final = (
    re.compile(
        rf"[^\n·•]{{1,60}}[ ][·•][ ](?:description|comment|review|answer|reply|issue|discussion)[ ][·•][ ]{_DAY}\s*$",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?:\S{1,40}[ ](?:\([^()]{1,30}\)[ ])?)?(?:opened|commented|asked|answered|replied|reported|filed)(?:[ ]this)?"
        rf"(?:[ ](?:issue|bug|pull request|discussion|question|topic))?[ ]?(?:[ ]on|[ ]at|[:,])?[ ]{_DAY}"
        r"(?=\s*$|[ ]*[·•|(—-]|[ ]edited|,?[ ](?:at[ ])?\d{1,2}:)",
        re.IGNORECASE,
    ),
    re.compile(rf"on[ ]{_DAY}(?:[ ](?:·|edited|\().*)?\s*$", re.IGNORECASE),
    re.compile(rf"Date:[ ](?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),[ ]{_DAY}", re.IGNORECASE),
    re.compile(rf"[\s\"'{{,]{{0,20}}created_?at[\"']?[ ]?[:=][ ]?[\"']?{_DAY}", re.IGNORECASE),
    re.compile(
        r"(?:本?(?:说明|测试|验证|编写|撰写|记录)(?:日期|时间)"
        r"|(?:(?:last[ ])?(?:tested|verified|measured)|written)(?:[ ]on)?"
        rf"|date[ ]of[ ](?:the[ ]|this[ ])?(?:test|run|note))[*_ ]{{0,3}}[:：]?[*_ ]{{0,3}}{_DAY}",
        re.IGNORECASE,
    ),
    re.compile(rf"{_DAY}(?:[ ,:]|[ ]-){{1,2}}(?:I|we|I[’']\w+|my|our|just|still|tried|today)\b", re.IGNORECASE),
)
"""Lines above what somebody wrote, of a forge, a list or a mail, and notes that begin with their day."""
_LOGGED: Final = re.compile(r"[\w ()=|>\t-]{0,40}?\[?(20[23]\d-(?:0[1-9]|1[0-2])-[0-3]\d)[ T]\d\d:\d\d:\d\d")
_LONGEST: Final = 300


def written_day(lines: tuple[str, ...], line: int) -> str:
    """`2025-11-25`, of the head that is the nearest above the line, or the first where none is above; without heads the
    last day of the log. "" where the text shows none."""
    heads = _heads(lines)
    above = [day for number, day in heads if number <= line]
    if heads:
        return above[-1] if above else heads[0][1]
    return last_logged_day(lines)


@lru_cache(maxsize=4)  # each engine command of a text asks
def last_logged_day(lines: tuple[str, ...]) -> str:
    """`2026-05-05`, of the lines that begin with a day and a time; "" where none does."""
    return max((match[1] for line in lines if (match := _LOGGED.match(line))), default="")


@lru_cache(maxsize=4)
def _heads(lines: tuple[str, ...]) -> tuple[tuple[int, str], ...]:
    return tuple(_found(lines))


def _found(lines: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(lines, 1):
        text = line[:_LONGEST].lstrip(" \t>*_#-")
        if "20" in text and (match := next(filter(None, (head.match(text) for head in _HEADS)), None)):
            yield number, _iso(match)


def _iso(match: re.Match[str]) -> str:
    year, month, day, name, of_month, in_year, before, called, of_year = match.groups()
    if year:
        return f"{year}-{month}-{day}"
    return f"{in_year or of_year}-{_MONTHS.index((name or called).casefold()) + 1:02}-{int(of_month or before):02}"
