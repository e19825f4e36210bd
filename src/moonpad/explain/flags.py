"""Each option of a command line against what the engine's parser knew in that version."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from moonpad.catalog.options import Change, OptionSet, known_environment
from moonpad.engines.argv_reader import Occurrence, Parsed
from moonpad.engines.value_checks import fits
from moonpad.explain.argv_edits import occurrence
from moonpad.explain.results import Edit, Remark
from moonpad.values.finding import Code, Finding, Severity

CODES: Mapping[str, tuple[Code, Severity]] = {
    "removed": (Code.REMOVED_FLAG, Severity.ERROR),
    "renamed": (Code.RENAMED_FLAG, Severity.WARNING),
    "deprecated": (Code.RENAMED_FLAG, Severity.WARNING),
    "redundant": (Code.REDUNDANT_FLAG, Severity.NOTE),
    "ambiguous": (Code.PREFIX_FLAG, Severity.ERROR),
    "prefix": (Code.PREFIX_FLAG, Severity.WARNING),
    "invalid-value": (Code.INVALID_VALUE, Severity.ERROR),
    "no-option": (Code.UNKNOWN_FLAG, Severity.ERROR),
    "dead-env": (Code.DEAD_ENV, Severity.WARNING),
}
"""What a change of the catalogue is to a person. The kinds that are not here are judged elsewhere."""

# A switch that became an option with a value; of the second the value stands with another flag.
_BECAME: Mapping[str, str] = {"--enable-deepep-moe": "deepep"}
_TAKES_FROM: Mapping[str, str] = {"--enable-dp-attention": "--dp-size"}


_ALL_BUT_THE_SAME = 0.93
"""Of 40 letters two are wrong: a slip. Engines read some variables that they do not declare, so more is not said."""


@dataclass(frozen=True, slots=True)
class Rulebook:
    """The options of one program in one version, and what changed.

    `now` are the changes that hold in this version, `later` those of newer ones. `exact` False: the version is not
    recorded, `options` are those of the nearest older one and `following` those of the next one, so that nothing can
    be called unknown for sure.
    """

    program: str
    label: str
    """`vLLM 0.32.0`, for people."""
    options: OptionSet
    now: tuple[Change, ...]
    later: tuple[Change, ...]
    following: OptionSet | None = None

    @property
    def exact(self) -> bool:
        return self.options.exact


def flag_remarks(number: int, words: Sequence[str], parsed: Parsed, book: Rulebook) -> Iterator[Remark]:
    """Findings for each option as it was written; `number` is the command's place in its deployment."""
    for one in parsed.occurrences:
        changed = _change(one, book.now)
        if changed is not None:
            yield from _changed(number, words, one, changed, parsed, book)
        elif one.problem is not None:
            yield from _problem(number, words, one, book)
        elif (later := _change(one, book.later)) is not None:
            yield _later(number, one, later, book)


def env_remarks(number: int, names: Sequence[str], book: Rulebook) -> Iterator[Remark]:
    """Variables that nothing reads any more, and those that are all but a name that the engine declares."""
    dead = {change.flag: change for change in book.now if change.kind == "dead-env"}
    declared = known_environment(book.program, book.options.version)
    prefixes = {name.partition("_")[0] for name in declared}
    for name in names:
        if (change := dead.get(name)) is not None:
            finding = Finding(Severity.WARNING, Code.DEAD_ENV, name, change.message, change.remedy)
            yield Remark(finding, number, variable=name, drop_variable=True)
        elif name not in declared and name.partition("_")[0] in prefixes:
            near = difflib.get_close_matches(name, sorted(declared), n=1, cutoff=_ALL_BUT_THE_SAME)
            if near:
                message = f"{book.label} declares no such variable, and nothing says so when it starts"
                finding = Finding(Severity.WARNING, Code.DEAD_ENV, name, message, f"did you mean {near[0]}?")
                yield Remark(finding, number, variable=name)


def _change(one: Occurrence, changes: Sequence[Change]) -> Change | None:
    """The change that speaks of this option; the one that names its value first."""
    names = {one.written, one.written.replace("_", "-")} | ({one.flag} if one.flag else set())
    value = one.value if isinstance(one.value, str) else ""
    fitting = [change for change in changes if change.flag in names and change.kind in CODES]
    exact = [change for change in fitting if change.value and change.value == value]
    return next(iter(exact or [change for change in fitting if not change.value]), None)


def _changed(
    number: int, words: Sequence[str], one: Occurrence, change: Change, parsed: Parsed, book: Rulebook
) -> Iterator[Remark]:
    if change.kind in ("renamed", "deprecated", "prefix") and one.flag == one.written != change.flag:
        return  # written in the new way, of which the old one is an alias
    code, severity = CODES[change.kind]
    if code is Code.UNKNOWN_FLAG and book.options.named(one.written) is not None:
        code = Code.REMOVED_FLAG  # the parser has it, and the program refuses it by name
    edits = tuple(_edits(words, one, change, parsed, book))
    yield Remark(Finding(severity, code, one.written, change.message, change.remedy), number, one.index, edits)


def _edits(words: Sequence[str], one: Occurrence, change: Change, parsed: Parsed, book: Rulebook) -> Iterator[Edit]:
    """What mends it, as far as no person has to choose."""
    values = words[one.index + 1 : one.index + one.length] if "=" not in words[one.index] else ()
    if not values and isinstance(one.value, str):
        values = (one.value,)
    if change.remedy.startswith("Leave"):
        yield Edit(one.index, one.length, ())
    elif change.to == ("MODEL",):
        yield Edit(one.index, one.length, tuple(values) if one.index == 0 else ())
        if one.index:
            yield Edit(0, 0, tuple(values))
    elif change.value and change.to:
        yield Edit(one.index, one.length, (one.written, change.to[0]))
    elif (source := _TAKES_FROM.get(change.flag)) is not None:
        given = occurrence(parsed, source)
        if given is not None and isinstance(given.value, str) and change.to:
            yield Edit(one.index, one.length, ())
            yield Edit(given.index, given.length, (change.to[0], given.value))
    elif change.to:
        option = book.options.named(change.to[0])
        values = values or ((_BECAME[change.flag],) if change.flag in _BECAME else ())
        if option is not None and (values or not option.takes_value):
            yield Edit(one.index, one.length, (change.to[0], *values))


def _right_later(one: Occurrence, book: Rulebook) -> bool:
    """Whether the next recorded version takes it, so that one in between may."""
    option = book.following.named(one.written) if book.following is not None else None
    if option is None:
        return False
    values = one.value if isinstance(one.value, tuple) else (one.value,)
    texts = [value for value in values if isinstance(value, str)]
    return one.problem in ("prefix", "ambiguous", "unknown") or (
        one.problem == "invalid-value" and all(fits(option.kind, option.choices, text) for text in texts)
    )


def _problem(number: int, words: Sequence[str], one: Occurrence, book: Rulebook) -> Iterator[Remark]:
    def remark(severity: Severity, code: Code, message: str, remedy: str, edit: Edit | None = None) -> Remark:
        return Remark(Finding(severity, code, one.written, message, remedy), number, one.index, (edit,) if edit else ())

    if not book.exact and _right_later(one, book):
        return
    match one.problem:
        case "unknown":
            names = [name for option in book.options.options for name in option.names]
            near = difflib.get_close_matches(one.written[:80], names, n=1, cutoff=0.7)
            hint = f"did you mean {near[0]}?" if near else "leave it out"
            if book.exact:
                yield remark(Severity.ERROR, Code.UNKNOWN_FLAG, f"{book.label} has no {one.written}", hint)
            else:
                message = f"{one.written} is not among the options of the nearest version recorded ({book.label})"
                yield remark(Severity.NOTE, Code.UNKNOWN_FLAG, message, f"ask the engine's --help; {hint}")
        case "prefix":
            whole = one.matches[0] if one.matches else one.flag or ""
            edit = Edit(one.index, one.length, _renamed(words, one, whole))
            message = f"{one.written} is only the beginning of {whole}: it breaks when an option is added"
            yield remark(Severity.WARNING, Code.PREFIX_FLAG, message, f"write {whole}", edit)
        case "ambiguous":
            several = ", ".join(one.matches[:6])
            message = f"{one.written} is the beginning of several options: {several}"
            yield remark(Severity.ERROR, Code.PREFIX_FLAG, message, f"write one of {several}")
        case "missing-value":
            yield remark(Severity.ERROR, Code.INVALID_VALUE, f"{one.written} needs a value", "give it one")
        case "unexpected-value":
            yield remark(Severity.ERROR, Code.INVALID_VALUE, f"{one.written} takes no value", "leave the value out")
        case "invalid-value":
            given = " ".join(one.value) if isinstance(one.value, tuple) else str(one.value)
            message = f'{one.written} does not take "{_short(given)}"'
            yield remark(Severity.ERROR, Code.INVALID_VALUE, message, _takes(one, book))
        case None:
            return


def _renamed(words: Sequence[str], one: Occurrence, whole: str) -> tuple[str, ...]:
    first, *rest = words[one.index : one.index + one.length]
    _, equals, value = first.partition("=")
    return (f"{whole}={value}" if equals else whole, *rest)


def _takes(one: Occurrence, book: Rulebook) -> str:
    option = book.options.named(one.flag) if one.flag else None
    if option is not None and option.choices:
        return f"one of {', '.join(option.choices[:12])}"
    kinds = {"int": "a whole number", "float": "a number", "json": "a JSON object", "flag": "no value"}
    return f"it takes {kinds.get(option.kind, 'another value')}" if option is not None else "ask the engine's --help"


def _later(number: int, one: Occurrence, change: Change, book: Rulebook) -> Remark:
    """What is right in this version, and wrong in a newer one."""
    code, _ = CODES[change.kind]
    message = f"{book.label} has it; from {change.since} on: {change.message}"
    return Remark(Finding(Severity.NOTE, code, one.written, message, change.remedy), number, one.index)


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
