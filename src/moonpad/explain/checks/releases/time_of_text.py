"""Faults of releases that came after the text was written: it cannot be about them."""

from __future__ import annotations

from moonpad.catalog.release_days import releases_around
from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.written_days import written_day
from moonpad.values.versions import order


def next_release_then(case: Case) -> str:
    """Where no release is named and the text tells its day, the first release behind that, of which builds of main had
    something by then; "" for others."""
    if case.version:
        return ""
    case.script.budget.once("days of a text", len(case.script.lines), "the text around its engine commands")
    day = written_day(case.script.lines, case.commands[0].line)
    around = releases_around(case.engine.name, day) if day else None
    return around[1] if around is not None else ""


def came_after(first: str, then: str) -> bool:
    """Whether a fault that was first in one release is not of the time before another; both may be unknown."""
    return bool(first and then) and order(first) > order(then)
