"""The day of a build that the text speaks of: `vLLM main of 2025-12-07`, "SGLang nightly (Feb 3, 2026)"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DATE: Final = re.compile(
    r"(?<![\d.])(?:(?P<year>20(?:2[3-9]|3\d))[-/](?P<month>0[1-9]|1[0-2])(?:[-/](?P<day>0[1-9]|[12]\d|3[01]))?"
    r"|(?<![\d.])(?:(?P<before>[12]?\d|3[01])(?:st|nd|rd|th)?[ ](?:of[ ])?)?"
    rf"\b(?P<name>{'|'.join(_MONTHS)})[a-z]{{0,6}}\.?[ ](?:(?P<of_month>[12]?\d|3[01])(?:st|nd|rd|th)?,?[ ])?"
    r"(?P<in_year>20(?:2[3-9]|3\d)))(?!\d|[.:-]\d|,?[T ]\d\d:)",
    re.IGNORECASE,
)
_BUILD: Final = re.compile(
    r"\b(?:main|master|nightly|trunk|HEAD|commit|latest|source|git|build|dev|branch)\b", re.IGNORECASE
)
_OF_TIME: Final = re.compile(
    r"[\s,;:(~≈]|\b(?:as|at|of|in|from|the|around|about|stock|upstream|early|mid|middle|late|end|beginning|start|rocm|cuda|image)\b-?",
    re.IGNORECASE,
)
"""What may stand between the name and the date and only says when it was: `vLLM, stock upstream (June 2026)`."""
_MAIN: Final = re.compile(
    r"(?<![\w./-])(?:main|master|trunk|nightly)(?:[\s,;:(~≈]|\b(?:as|at|of|in|from|the|around|about|early|mid|middle|late"
    r"|end|beginning|start|first|last|days?|weeks?|branch|build)\b)*\Z",
    re.IGNORECASE,
)
"""`main of`, with nothing but the time behind it."""
_OF_OTHERS: Final = re.compile(
    r"(?<![\w./-])(?:c?python\d?|pypy|conda|gcc|g\+\+|clang|llvm|rustc|cargo|nvcc|cmake|glibc|cann|nccl|rccl|hccl|triton"
    r"|(?:py)?torch\w*|transformers|flash-?infer|flash[-_]?attn|flashattention|deep-?ep|deep-?gemm|aiter"
    r"|linux(?:[ ]kernel)?|driver|lmcache|mooncake|nixl)(?:[\s:(\[~≈=]|(?<![\w.])v?\d[\w.+-]*"
    r"|\b(?:version|at|of|in|from|the|main|master|nightly|trunk|HEAD|default|tags/\S{1,30}|latest|source|git|build|built|dev"
    r"|branch|wheel)\b,?)*\Z",
    re.IGNORECASE,
)
"""The name of something else right in front of a date: `Python 3.11.13 (main, `, `PyTorch nightly of `."""
_LATE: Final = re.compile(r"\b(?:late|end)\b", re.IGNORECASE)
_LAST_DAY: Final = 28
_OF_A_BUILD_ALONE: Final = re.compile(
    r"[ \t]*(?:$|[,.;:)\]|/*`_-]|(?:main|nightly|build|image|wheel|commit)\b)", re.IGNORECASE
)
"""What is behind a date that follows the name alone; in `the vLLM 2026-07-23 post on` it is the day of that post."""
_NEAR: Final = 120
"""So many characters may stand between the engine's name and the date."""
_LONGEST: Final = 400


def day_of_build(names: Iterable[str], lines: tuple[str, ...]) -> str:
    """`2025-12-07` of a build of the engine with one of these names: a date behind the name, in brackets, with a word
    for a build, such as `main`, or with none but of the time. `2025-12` of a month without a day; the end of one is
    its last day. "" where no day is named, or several."""
    days = _days(tuple(names), lines)
    return next(iter(days)) if len(days) == 1 else ""


def day_of_main(lines: Iterable[str]) -> str:
    """The same of a text that names no engine with it, `Main of the first days of January 2026`; for texts about one
    engine alone."""
    found = {
        _iso(match, late=_LATE.search(main[0]) is not None)
        for line in lines
        if len(line) <= _LONGEST and "20" in line
        for match in _DATE.finditer(line)
        if not _OF_OTHERS.search(line[: match.start()]) and (main := _MAIN.search(line[: match.start()])) is not None
    }
    return found.pop() if len(found) == 1 else ""


def first_day(day: str) -> str:
    """The day itself, of a month its first."""
    return f"{day}-01" if day.count("-") == 1 else day


def last_day(day: str) -> str:
    """The day itself, of a month its last; compared as text, 31 is never too early. "" where none is named."""
    return f"{day}-31" if day.count("-") == 1 else day


@lru_cache(maxsize=16)
def _days(names: tuple[str, ...], lines: tuple[str, ...]) -> frozenset[str]:
    called = re.compile(rf"(?<![\w./-])(?:{'|'.join(map(re.escape, names))})(?![\w./-])", re.IGNORECASE)
    return frozenset(day for line in lines if len(line) <= _LONGEST and "20" in line for day in _found(called, line))


def _found(called: re.Pattern[str], line: str) -> Iterator[str]:
    for match in _DATE.finditer(line):
        before = line[max(0, match.start() - _NEAR) : match.start()]
        behind_name = [before[name.end() :] for name in called.finditer(before)][-1:]
        for between in behind_name:
            if not between.strip() and not _OF_A_BUILD_ALONE.match(line, match.end()):
                continue
            if _is_of_build(between) and not _OF_OTHERS.search(between):
                yield _iso(match, late=_LATE.search(between) is not None)


def _is_of_build(between: str) -> bool:
    return not _OF_TIME.sub("", between) or _BUILD.search(between) is not None


def _iso(match: re.Match[str], *, late: bool) -> str:
    """`late` is whether a month that is named without a day is meant at its end."""
    year = match["year"] or match["in_year"]
    month = int(match["month"] or 0) or _MONTHS.index(match["name"].casefold()) + 1
    day = int(match["day"] or match["of_month"] or match["before"] or 0) or (_LAST_DAY if late else 0)
    return f"{year}-{month:02}-{day:02}" if day else f"{year}-{month:02}"
