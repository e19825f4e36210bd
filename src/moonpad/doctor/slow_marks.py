"""What an engine's log says of slower paths that it took."""

from __future__ import annotations

import re

from moonpad.catalog.slow_marks import slow_marks
from moonpad.doctor.slow_facts import SlowMark

LONGEST = 2000
"""Characters of a line that are searched."""


def marks_of(text: str) -> tuple[SlowMark, ...]:
    """The first line of each kind, in the order of the log."""
    found = []
    rows = {row.key: (re.compile(row.pattern), row) for row in slow_marks()}
    for number, line in enumerate(text.splitlines(), 1):
        for key, (pattern, row) in list(rows.items()):
            if pattern.search(line[:LONGEST]):
                found.append(SlowMark(number, line[:LONGEST].strip(), row.message, row.remedy))
                del rows[key]
        if not rows:
            break
    return tuple(found)
