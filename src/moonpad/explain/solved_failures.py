"""Failures that a text without a command tells as solved: how many, and which of them are known."""

from __future__ import annotations

from typing import Final

from moonpad.engines import ENGINES
from moonpad.engines.log_lines import logged_lines
from moonpad.explain.commands import Script
from moonpad.explain.documents.pasted_failures import STOPPED, causes_in, error_lines
from moonpad.explain.documents.told_generally import mended_lines
from moonpad.explain.results import shortened
from moonpad.explain.spoken_reports import engines_named

_SHOWN: Final = 4
_LONGEST: Final = 110


def solved_failures(script: Script) -> str:
    """A clause behind what is said of the text; "" where it names no engine, or tells of none."""
    named = engines_named(script)
    mended = mended_lines(script.lines) if named else set()
    parts = sum(number - 1 not in mended for number in mended)
    if not parts:
        return ""
    script.budget.work(20 * len(script.lines), "the failures that it tells as solved")
    errors = error_lines(script.lines, logged_lines(list(script.lines)), solved=True)
    build = ENGINES[named[0]].command_line.build
    known: dict[str, str] = {}
    for remark in causes_in(errors, build.of if build else named[0], script):
        known.setdefault(shortened(remark.finding.message.removeprefix(STOPPED), _LONGEST), remark.finding.where)
    told = [f"{where}: {message}" for message, where in known.items()]
    more = f"; and {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
    which = f"; known: {'; '.join(told[:_SHOWN])}{more}" if told else ""
    return f"; it tells {parts} failure{'s' if parts > 1 else ''} as solved{which}"
