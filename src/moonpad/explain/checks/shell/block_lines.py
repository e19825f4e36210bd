"""A text of options in YAML whose lines end with backslashes, and one of them does not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Script
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_LITERAL: Final = re.compile(r"(?:.*[:-][ \t])?[ \t]*\|[-+0-9]{0,2}[ \t]*(?:#.*)?")
"""The line above a text whose lines stay lines: `extraArgs: |`."""
_OPTION: Final = re.compile(r"[ \t]*(--?[A-Za-z][\w-]*)")
_LEAST: Final = 3
"""Words of a command that stand in one such text."""


def lost_in_block(case: Case) -> Iterator[Remark]:
    """Where a chart puts the text into a script, the command ends at that line."""
    for number, command in enumerate(case.commands):
        spans = Counter((word.line, word.end_line) for word in command.argv if word.end_line - word.line > 1)
        for (first, last), words in spans.items():
            if words < _LEAST:
                continue
            for line, ends, lost in _broken(case.script, first, last):
                at = next((at for at, word in enumerate(command.argv) if word.text.partition("=")[0] == ends), None)
                message = (
                    f"{case.script.where(line)} does not end with a backslash, as the lines around it do: in a script "
                )
                message += f"the command ends there, and {shortened(lost, 40)} and what follows are lost"
                remark = make_remark(
                    Severity.WARNING, Code.INVALID_VALUE, ends, message, "end that line with a backslash", at=at
                )
                yield replace(remark, command=number)


def _broken(script: Script, first: int, last: int) -> Iterator[tuple[int, str, str]]:
    """The lines without one among others that have one: the number, the option on it and the one below."""
    begins = first - 1 if script.lines[first - 1].rstrip().endswith("|") or _is_literal(script, first) else first - 2
    if not 0 <= begins < len(script.lines) or not _LITERAL.fullmatch(script.lines[begins]):
        return
    script.budget.work(last - first, "its YAML")
    lines = [(at + 1, script.lines[at].rstrip()) for at in range(begins + 1, min(last, len(script.lines)))]
    if sum(text.endswith("\\") for _, text in lines) < 2:
        return
    for (line, text), (_, below) in pairwise(lines):
        own, lost = _OPTION.match(text), _OPTION.match(below)
        if own and lost and not text.endswith("\\"):
            yield line, own[1], lost[1]
            return


def _is_literal(script: Script, line: int) -> bool:
    return _LITERAL.fullmatch(script.lines[line - 1]) is not None
