"""What the engine's own start refuses: catalog/start_refusals.py.

A term whose value is not known meets no row, neither as one that is there nor as one that is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from moonpad.catalog.options import known_environment, newest, versions
from moonpad.catalog.other_models import other_model
from moonpad.catalog.start_refusals import StartRefusal, start_refusals
from moonpad.catalog.toml_rows import any_of, pattern_of
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.command_traits import has_started
from moonpad.explain.checks.given_names import given_names
from moonpad.explain.checks.models.parser_families import family_of, own_parser
from moonpad.explain.checks.models.quantization_flags import weights_of
from moonpad.explain.checks.releases.error_agreement import is_logged
from moonpad.explain.checks.releases.first_releases import has_no_model_before
from moonpad.explain.checks.releases.term_values import COMPARES, UNKNOWN, are_unlike, pair_of, place_of, term_value
from moonpad.explain.checks.set_elsewhere import may_be_set
from moonpad.explain.checks.whole_texts import is_long_list, is_whole
from moonpad.explain.equal_options import equal_term
from moonpad.explain.flag_lists import has_own_options, is_fragment, is_with_its_variables
from moonpad.explain.results import Edit, Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace
from moonpad.values.versions import is_final, order, release_of, since

_OFF: Final = "false"
"""The value of `--enable-prefix-caching` where `--no-enable-prefix-caching` is written, so that it is lacking."""
_LEAVE: Final = "leave it out"
_LONGEST: Final = 2000
_OF_MACHINES: Final = frozenset({"--dist-init-addr", "--master-addr", "--data-parallel-address"})
"""What the template of a chart writes, since its values cannot know the address."""
RECENT: Final = 12
"""Releases that may still run where none is named."""
OTHERS: Final = "--headless"
"""The option of machines other than the first."""
_OF_FAMILY: Final = " with the parser of the model's family"


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
    whole_list = bool(found) and is_long_list(case)
    told = not case.open_ended and is_with_its_variables(case.commands[0], case.script)
    asked = [
        row
        for row in found
        if whole_text or whole_list or all(told and name[0] == "$" for name in _not_told(row, case))
    ]
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


def _not_told(row: StartRefusal, case: Case) -> Iterator[str]:
    """What has to be absent, unless the command itself switches it off: another option may still bring it."""
    yield from row.unless
    yield from (term for term in row.lacks if _value(case, term, row) != _OFF)


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
    if any(_value(case, term, row) not in (None, _OFF) for term in row.lacks) or not _of_weights(row, case):
        return None
    if row.add and {*row.add} <= {word.text for word in command.argv}:
        return None  # `--no-async-scheduling` is there already
    if command.custom and not _OF_MACHINES.isdisjoint(row.lacks):
        return None
    variables = [term.removeprefix("$") for term in row.lacks if term.startswith("$")]
    if variables and may_be_set(case, variables):
        return None
    if any(_kept_away(case, term, pattern) for term, pattern in row.unless.items()):
        return None
    pairs = [pair_of(case, comparison, whole_text) for comparison in row.when]
    if any(pair is None or not COMPARES[pair[1]](pair[0], pair[2]) for pair in pairs):
        return None
    if not all(are_unlike(case, *terms.split(" ")) for terms in row.unlike):
        return None
    where = row.where or next(iter((*row.given, *(each.partition(" ")[0] for each in row.when))))
    meant = next((name for name in any_of(where) if term_value(case, name) is not None), where)
    flag = re.split(r"[.|*+/]", meant)[0]
    place = place_of(case, flag) if flag.startswith("-") else None
    left, right = (pairs[0][0], pairs[0][2]) if pairs and pairs[0] is not None else (0, 0)
    message = row.message.format(left=left, right=right)
    former = not case.version and bool(row.until)
    if former and not message.startswith(f"before {row.until} "):
        message = f"in releases before {row.until}: {message}"
    code, remedy = Code(row.code), _by_name(row.remedy.format(left=left, right=right), case)
    severity = Severity.ERROR if _sure(row, case) and not row.warns and _known(row, case) else Severity.WARNING
    severity = Severity.NOTE if former or command.fork else severity
    edits = [Edit(len(command.argv), 0, row.add)] if row.add else []
    if place is not None and any(_value(case, term, row) == _OFF for term in row.lacks):
        # Who switches off what is needed does not want it.
        edits = [Edit(place.index, place.length, ())] if _LEAVE in remedy else []
    elif row.drop and place is not None:
        edits.append(Edit(place.index, place.length, ()))
    shown, at = flag.lstrip("$"), place.index if place is not None else None
    of_newest = severity is Severity.WARNING and not row.warns and _is_of_newest(row, case)
    if severity is not Severity.ERROR and not of_newest:
        edits = []
    remark = make_remark(severity, code, shown, message, remedy, at=at, edits=edits)
    remark = replace(remark, ends_start=of_newest, unmeant=row.warns and (bool(case.version) or not row.until))
    return replace(remark, variable=shown) if flag.startswith("$") else remark


def _by_name(remedy: str, case: Case) -> str:
    """The parser that the model's family has, where the remedy only speaks of it."""
    name = case.checkpoint.name if case.checkpoint is not None else case.model_named
    if _OF_FAMILY not in remedy or not name or not family_of(name):
        return remedy
    return remedy.replace(_OF_FAMILY, f" {own_parser(name)}")


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


def _counts_twice(row: StartRefusal, case: Case) -> bool:
    """Whether two options that the row asks for are one in the command: former names of it."""
    terms = {term.partition(".")[0] for term in row.given if term.startswith("-")}
    met = [next((place for name in any_of(term) if (place := place_of(case, name))), None) for term in terms]
    places = [place.index for place in met if place is not None]
    return len(places) != len({*places})
