"""Which options and variables a command has, under each name that a table may call them by."""

from __future__ import annotations

from moonpad.catalog.former_options import same_options
from moonpad.explain.checks.check_case import Case
from moonpad.explain.equal_options import equal_flags


def given_names(case: Case) -> frozenset[str]:
    """Of options all names, former ones and other ways to write them too; of variables `$NAME`.

    A table has hundreds of rows, and nearly all are about an option that the command does not have.
    """
    given = {name for place in case.first.parsed.occurrences for name in (*place.names, place.written)}
    given |= equal_flags(given)
    same = same_options(case.engine.program)
    given |= {other for name in given for other in same.get(name, ())}
    return frozenset(given | equal_flags(given) | {f"${name}" for name in case.commands[0].env})
