"""Words that a shell reads in another way than their author meant, as the author meant them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from moonpad.explain.commands import Command, Problem, Script, Word
from moonpad.explain.judged import Remark
from moonpad.values.finding import Code, Finding, Severity

STRAY: Final = re.compile(r"\$(?![A-Za-z_0-9{(@*#?!$-])")
"""A dollar that begins no variable."""
_QUOTES: Final = "“”„‘’«»"


def as_meant(number: int, command: Command, script: Script) -> tuple[Command, tuple[Remark, ...]]:
    """The command with such words put right, and a finding for each of them."""
    words = list(command.argv)
    remarks: list[Remark] = []
    for at, word in enumerate(words):
        for problem in _problems_in(word, script):
            text = _meant(word, problem)
            if text is None or text == words[at].text:
                continue
            words[at] = replace(words[at], text=text)
            finding = Finding(
                Severity.ERROR, Code.INVALID_VALUE, _where(words, at), problem.message, f"write {_short(text)}"
            )
            remarks.append(Remark(finding, number, at, read_as_meant=True))
    return (replace(command, argv=tuple(words)), tuple(remarks)) if remarks else (command, ())


def shown_with_words(problem: Problem, commands: tuple[Command, ...]) -> bool:
    """Whether `as_meant` says it in a finding of one of these commands."""
    return any(
        _in(problem, word) and _meant(word, problem) not in (None, word.text)
        for command in commands
        for word in command.argv
    )


def _problems_in(word: Word, script: Script) -> Iterator[Problem]:
    return (problem for problem in script.problems if _in(problem, word))


def _in(problem: Problem, word: Word) -> bool:
    if not word.line <= problem.line <= word.end_line:
        return False
    starts = problem.line > word.line or problem.column >= word.column
    return starts and (problem.line < word.end_line or problem.column < word.end_column)


def _meant(word: Word, problem: Problem) -> str | None:
    match problem.code:
        case "stray-dollar":
            return STRAY.sub("", word.text)
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
