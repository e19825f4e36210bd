"""Names of backends, connectors, methods and formats that the release does not have: data/registered_names.toml."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher, get_close_matches
from typing import Final

from moonpad.catalog.options.sets import base_version
from moonpad.catalog.registered_names import Register, registers
from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.value_checks import as_json, unresolved
from moonpad.explain.builds import unnumbered_image
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.command_traits import has_started
from moonpad.explain.checks.releases.term_values import UNKNOWN, term_value
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.versions import is_final, order

_PATH: Final = "PYTHONPATH"
"""With it sources of one's own are laid over the release."""
_OF_DEVICE: Final = re.compile(r"_[A-Z]*\d{2,}\w*$")
_LIKE: Final = 0.8
_LIKE_WORD: Final = 0.5
_LONGEST: Final = 80
_MOST: Final = 8


_OWN_BUILD: Final = ", unless it is somebody's own build"


def of_own_build(case: Case) -> bool:
    """Whether a value is named that only a build of one's own can have. Such a build may bring kernels that pad what a
    release cannot share out."""
    return any(remark.finding.message.endswith(_OWN_BUILD) for remark in registered_name(case))


def registered_name(case: Case) -> Iterator[Remark]:
    """A name that the engine looks up when it starts, in vain."""
    command = case.commands[0]
    if command.fork or has_started(command, by_words=True):
        return
    for row in registers().values():
        if case.engine.name not in row.engines or any(term_value(case, term) is not None for term in row.without):
            continue
        for term in row.terms:
            written = term_value(case, term)
            if written is None or written == UNKNOWN or not 0 < len(written) < _LONGEST:
                continue
            yield from _remarks(case, row, term, written)
        for path in row.lists:
            for written in _in_list(case, path)[:_MOST]:
                yield from _remarks(case, row, path, written)


def _in_list(case: Case, path: str) -> list[str]:
    """What stands at the last key of each table of a list; a table that names a module of its own is left out."""
    flag, *keys = path.split(".")
    value: object = case.first.parsed.values.get(flag.removeprefix("--").replace("-", "_"))
    value = as_json(value.strip("'")) if isinstance(value, str) else value
    for key in keys[:-1]:
        value = value.get(key) if isinstance(value, Mapping) else None
    tables = [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []
    found = [each.get(keys[-1]) for each in tables if f"{keys[-1]}_module_path" not in each]
    return [each for each in found if isinstance(each, str) and 0 < len(each) < _LONGEST and not unresolved(each)]


def _remarks(case: Case, row: Register, term: str, written: str) -> Iterator[Remark]:
    name = written.upper() if row.any_case else written
    if name.casefold() in row.also or (row.by_path and ("." in name or ":" in name)):
        return
    own = case.engine.name == case.base
    span, version = row.span(name), case.version if own else base_version(case.engine.program, case.version)
    if version and (not is_final(version) or row.neighbours(version) is None):
        return
    if span is not None and (not version or _may_have(row, span, version)):
        return
    flag = term.partition(".")[0]
    place, title = case.option(flag), case.engine.facts.title
    release = f"{title} {case.version}" if case.version else title
    message = f"{release} has no {row.what} named {shortened(written)}"
    remedy, edits = row.remedy, tuple[Edit, ...]()
    if span is not None and order(span[0]) > order(version):
        message, remedy = f"{message}: {span[0]} has it", f"take {span[0]} or later, or {row.remedy}"
    elif span is not None:
        message = f"{message}: {span[1]} is the last that has it"
    meant = row.instead.get(name, "")
    never = bool(meant) and row.never
    known_names = row.names(version or row.read[-1])
    near = [meant] if meant else get_close_matches(name, known_names, 1, _LIKE)
    if near and (span is None or meant) and near[0] in known_names and (meant or _is_slip(name, near[0])):
        remedy = f"write {near[0]}"
        edits = _renamed(place, written, near[0]) if (version or never) and own else ()
    elif span is None and not version:
        message = f"{message}{_OWN_BUILD}"
    of_others = is_fragment(case.commands[0]) or case.commands[0].custom or "+" in version  # a build with changes
    of_others = of_others or unnumbered_image(case.commands[0]) != ""
    sure = (bool(version) or never) and not of_others and own  # a plugin may add names
    # `FLASH_ATTN_V100`: what is called after a name of the release may be of a build that adds to it.
    called_after = any(name.startswith(f"{each}_") for each in known_names)
    variant = span is None and called_after and _OF_DEVICE.search(name) is not None
    known = never or (row.closed and not variant) or (span is not None and not row.comes_back)
    severity = Severity.ERROR if sure and known else Severity.WARNING
    if message.endswith(_OWN_BUILD) and _PATH in case.commands[0].env:
        severity, remedy = Severity.NOTE, f"nothing to do where what {_PATH} names brings it; else {row.remedy}"
    at = place.index if place else None
    yield make_remark(severity, Code.INVALID_VALUE, flag, message, remedy, at=at, edits=edits)


def _renamed(place: Occurrence | None, written: str, name: str) -> tuple[Edit, ...]:
    """The option with the name that is meant, as its value or at a key of its JSON."""
    value = place.value if place is not None else None
    if place is None or not isinstance(value, str) or place.length != 2:
        return ()
    text = name if value == written else value.replace(f'"{written}"', f'"{name}"')
    return (Edit(place.index, place.length, (place.written, text)),) if text != value else ()


def _is_slip(written: str, name: str) -> bool:
    """Whether letters differ, not a whole word: `B12X_MLA_SPARSE` is not a slip in `XPU_MLA_SPARSE`."""
    words = list(zip(written.split("_"), name.split("_"), strict=False))
    return all(SequenceMatcher(None, *pair).ratio() >= _LIKE_WORD for pair in words if pair[0] != pair[1])


def _may_have(row: Register, span: tuple[str, str], version: str) -> bool:
    first, last = order(span[0]), order(span[1])
    return any(first <= order(each) <= last for each in row.neighbours(version) or ())
