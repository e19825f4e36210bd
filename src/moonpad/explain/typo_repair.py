"""Repairs words that a shell does not read as their author meant them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from moonpad.explain.commands import Command, Problem, Script, Word
from moonpad.explain.results import Remark
from moonpad.values.finding import Code, Finding, Severity

_STRAY: Final = re.compile(r"\$(?![A-Za-z_0-9{(@*#?!$-])")
"""A dollar that begins no variable."""
_QUOTES: Final = "“”„‘’«»"


def as_meant(number: int, command: Command, script: Script) -> tuple[Command, tuple[Remark, ...]]:
    """The command with such words repaired, and a finding for each of them."""
    words = list(command.argv)
    remarks: list[Remark] = []
    for at, word in enumerate(words):
        for problem in script.problems:
            text = _meant(word, problem) if _in(problem, word) else None
            if text is None or text == words[at].text:
                continue
            words[at] = replace(words[at], text=text)
            finding = Finding(
                Severity.ERROR, Code.INVALID_VALUE, _where(words, at), problem.message, f"write {_short(text)}"
            )
            remarks.append(Remark(finding, number, at, read_as_meant=True))
    return (replace(command, argv=tuple(words)), tuple(remarks)) if remarks else (command, ())


def shown_with_words(problem: Problem, commands: tuple[Command, ...]) -> bool:
    """Whether `as_meant` makes it a finding of one of these commands."""
    return any(
        _in(problem, word) and _meant(word, problem) not in (None, word.text)
        for command in commands
        for word in command.argv
    )


def _in(problem: Problem, word: Word) -> bool:
    return (word.line, word.column) <= (problem.line, problem.column) < (word.end_line, word.end_column)


def _meant(word: Word, problem: Problem) -> str | None:
    match problem.code:
        case "stray-dollar":
            return _STRAY.sub("", word.text)
        case "dash":
            return problem.remedy or None
        case "quotes":
            return word.text.strip(_QUOTES)
        case _:
            return None


def _where(words: list[Word], at: int) -> str:
    """The option that the word belongs to, where it is a value."""
    if words[at].text.startswith("-"):
        return words[at].text.partition("=")[0]
    before = words[at - 1].text if at else ""
    return before if before.startswith("-") and "=" not in before else _short(words[at].text)


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
