"""Repairs words that a shell does not read as their author meant them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.explain.commands import Command, Problem, Script, Word
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_STRAY: Final = re.compile(r"\$(?![A-Za-z_0-9{(@*#?!$-])")
"""A dollar that begins no variable."""
_QUOTES: Final = "“”„‘’«»"
ONE_ITEM: Final = "one-item"
"""The code of a problem: an option and its value in one item of a list, which are one argument. They are read apart."""


def as_meant(command: Command, script: Script) -> tuple[Command, tuple[Remark, ...]]:
    """The command with such words repaired, and a finding for each of them."""
    words = list(command.argv)
    repairs: list[Remark] = []
    repairable = [
        problem for problem in script.problems if problem.code in ("stray-dollar", "dash", "quotes", ONE_ITEM)
    ]
    script.budget.work(len(words) * len(repairable) // 2, "its quotes and dashes")
    told = set[tuple[int, int]]()
    for at, word in enumerate(command.argv):
        for problem in repairable:
            if problem.code == ONE_ITEM and _stands_at(word, problem) and word.text.startswith("-"):
                if (problem.line, problem.column) in told:
                    continue  # one item with several options
                told.add((problem.line, problem.column))
                where = shortened(word.text)
                repair = make_remark(Severity.ERROR, Code.INVALID_VALUE, where, problem.message, problem.remedy, at=at)
                repairs.append(replace(repair, read_as_meant=True))
                continue
            meant = _meant(word, problem)
            if meant is not None and meant != words[at].text:
                words[at] = replace(word, text=meant)
                where, remedy = _where(words, at), f"write {shortened(meant)}"
                repair = make_remark(Severity.ERROR, Code.INVALID_VALUE, where, problem.message, remedy, at=at)
                repairs.append(replace(repair, read_as_meant=True))
    return replace(command, argv=tuple(words)) if repairs else command, tuple(repairs)


def shown_with_words(problem: Problem, command: Command) -> bool:
    """Whether `as_meant` makes it a finding of the command."""
    if problem.code == ONE_ITEM:
        return any(_stands_at(word, problem) for word in command.argv)
    return any(_meant(word, problem) not in (None, word.text) for word in command.argv)


def _stands_at(word: Word, problem: Problem) -> bool:
    quoted = problem.column - word.column == 1
    return word.line == problem.line and (quoted or word.column == problem.column)


def _meant(word: Word, problem: Problem) -> str | None:
    """What the word is without the problem; None where the problem is elsewhere, or cannot be repaired."""
    if not (word.line, word.column) <= (problem.line, problem.column) < (word.end_line, word.end_column):
        return None
    match problem.code:
        case "stray-dollar":
            return _STRAY.sub("", word.text)
        case "dash":
            return problem.remedy or None
        case "quotes":
            return word.text.strip(_QUOTES)
    return None


def _where(words: Sequence[Word], at: int) -> str:
    """The option that the word belongs to, where it is a value."""
    if words[at].text.startswith("-"):
        return words[at].text.partition("=")[0]
    before = words[at - 1].text if at else ""
    return before if before.startswith("-") and "=" not in before else shortened(words[at].text)
