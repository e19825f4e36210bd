"""The sections of a router's file of presets, where the text shows it beside the command that reads it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from moonpad.catalog.options import OptionSet, option_set
from moonpad.catalog.preset_files import PresetFile, preset_files
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_HEAD: Final = re.compile(r"[ \t]{0,4}\[[ \t]*(?P<name>[^\]\[]{1,200}?)[ \t]*\][ \t]*(?:[;#].*)?")
_ENTRY: Final = re.compile(r"[ \t]{0,4}(?P<key>[A-Za-z_][\w.-]{0,80})[ \t]*=[ \t]*(?P<value>.{0,1000}?)[ \t]*")
_BETWEEN: Final = re.compile(r"[ \t]*(?:[;#].*)?")
_CUT: Final = re.compile(r"(?<=[^\s;#])[;#](?=[^\s;#])")
_QUOTED: Final = re.compile(r"(?P<sign>[\"'])[^\"']+(?P=sign)")
_UNITS: Final = frozenset({"unit", "service", "install", "container", "build-system", "project"})
_ALL: Final = "*"
_ALIKE: Final = 0.88
_MOST: Final = 200


class _Section(Struct, frozen=True):
    name: str
    entries: tuple[tuple[int, str, str], ...]
    """Line, key and value of each."""


def preset_key(case: Case) -> Iterator[Remark]:
    """A key without an option of its name ends the start: the misspelled, not those another build may know."""
    for row, options, at, sections in _read(case):
        for section in sections:
            for line, key, _ in section.entries:
                if key in row.own or _option(options, key) or key.isupper():
                    continue
                right = key.replace("_", "-")
                if not _option(options, right):
                    names = [name.lstrip("-") for option in options.options for name in option.names]
                    right = next(iter(difflib.get_close_matches(key, names, n=1, cutoff=_ALIKE)), "")
                if not right:
                    continue
                message = f"the preset {shortened(section.name)} has a key {key} ({case.script.where(line)}), "
                message += "which is no option: the start ends (option not recognized in preset)"
                yield make_remark(Severity.WARNING, Code.UNKNOWN_FLAG, row.option, message, f"write {right} =", at=at)
                return


def preset_value(case: Case) -> Iterator[Remark]:
    """Quotes belong to the value, and a semicolon ends it."""
    for row, options, at, sections in _read(case):
        sources = {name.lstrip("-") for flag in row.sources for name in _names(options, flag)}
        for section in sections:
            for line, key, value in section.entries:
                where = f"{key} of the preset {shortened(section.name)} ({case.script.where(line)})"
                if key in sources and _QUOTED.fullmatch(value):
                    message = f"{where} is read with its quotation marks: no file has that name"
                    remedy = f"write {key} = {shortened(value[1:-1], 60)}"
                elif _option(options, key) and (cut := _CUT.search(value)) and not value.startswith(("{", "http")):
                    message = f"{where} is read up to the {cut.group()}, which begins a comment: "
                    message += shortened(value[: cut.start()])
                    remedy = "give this option on the command line"
                else:
                    continue
                yield make_remark(Severity.WARNING, Code.INVALID_VALUE, row.option, message, remedy, at=at)
                return


def preset_source(case: Case) -> Iterator[Remark]:
    """Of a section that is called like a repository, the name says where the weights are."""
    for row, options, at, sections in _read(case):
        if any(case.option(flag) is not None for flag in row.beside):
            continue
        sources = {name.lstrip("-") for flag in row.sources for name in _names(options, flag)}
        for section in sections:
            keys = {key for _, key, _ in section.entries}
            if section.name == _ALL or "/" in section.name or keys & sources or unresolved(section.name):
                continue
            if any(key.isupper() or not (key in row.own or _option(options, key)) for key in keys):
                continue
            message = f"the preset {shortened(section.name)} does not say where its model is: asked for it, the router "
            message += "starts another router, and the model stays loading"
            remedy = f"add {row.sources[0].lstrip('-')} = or hf-repo = to the section, or take it out"
            yield make_remark(Severity.WARNING, Code.MISSING_FLAG, row.option, message, remedy, at=at)
            return


def _read(case: Case) -> Iterator[tuple[PresetFile, OptionSet, int, tuple[_Section, ...]]]:
    for row in preset_files().values():
        place = case.option(row.option) if case.engine.name in row.engines else None
        options = option_set(case.engine.program, case.version or None)
        if place is None or options is None:
            continue
        case.script.budget.work(len(case.script.lines), "the lines of its presets")
        yield row, options, place.index, tuple(_sections(case, options))


def _sections(case: Case, options: OptionSet) -> Iterator[_Section]:
    """Those of which most keys are options."""
    name, entries = "", list[tuple[int, str, str]]()
    for number, line in enumerate((*case.script.lines, "[end]"), 1):
        head = _HEAD.fullmatch(line[:_MOST])
        entry = _ENTRY.fullmatch(line) if name and head is None else None
        if entry is not None and len(entries) < _MOST:
            entries.append((number, entry["key"], _without_comment(entry["value"])))
        elif head is not None or not _BETWEEN.fullmatch(line):
            known = sum(1 for _, key, _ in entries if _option(options, key))
            if name and entries and known * 2 >= len(entries) and name.lower() not in _UNITS:
                yield _Section(name, tuple(entries))
            name, entries = (head["name"], []) if head is not None else ("", [])


def _without_comment(value: str) -> str:
    return re.split(r"(?:^|[ \t])[;#]", value, maxsplit=1)[0].rstrip()


def _option(options: OptionSet, key: str) -> bool:
    return options.named(f"--{key}") is not None or options.named(f"-{key}") is not None


def _names(options: OptionSet, flag: str) -> tuple[str, ...]:
    option = options.named(flag)
    return option.names if option is not None else (flag,)


PRESET_CHECKS: Final = (preset_key, preset_value, preset_source)
