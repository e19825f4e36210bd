"""How an engine's log is read: lines that name a phase or a figure, and lines that name a cause of failure.

The grammar is data of each engine's file; the functions here are pure and take lines, never files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

# Engines colour their logs when they think that a person looks on.
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


@dataclass(frozen=True, slots=True)
class PhaseLine:
    """A line that says how far the start has come. Groups of the pattern: `percent`, or figures by name."""

    phase: str
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class CauseLine:
    """A line that says why the engine cannot go on. `message` and `remedy` may use the pattern's groups."""

    pattern: re.Pattern[str]
    message: str
    remedy: str


@dataclass(frozen=True, slots=True)
class LogGrammar:
    phases: tuple[PhaseLine, ...]
    causes: tuple[CauseLine, ...]
    generic: tuple[str, ...]
    """Parts of lines that look like a cause and only say that there is one."""


@dataclass(frozen=True, slots=True)
class Progress:
    """What one line said. `figures` keeps the numbers of the line by name, as the engine wrote them, commas removed."""

    phase: str
    percent: int | None = None
    figures: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Failure:
    """The first true error of a log."""

    message: str
    remedy: str
    line: str


def plain(line: str) -> str:
    """The line without colours and trailing blanks; of a progress bar redrawn by `\\r`, the last state."""
    return _ANSI.sub("", line).rstrip().rsplit("\r", 1)[-1]


def read_progress(grammar: LogGrammar, line: str) -> Progress | None:
    """What the line says of the start, None where it says nothing of it."""
    text = plain(line)
    for known in grammar.phases:
        if match := known.pattern.search(text):
            groups = {name: value.replace(",", "") for name, value in match.groupdict().items() if value is not None}
            percent = groups.pop("percent", None)
            return Progress(known.phase, int(percent) if percent else None, groups)
    return None


# `ValueError: …` at the end of a traceback, behind whatever prefix the engine's logger put before it.
_EXCEPTION = re.compile(r"(?:^|[\s\]])(?P<error>(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*(?:Error|Exception|Killed)\b(?:: .*)?)$")


def first_failure(grammar: LogGrammar, lines: Iterable[str]) -> Failure | None:
    """The first line that names a known cause; failing that, the first exception that is not a generic one.

    An engine that cannot start ends its log with a sentence like "Engine core initialization failed. See root cause
    above.", so the last line is never the answer.
    """
    first_exception: Failure | None = None
    for raw in lines:
        text = plain(raw)
        for cause in grammar.causes:
            if match := cause.pattern.search(text):
                groups = {name: value or "" for name, value in match.groupdict().items()}
                return Failure(cause.message.format(**groups), cause.remedy.format(**groups), text)
        if first_exception is None and (match := _EXCEPTION.search(text)):
            error = match["error"]
            if not any(generic in error for generic in grammar.generic):
                first_exception = Failure(error, "", text)
    return first_exception
