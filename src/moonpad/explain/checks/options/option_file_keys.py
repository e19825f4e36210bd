"""Keys of an engine's option file that its release does not have, words that a key takes in other releases, and what a
release refuses together."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final

from moonpad.catalog.option_file_values import OptionFileRefusal, option_file_refusals
from moonpad.catalog.options import changes, newest
from moonpad.catalog.options.config_keys import Lacking, key_history, key_tables, lacking_key, lacking_word
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.options.option_file_values import of_the_file
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.versions import order, since

_KINDS: Final = ("decoding_type", "algorithm")
"""Keys whose word says which keys the others of the same table are."""
_RECORDED_BACKENDS: Final = frozenset({"", "null", "pytorch"})
"""With another one the file has the keys of another class."""
_ALIKE: Final = 0.8
_LEAST: Final = 8
"""Letters of a key that is found in another table: shorter ones are anyone's."""
_MOST: Final = 200
_STATE: Final = ".dev0"
"""Of the main branch on its way to a release: what it has, the release has."""


def keys_of_release(case: Case) -> Iterator[Remark]:
    """A key that the release does not have ends the start."""
    options, at = of_the_file(case)
    program = case.engine.program
    if case.commands[0].program != program or not _is_recorded(case, options):
        return
    told = {change.flag for change in changes(program, case.version or newest(program))}
    version = case.version or newest(program)
    for path, value in list(options.items())[:_MOST]:
        table, _, key = path.rpartition(".")
        if unresolved(key) or path in told or table in told:
            continue
        lacking = lacking_key(program, _table(table, options), key, version)
        if lacking is not None and (remark := _unknown(case, path, lacking, at)):
            told.add(path)
            yield remark
        elif (place := _elsewhere(program, _table(table, options), key)) is not None:
            told.add(path)
            yield _misplaced(case, path, place, at)
        elif lacking is None and (word := lacking_word(program, path, value, version)) and case.version:
            yield from _word(case, path, value, word, at)


def _is_recorded(case: Case, options: Mapping[str, str]) -> bool:
    return options.get("backend", "") in _RECORDED_BACKENDS and case.text("--backend") in _RECORDED_BACKENDS


def _table(table: str, options: Mapping[str, str]) -> str:
    """`speculative_config:Eagle`, where the file says which kind it is."""
    kind = next((options[f"{table}.{name}"] for name in _KINDS if f"{table}.{name}" in options), "")
    return f"{table}:{kind}" if table and kind else table


def _unknown(case: Case, path: str, lacking: Lacking, at: int | None) -> Remark | None:
    """What no record has is told only where it looks like a slip; without a release, nothing that any record has."""
    table, _, key = path.rpartition(".")
    near = next(iter(difflib.get_close_matches(key[:80], lacking.others, n=1, cutoff=_ALIKE)), None)
    if near is None and case.version:  # without a release an older name may be meant
        near = next((other for other in lacking.others if _words_of(other) == _words_of(key[:80])), None)
    if not lacking.first and not near and (not case.version or _elsewhere(case.engine.program, table, key) is not None):
        return None
    if (lacking.first and not case.version) or key in _KINDS:
        return None
    span = _span(lacking, "have") or ("" if near else ", and no other that was read has it")
    what = f"{table or 'the file'} has no key {shortened(key)}{span}"
    message = f"{_label(case)}: {what}: the start ends in a ValidationError"
    remedy = f"did you mean {near}?" if near else "leave it out, or take a release that has it"
    code = Code.REMOVED_FLAG if lacking.first else Code.UNKNOWN_FLAG
    severity = Severity.ERROR if lacking.exact and case.version and (lacking.first or near) else Severity.WARNING
    return make_remark(severity, code, path, message, remedy, at=at)


def _elsewhere(program: str, table: str, key: str) -> str | None:
    """The one table that has the key in any release, where its own is recorded and has it in none."""
    tables = key_tables(program)
    if table not in tables or key in _KINDS or key_history(program, table, key):
        return None
    places = [name for name, keys in tables.items() if key in keys and ":" not in name]
    return places[0] if len(places) == 1 and len(key) >= _LEAST else None


def _misplaced(case: Case, path: str, place: str, at: int | None) -> Remark:
    table, _, key = path.rpartition(".")
    own = place or "the top of the file"
    message = (
        f"{key} is a key of {own} and not of {table or 'the top of the file'}: the start ends in a ValidationError"
    )
    return make_remark(Severity.WARNING, Code.UNKNOWN_FLAG, path, message, f"write it in {own}", at=at)


def _words_of(key: str) -> tuple[str, ...]:
    """`padding_enabled` and `enable_padding` are of the same words."""
    return tuple(sorted(word.removesuffix("d") for word in key.split("_")))


def _word(case: Case, path: str, value: str, lacking: Lacking, at: int | None) -> Iterator[Remark]:
    """Of a word that none takes, the values of the option file tell."""
    if lacking.first and not unresolved(value):
        message = f"{_label(case)}: {path} does not take {shortened(value)}{_span(lacking, 'take')}"
        yield _remark(case, lacking)(Code.INVALID_VALUE, path, message, "take another value or release", at=at)


def _remark(case: Case, lacking: Lacking) -> partial[Remark]:
    return partial(make_remark, Severity.ERROR if lacking.exact and case.version else Severity.WARNING)


def _span(lacking: Lacking, have: str) -> str:
    first, last = (version.removesuffix(_STATE) for version in (lacking.first, lacking.last))
    if not first:
        return ""
    return f", which releases about {first} {have}" if first == last else f", which {first} to {last} {have}"


def _label(case: Case) -> str:
    return f"{case.engine.facts.title} {case.version}".strip()


def refused_of_file(case: Case) -> Iterator[Remark]:
    """A warning: which release was the first to refuse it is not known exactly."""
    options, at = of_the_file(case)
    if not options or not _is_recorded(case, options):
        return
    for row in option_file_refusals().values():
        if case.engine.name in row.engines and _of_release(row, case.version) and _meets(row, options):
            code = Code.MISSING_FLAG if row.lacks else Code.CONFLICT
            yield make_remark(Severity.WARNING, code, next(iter(row.given)), row.message, row.remedy, at=at)


def _of_release(row: OptionFileRefusal, version: str) -> bool:
    """Without a release the newest is meant."""
    if not version:
        return not row.until
    return since(version, row.since) and (not row.until or order(version) < order(row.until))


def _meets(row: OptionFileRefusal, options: Mapping[str, str]) -> bool:
    for key, pattern in row.given.items():
        value = options.get(key)
        if value is None or unresolved(value) or (pattern and not re.fullmatch(pattern, value[:_MOST])):
            return False
    return not any(key in options for key in row.lacks)


OPTION_FILE_KEY_CHECKS: Final = (keys_of_release, refused_of_file)
