"""Options whose value is never asked for in this command: faults of what they would do cannot be met."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

from moonpad.catalog.start_refusals import StartRefusal, start_refusals
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.given_names import given_names
from moonpad.explain.checks.releases.start_refusals import refusal_remark
from moonpad.explain.checks.whole_texts import has_all_words


def idle_options(case: Case) -> frozenset[str]:
    """By the rows of data/start_refusals*.toml that are `idle`: the exchange of data-parallel ranks, where one is."""
    given = given_names(case)
    near = [row for row in _rows_of(case.engine.name) if row.where in given]
    if not near or not has_all_words(case):
        return frozenset()
    remarks = [(row, refusal_remark(row, case, whole_text=True)) for row in near]
    return frozenset(row.where for row, remark in remarks if remark is not None)


def is_of_idle(options: Collection[str], idle: frozenset[str]) -> bool:
    """Whether a fault is of idle options alone. With others it may be that the start compares the two."""
    return bool(idle) and bool(options) and idle.issuperset(options)


@cache
def _rows_of(engine: str) -> tuple[StartRefusal, ...]:
    return tuple(row for row in start_refusals().values() if row.idle and engine in (*row.engines, *row.forks))
