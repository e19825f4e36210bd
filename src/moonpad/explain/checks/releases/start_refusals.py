"""What the engine's own start refuses: catalog/start_refusals.py.

A term whose value is not known meets no row, neither as one that is there nor as one that is not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Final

from moonpad.catalog.former_options import same_options
from moonpad.catalog.options import known_environment, newest, versions
from moonpad.catalog.other_models import other_model
from moonpad.catalog.start_refusals import StartRefusal, start_refusals
from moonpad.catalog.toml_rows import any_of, pattern_of
from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.value_checks import as_json, unresolved, vllm_tokens, whole
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.command_traits import has_started
from moonpad.explain.checks.given_names import given_names
from moonpad.explain.checks.models.quantization_flags import weights_of
from moonpad.explain.checks.releases.error_agreement import is_logged
from moonpad.explain.checks.releases.first_releases import has_no_model_before
from moonpad.explain.checks.set_elsewhere import may_be_set
from moonpad.explain.checks.whole_texts import is_whole
from moonpad.explain.equal_options import equal_term, written_with_dots
from moonpad.explain.flag_lists import has_own_options, is_fragment, is_with_its_variables
from moonpad.explain.results import Edit, Remark, make_remark
from moonpad.explain.unknowns import CONTEXT
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace
from moonpad.values.versions import is_final, order, release_of, since

_COMPARES: Final[Mapping[str, Callable[[int, int], bool]]] = {
    "<": lambda left, right: left < right,
    ">": lambda left, right: left > right,
    "!=": lambda left, right: left != right,
    ">=": lambda left, right: left >= right,
    "<=": lambda left, right: left <= right,
    "%": lambda left, right: right > 0 and left % right != 0,
}
_JOINS: Final[Mapping[str, Callable[[int, int], int]]] = {
    "*": lambda left, right: left * right,
    "+": lambda left, right: left + right,
    "/": lambda left, right: left // max(right, 1),
}
_JOIN: Final = re.compile(r"([*+/])")
_SIZES: Final = ("tp", "pp", "dp", "dcp")
_SEVERAL: Final = re.compile(r"(max|sum|count)\((.+)\)")
_OF_SEVERAL: Final[Mapping[str, Callable[[list[int]], int]]] = {"max": max, "sum": sum, "count": len}
_CONTEXT: Final = "context"
_LAYERS: Final = "layers"
_MACHINE: Final = "machine"
_LONGEST: Final = 2000
_OF_MACHINES: Final = frozenset({"--dist-init-addr", "--master-addr", "--data-parallel-address"})
"""What the template of a chart writes, since its values cannot know the address."""
RECENT: Final = 12
"""Releases that may still run where none is named."""
OTHERS: Final = "--headless"
"""The option of machines other than the first."""
UNKNOWN: Final = "\0"
"""The value of a term that is there, and of which no more is known."""


@cache
def oldest_recent(program: str) -> str:
    """The oldest of the releases that may still run, "" where none is recorded."""
    return next(iter(versions(program)[-RECENT:]), "")


def refused(case: Case) -> Iterator[Remark]:
    """One remark a row. Of the other commands of a deployment only what speaks of them: `--headless`."""
    rows, given = _rows_of(case.engine.name), given_names(case)
    found = [row for row, needed in rows if not any(map(given.isdisjoint, needed))]
    # Measured: 0.2 µs for a row that is about another option, 4 to 6 µs for the others.
    case.script.budget.work(len(rows) // 4 + 4 * len(found), "what its engine refuses")
    whole_text = bool(found) and is_whole(case)
    told = not case.open_ended and is_with_its_variables(case.commands[0], case.script)
    asked = [row for row in found if whole_text or all(told and name[0] == "$" for name in (*row.lacks, *row.unless))]
    remarks = [remark for row in asked if (remark := _remark(row, case, whole_text)) is not None]
    refused_now = {remark.finding.where for remark in remarks if remark.finding.severity is not Severity.NOTE}
    for remark in remarks:
        if remark.finding.severity is not Severity.NOTE or remark.finding.where not in refused_now:
            yield remark
    of_others = [row for row, _ in rows if OTHERS in row.given and not row.lacks and not row.unless]
    for number, (command, reading) in enumerate(zip(case.commands, case.readings, strict=True)):
        if number and reading.parsed.occurrence(OTHERS) is not None:
            alone = replace(case, commands=(command,), readings=(reading,))
            of_this = (_remark(row, alone, False) for row in of_others)
            yield from (replace(remark, command=number) for remark in of_this if remark is not None)


@cache
def _rows_of(engine: str) -> tuple[tuple[StartRefusal, tuple[frozenset[str], ...]], ...]:
    """Each row with the options and variables that it is about: of each group one has to be there."""
    rows = [row for row in start_refusals().values() if engine in (*row.engines, *row.forks)]
    return tuple((row, tuple(_names_of(term) for term in row.given if term.startswith(("-", "$")))) for row in rows)


def _names_of(term: str) -> frozenset[str]:
    return frozenset(name.partition(".")[0] for name in any_of(term))


def refusal_remark(row: StartRefusal, case: Case, whole_text: bool = False) -> Remark | None:
    """Of one row alone, of a command that may have more options unless it is whole."""
    return _remark(row, case, whole_text)


def _remark(row: StartRefusal, case: Case, whole_text: bool) -> Remark | None:
    command = case.commands[0]
    if not _of_release(row, case) or has_started(command, by_words=not row.warns) or command.program in row.not_of:
        return None
    by_starter = "no effect" in row.message and has_own_options(command)
    if by_starter or not (_on_platform(row, case) and _of_model(row, case) and _on_devices(row, case)):
        return None
    if not all(_given(case, term, pattern, row) for term, pattern in row.given.items()) or _counts_twice(row, case):
        return None
    if row.written and not {*row.written} & {place.written for place in case.first.parsed.occurrences}:
        return None
    if any(_value(case, term, row) is not None for term in row.lacks) or not _of_weights(row, case):
        return None
    if command.custom and not _OF_MACHINES.isdisjoint(row.lacks):
        return None
    variables = [term.removeprefix("$") for term in row.lacks if term.startswith("$")]
    if variables and may_be_set(case, variables):
        return None
    if any(_kept_away(case, term, pattern) for term, pattern in row.unless.items()):
        return None
    pairs = [_pair(case, comparison, whole_text) for comparison in row.when]
    if any(pair is None or not _COMPARES[pair[1]](pair[0], pair[2]) for pair in pairs):
        return None
    if not all(_unlike(case, *terms.split(" ")) for terms in row.unlike):
        return None
    where = row.where or next(iter((*row.given, *(each.partition(" ")[0] for each in row.when))))
    meant = next((name for name in any_of(where) if term_value(case, name) is not None), where)
    flag = re.split(r"[.|*+/]", meant)[0]
    place = _place(case, flag) if flag.startswith("-") else None
    left, right = (pairs[0][0], pairs[0][2]) if pairs and pairs[0] is not None else (0, 0)
    message = row.message.format(left=left, right=right)
    former = not case.version and bool(row.until)
    if former and not message.startswith(f"before {row.until} "):
        message = f"in releases before {row.until}: {message}"
    code, remedy = Code(row.code), row.remedy.format(left=left, right=right)
    severity = Severity.ERROR if _sure(row, case) and not row.warns and _known(row, case) else Severity.WARNING
    severity = Severity.NOTE if former or command.fork else severity
    edits = [Edit(len(command.argv), 0, row.add)] if row.add else []
    if row.drop and place is not None:
        edits.append(Edit(place.index, place.length, ()))
    shown, at = flag.lstrip("$"), place.index if place is not None else None
    of_newest = severity is Severity.WARNING and not row.warns and _is_of_newest(row, case)
    if severity is not Severity.ERROR and not of_newest:
        edits = []
    remark = make_remark(severity, code, shown, message, remedy, at=at, edits=edits)
    remark = replace(remark, ends_start=of_newest, unmeant=row.warns and (bool(case.version) or not row.until))
    return replace(remark, variable=shown) if flag.startswith("$") else remark


def _of_release(row: StartRefusal, case: Case) -> bool:
    """Without a release the newest is meant, and one that may still run where two settings or more agree, or three
    with sizes: those have checks of their own. The model counts as one, and with it any release may be meant."""
    version, fork = case.version, row.forks.get(case.engine.name)
    if case.engine.name != case.base and case.base in row.engines:
        version = release_of(version) or version  # a candidate of a plugin pins the final release of its number
    if fork is not None:
        return not version or since(version, fork)
    if not version:
        if not row.until or has_no_model_before(row.until, case):
            return not row.until
        agreeing, least = len(row.given) + bool(row.models), 3 if row.when else 2
        recent = since(row.until, oldest_recent(case.engine.program) or "nightly")
        any_release = bool(row.models) or recent or _is_of_former(row, case.engine.program)
        return row.also_unnamed or (agreeing >= least and bool(row.given) and any_release)
    return since(version, row.since) and (not row.until or order(version) < order(row.until))


def _is_of_former(row: StartRefusal, program: str) -> bool:
    """Whether it is about a variable that the newest release reads no more, so that an older one is meant."""
    asked = [term[1:] for term in row.given if term.startswith("$")]
    if not asked or not row.since:
        return False
    then, now = known_environment(program, row.since), known_environment(program, newest(program))
    return any(name in then and name not in now for name in asked)


def _on_platform(row: StartRefusal, case: Case) -> bool:
    platform = case.platform if row.platforms or row.not_on else ""
    return (not row.platforms or platform in row.platforms) and platform not in row.not_on


def _on_devices(row: StartRefusal, case: Case) -> bool:
    sm = case.cluster.device.sm if case.cluster is not None else None
    return not row.devices or (sm is not None and f"sm{sm // 10}" in row.devices)


def _of_weights(row: StartRefusal, case: Case) -> bool:
    weights = weights_of(case) if row.weights else None
    return not row.weights or (weights is not None and weights.methods <= {*row.weights})


def _known(row: StartRefusal, case: Case) -> bool:
    """Whether it is certain that the weights and the devices are those of the row."""
    weights = weights_of(case) if row.weights else None
    return (weights is None or weights.sure) and (not row.devices or case.devices_asked) and _of_its_name(row, case)


def _of_model(row: StartRefusal, case: Case) -> bool:
    """By its name, or by what clients call it, which is free to choose."""
    if _of_its_name(row, case):
        return True
    served = (case.first.served_name or "")[-_LONGEST:] if case.checkpoint is None else ""
    return bool(served) and other_model(case.model_named) is None and _searched(row, served)


def _of_its_name(row: StartRefusal, case: Case) -> bool:
    known = [case.checkpoint.name] if case.checkpoint else []
    names = [*known, case.model_named.rstrip("/").replace("--", "/")[-_LONGEST:].rpartition("/")[2]]
    return not row.models or any(_searched(row, name) for name in names)


def _searched(row: StartRefusal, name: str) -> bool:
    return pattern_of(row.models).search(name) is not None


def _sure(row: StartRefusal, case: Case) -> bool:
    """Whether it surely ends: the release is named, a build's own log has these words, or all known ones do so."""
    command, recorded = case.commands[0], versions(case.engine.program)
    if is_fragment(command) or command.custom or command.fork:
        return False
    if case.version:
        return is_final(case.version) or case.engine.name != case.base or is_logged(row.message, case.script)
    return bool(recorded) and since(recorded[0], row.forks.get(case.engine.name, row.since))


def _is_of_newest(row: StartRefusal, case: Case) -> bool:
    """Whether the newest release ends its start there, by which a command without a release is judged."""
    own_build = is_fragment(command := case.commands[0]) or command.custom or bool(command.fork)
    return not case.version and not own_build and _known(row, case)


def _value(case: Case, term: str, row: StartRefusal) -> str | None:
    """Also of what is written in another way, unless the row tells the two ways apart."""
    value, other = term_value(case, term), equal_term(term)
    if value is not None or not other or other in row.given or other in row.lacks:
        return value
    return term_value(case, other)


def _given(case: Case, term: str, pattern: str, row: StartRefusal | None = None) -> bool:
    if " or " in term:
        return any(_given(case, name, pattern, row) for name in any_of(term))
    value = _value(case, term, row) if row is not None else term_value(case, term)
    if value is None or value == UNKNOWN:
        return False
    found = re.fullmatch(pattern, value[:_LONGEST], re.IGNORECASE | re.DOTALL)
    return found is not None if pattern else value != "false"


def _kept_away(case: Case, term: str, pattern: str) -> bool:
    """What is there with a value that is not known may have the one that keeps the row away."""
    value = term_value(case, term)
    return value is not None and (value == UNKNOWN or _given(case, term, pattern))


def _pair(case: Case, comparison: str, whole_text: bool) -> tuple[int, str, int] | None:
    left, sign, right = comparison.split(" ")
    numbers = [_number(case, term, whole_text) for term in (left, right)]
    return None if numbers[0] is None or numbers[1] is None else (numbers[0], sign, numbers[1])


def _number(case: Case, side: str, whole_text: bool) -> int | None:
    """Of one term, or of several that are joined."""
    first, *rest = _JOIN.split(side)
    total = _term_number(case, first, whole_text)
    for sign, term in zip(rest[::2], rest[1::2], strict=True):
        number = _term_number(case, term, whole_text)
        total = None if total is None or number is None else _JOINS[sign](total, number)
    return total


def _unlike(case: Case, one: str, other: str) -> bool:
    texts = term_value(case, one), term_value(case, other)
    return None not in texts and UNKNOWN not in texts and texts[0] != texts[1]


def _of_several(case: Case, term: str) -> list[int]:
    """The numbers of an option or a variable that has several, or of a list at a key of an option that is JSON."""
    flag, _, path = term.partition(".")
    place = case.option(flag) if flag.startswith("-") else None
    value = place.value if place is not None and not path else _at_key(case, flag, path)
    if flag.startswith("$"):
        value = (term_value(case, flag) or UNKNOWN).replace(",", " ")
    words = value if isinstance(value, list | tuple) else str(value).split()
    numbers = [whole(str(word)) for word in words]
    known = [number for number in numbers if number is not None]
    return known if len(known) == len(numbers) else []


def _term_number(case: Case, term: str, whole_text: bool) -> int | None:
    """What is not given is what the engine takes by itself only where nothing more can be given."""
    if several := _SEVERAL.fullmatch(term):
        numbers = _of_several(case, several[2])
        return _OF_SEVERAL[several[1]](numbers) if numbers else None
    name, _, default = term.partition("|")
    if name in _SIZES and not whole_text and case.option(case.engine.command_line.options.get(name, "")) is None:
        return None
    value = term_value(case, name)
    if value is None:
        value = default if whole_text else UNKNOWN
    number = vllm_tokens(value)
    return None if number is None or number < 0 else number


def term_value(case: Case, term: str) -> str | None:
    """As text; None where it is not there."""
    if term == _CONTEXT:
        return _context(case)
    if term == _LAYERS:
        return str(case.checkpoint.architecture.layers) if case.checkpoint is not None else UNKNOWN
    if term == _MACHINE:
        known = case.cluster
        return UNKNOWN if known is None or known.nodes > 1 else str(max(known.per_node, known.device.per_node))
    if term in _SIZES:
        return str(getattr(case.first.layout, term)) if case.laid_out else UNKNOWN
    if whole(term) is not None:
        return term
    if term.startswith("$"):
        word = case.commands[0].env.get(term[1:])
        text = case.variable(term[1:])
        return None if word is None else UNKNOWN if unresolved(text) else text
    flag, _, path = term.partition(".")
    place = _place(case, flag)
    if place is None:
        return None
    if place.problem == "unexpected-value":
        return UNKNOWN  # `--enable-expert-parallel=${switch}`: whether it is meant to be on is not known
    return _inner(case, flag, path) if path else written_with_dots(case, place) or _text(place.value)


def _counts_twice(row: StartRefusal, case: Case) -> bool:
    """Whether two options that the row asks for are one in the command: former names of it."""
    terms = {term.partition(".")[0] for term in row.given if term.startswith("-")}
    met = [next((place for name in any_of(term) if (place := _place(case, name))), None) for term in terms]
    places = [place.index for place in met if place is not None]
    return len(places) != len({*places})


def _place(case: Case, flag: str) -> Occurrence | None:
    """Where the option stands, or one that it was renamed from or to."""
    names = (flag, *same_options(case.engine.program).get(flag, ()))
    return next((place for name in names if (place := case.option(name)) is not None), None)


def _context(case: Case) -> str:
    """The tokens of a sequence: what is asked for, or else what config.json of a model that is known has."""
    if CONTEXT in case.unknown:
        return UNKNOWN
    asked = case.first.settings.max_model_len
    if asked is None and case.checkpoint is not None:
        asked = case.checkpoint.architecture.max_context
    return UNKNOWN if asked is None else str(asked)


def _inner(case: Case, flag: str, path: str) -> str | None:
    value = _at_key(case, flag, path)
    return value if value is None or value == UNKNOWN else _text(value)


def _at_key(case: Case, flag: str, path: str) -> object:
    """What stands at a key of an option that is JSON, and may be written with dots."""
    value: object = case.first.parsed.values.get(flag.removeprefix("--").replace("-", "_"))
    if isinstance(value, str):
        value = as_json(value.strip("'"))
    if not isinstance(value, Mapping):
        return UNKNOWN
    for key in path.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value


def _text(value: object) -> str:
    if isinstance(value, tuple) and len(value) == 1:
        (value,) = value
    if isinstance(value, bool):
        return str(value).casefold()
    if isinstance(value, int | float | str):
        text = str(value).strip("'\"")
        return UNKNOWN if unresolved(text) else text
    return "given" if value else UNKNOWN
