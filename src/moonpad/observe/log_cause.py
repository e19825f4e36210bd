"""Why a start or a run ended, by its log: the first true cause, with the line that names it and what helps.

Causes are those that some line names in its own words (catalog/data/known_failures.toml, general_failures.toml, and the
lines of each engine's file). Where no line does, no cause is known: nothing is guessed from what follows of one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from moonpad.engines import ENGINES
from moonpad.engines.base import Engine
from moonpad.engines.log_engine import engine_of
from moonpad.engines.log_grammar import (
    EXCEPTION,
    CauseLine,
    Failure,
    NamedCause,
    catalogued_causes,
    events,
    failure_at,
    first_cause,
    is_mild,
    is_passed_over,
    kind_of_error,
    plain,
    read_progress,
    worth_a_look,
)
from moonpad.engines.own_words import OwnWords, Says, begins_behind_its_cause, is_optional, led_to, own_words
from moonpad.engines.start_log import READY, unwrapped
from moonpad.explain.own_flags import in_own_flags

MOST_LINES: Final = 10_000
"""So many are read from the beginning, where a start is, and from the end, where what ended a run is."""
LONGEST: Final = 4_000
LINES_BROKEN_OFF: Final = 3
OWN_WORDS: Final = "own-words"
_SETTING: Final = re.compile(r"(?<![\w-])[a-z]+(?:_[a-z]+)+\b")

_BROKE: Final = re.compile(
    r"illegal memory access|unspecified launch failure|device-side assert|misaligned address"
    r"|illegal instruction was enc"
    r"|[Ss]egmentation fault|SIGSEGV|Memory access fault by GPU|The actor is dead because|Worker unexpectedly exits"
    r"|aicore (?:exception|timeout)|SUSPECT REMOTE"
)
"""By this a process breaks, and the line does not say why: what comes after it follows from it."""

_STALLED: Final = re.compile(
    r"No available shared memory broadcast block found|couldn't get a response from detokenizer"
)
_LOGGED: Final = re.compile(
    r"(?:^|[\s\]])(?:ERROR|CRITICAL|FATAL|fatal)\b(?!.{0,20}(?:=|\bcode 0\b)).{0,60}\s\S|\[E\] "
    r"|NVRM: Xid |amdgpu: .{0,30}page fault|watchdog thread terminated with|HW Exception by GPU"
    r"|^\d+\.\d\d\.\d{3}\.\d{3} E |(?:^|\s)E\d{4} [\d:.]{8,}|(?:^|[\w\]] ?: |^\W*)[Ee]rror: \S|NCCL WARN \S"
    r"|\bE[A-Z\d]\d{4}: |Failure: invalid |terminate called after throwing|^Illegal instruction|\]\[ERROR\] \S"
    r"|: (?:non-zero status: \d|NULL value) |^Fatal Python error: |returns: \d+ \(UR_|^\w+: failed to |^Failed to "
    r"|\bpanic: |: command not found$"
)
_FRAME: Final = re.compile(r"File \"|[\]:]\s{2,}[\w^~]|[(,]$|\w = \w|\^{3}")
"""A piece of a traceback, which some engines log line by line."""
_RAISES: Final = re.compile(r"\braise [A-Z]")


@dataclass(frozen=True, slots=True)
class LogAnswer:
    """`key` is "" where no cause is known; then `message` has the first error that the log shows, if there is one. It
    is `OWN_WORDS` where no row knows the error, and its own sentence says what is wrong.

    `line` counts from 1, 0 where there is none. `phase`: how far the start had come by then, "" where the log does not
    say. `later`: lines behind it that look like an error too, all of which follow."""

    engine: str
    key: str
    message: str
    remedy: str
    line: int
    text: str
    phase: str
    later: int
    ready: bool
    """Whether it had begun to serve before."""
    kind: str = ""
    """What the line says that happened, where it does not say why: of an answer without a `key`."""


def read_log(text: str, engine: str = "") -> LogAnswer:
    """Of a whole log, or a piece; `engine` where it is known, else the one whose words it has most. Never raises."""
    lines = [line[:LONGEST] for line in unwrapped(text)]
    between = len(lines) - 2 * MOST_LINES
    if between > 0:  # empty lines, so that the numbers stay
        lines[MOST_LINES:-MOST_LINES] = [""] * between
    name = engine or engine_of(lines)
    known = ENGINES.get(name)
    served = max((number for number, line in enumerate(lines) if READY.search(line)), default=-1)
    behind = [""] * (served + 1) + lines[served + 1 :]  # what it went through before it served ended nothing
    broke = next((number for number, line in enumerate(behind) if _BROKE.search(line)), len(lines))
    named = first_cause(causes_of(known), worth_a_look(lines))
    if named is not None and not named.sure and named.number <= served:
        named = first_cause(causes_of(known), worth_a_look(behind))
    named, own = _first(named, own_words(worth_a_look(behind[:broke])), lines)
    if begins_behind_its_cause(lines):
        named, own = (named if named is not None and (named.sure or named.cause.follows) else None), None
    if own is not None and (whole := _wrapped(causes_of(known), lines, own.number)) is not None:
        named, own = whole, None
    if named is not None and not named.sure and named.number > broke:
        named = None
    if named is not None and named.cause.follows and _broke_before(lines[: named.number], known):
        named = None
    number = named.number if named is not None else own.number if own is not None else first_error(lines, known)
    phase, ready = _progress(lines[: len(lines) if number is None else number], known)
    later = 0 if number is None else sum(bool(EXCEPTION.search(plain(line))) for line in lines[number + 1 :])
    shown = "" if number is None else plain(lines[number]).strip()
    if named is None and own is not None and own.says is Says.WHERE:
        named = _kind_of(own, lines)
    if named is None:
        error = EXCEPTION.search(shown)
        words = own.words if own is not None else error["error"] if error else shown
        line = 0 if number is None else number + 1
        if own is not None:
            return LogAnswer(name, OWN_WORDS, words, "", line, shown, phase, later, ready)
        happened = _happened(shown)
        remedy = _in_own_options(happened.remedy, known) if happened else ""
        kind = happened.message if happened else ""
        return LogAnswer(name, "", words, remedy, line, shown, phase, later, ready, kind)
    failure = failure_at(named.cause, named.match)
    remedy = _in_own_options(failure.remedy, known)
    key = named.cause.key or failure.message
    return LogAnswer(name, key, failure.message, remedy, named.number + 1, shown, phase, later, ready)


def _in_own_options(remedy: str, known: Engine | None) -> str:
    if known is None:
        return remedy
    options = known.command_line.options
    return _SETTING.sub(lambda match: options.get(match[0], match[0]), in_own_flags(remedy, known.command_line))


def _happened(line: str) -> Failure | None:
    """What a line says that happened."""
    event = first_cause(events(), [line], symptoms=True)
    return None if event is None else failure_at(event.cause, event.match)


def _first(
    named: NamedCause | None, own: OwnWords | None, lines: Sequence[str]
) -> tuple[NamedCause | None, OwnWords | None]:
    """One of the two. A row that names a cause goes before the words of an error that no row knows; one whose words
    follow from other causes too, only where that error did not come before it and for itself."""
    if named is None or own is None:
        return named, own
    if named.mild or (named.cause.follows and (own.says is not Says.LOGGED or own.number < named.number)):
        return None, own
    if (
        named.cause.weak
        and own.says is not Says.LOGGED
        and own.number < named.number
        and not led_to(lines, own.number, named.number)
    ):
        return None, own
    return named, None


def _wrapped(causes: Sequence[CauseLine], lines: Sequence[str], number: int) -> NamedCause | None:
    """The cause that a line names together with what was broken off it when it was pasted."""
    text = plain(lines[number])
    joined = " ".join([text, *(plain(line).strip() for line in lines[number + 1 : number + LINES_BROKEN_OFF])])
    found = first_cause(causes, [joined[:LONGEST]])
    if found is None or not found.sure or found.match.start() >= len(text):
        return None
    return NamedCause(found.cause, found.match, number)


def _kind_of(own: OwnWords, lines: Sequence[str]) -> NamedCause | None:
    found = kind_of_error(own.words, [line[:LONGEST] for line in lines[max(0, own.number - 8) : own.number]])
    return None if found is None else NamedCause(*found, own.number)


def causes_of(engine: Engine | None) -> tuple[CauseLine, ...]:
    """The engine's own first, of an unknown one those of all; then every row of the catalogue: a log may hold the words
    of a plugin, of a program below the engine, or of another engine that it is built on."""
    engines = (
        ENGINES.values() if engine is None else (engine, *(each for each in ENGINES.values() if each is not engine))
    )
    own: dict[tuple[str, str], CauseLine] = {}
    for cause in (cause for each in engines for cause in each.log.causes):
        own.setdefault((cause.pattern.pattern, cause.message), cause)  # the remedy is the engine's own
    return (*own.values(), *catalogued_causes())


def first_error(lines: Sequence[str], engine: Engine | None) -> int | None:
    """The first exception that does not only say that there was another; failing that, what breaks a process, or a line
    that its writer calls an error."""
    generic = engine.log.generic if engine is not None else ()
    logged = warned = None
    for number, line in enumerate(lines):
        text = plain(line)
        match = None if _RAISES.search(text) else EXCEPTION.search(text)
        if match is not None and "WARNING" not in line and not any(part in match["error"] for part in generic):
            return warned if warned is not None and "NCCL" in text else number
        if warned is None and "NCCL WARN " in text:
            warned = number
        if (
            logged is not None
            or is_mild(text)
            or is_optional(text)
            or is_passed_over(text)
            or any(part in text for part in generic)
        ):
            continue
        if _BROKE.search(text) or (_LOGGED.search(text) and not _FRAME.search(text)):
            logged = number
    if logged is None:
        return next((number for number, line in enumerate(lines) if _STALLED.search(line)), None)
    return logged


def _broke_before(lines: Sequence[str], engine: Engine | None) -> bool:
    """Whether an error that names no cause stands in these lines: what follows from it is none either."""
    number = first_error(lines, engine)
    if number is None:
        return False
    text = plain(lines[number])
    return _BROKE.search(text) is not None or (EXCEPTION.search(text) is not None and not _RAISES.search(text))


def _progress(lines: Sequence[str], engine: Engine | None) -> tuple[str, bool]:
    phase, ready = "", False
    if engine is None:
        return phase, ready
    for line in lines:
        progress = read_progress(engine.log, line)
        if progress is not None:
            phase = progress.phase
        ready = ready or "Application startup complete" in line or "The server is fired up" in line
    return phase, ready
