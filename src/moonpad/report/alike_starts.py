"""Starts in the place of another that differ in numbers alone, as a loop over sizes makes them: they are shown once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.explain.alternatives import differences
from moonpad.explain.results import Judged
from moonpad.report.explain_verdict import verdict
from moonpad.values.finding import Severity

_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
_NOTES: Final = re.compile(r"[;,] \d+ notes?$")
_MOST: Final = 12
"""Numbers that are listed."""


def alike_but_numbers(main: Judged) -> list[list[Judged]]:
    """The alternatives in their order, those together that are judged alike and have nothing of their own."""
    groups: dict[object, list[Judged]] = {}
    for number, other in enumerate(main.alternatives):
        own = any(each.severity is not Severity.NOTE and each not in main.findings for each in other.findings)
        line = other.sources[0].line if other.sources else 0
        masked = tuple(_NUMBER.sub("#", text) for text in differences(other, main))
        key = number if own or not masked else (line, masked, _NOTES.sub("", verdict(other)[0]))
        groups.setdefault(key, []).append(other)
    return list(groups.values())


def with_numbers(alike: Sequence[Judged], main: Judged) -> str:
    """`; the same with 3, 4, 5` where one number differs, else how many more there are; "" for one alone."""
    if len(alike) == 1:
        return ""
    found = [_NUMBER.findall(" ".join(differences(each, main))) for each in alike]
    varied = [values for values in zip(*found, strict=False) if len(set(values)) > 1]
    if len(varied) != 1 or len({len(each) for each in found}) > 1 or len(alike) > _MOST:
        return f"; the same with other numbers: {len(alike) - 1} more"
    first, *others = varied[0]
    return f"; the same with {', '.join(others)} in place of {first}"
