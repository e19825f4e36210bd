"""The lines of a log that are looked at, and the order in which they are."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Final

from moonpad.engines.log_grammar import CauseLine
from moonpad.explain.commands import ErrorLine, Script

_LONGEST: Final = 2_000
_SAYS_BY_WHAT: Final = 4
"""As many lines below one that something happened are about the same."""


def each_once(errors: Sequence[ErrorLine], script: Script) -> list[ErrorLine]:
    """Without lines that repeat an earlier one, the line below it too: what ranks say again in a loop."""
    texts = {(error.logged, script.lines[error.number - 1 : error.number + 1]): error for error in reversed(errors)}
    return sorted(texts.values(), key=attrgetter("number"))


def causes_first(errors: Sequence[ErrorLine], causes: Sequence[CauseLine], script: Script) -> list[ErrorLine]:
    """What only says that something happened stands behind the few lines that follow it, which may say by what."""
    happened = [cause.pattern for cause in causes if cause.symptom]

    def place(error: ErrorLine) -> int:
        line = script.lines[error.number - 1][:_LONGEST]
        return error.number + _SAYS_BY_WHAT * any(pattern.search(line) for pattern in happened)

    return sorted(errors, key=place)
