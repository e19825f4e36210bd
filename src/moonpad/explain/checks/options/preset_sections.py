"""The sections of a router's file of presets, where the text shows it beside the command that reads it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.options import OptionSet, option_set
from moonpad.catalog.preset_files import PresetFile, preset_files
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.preset_text import ALL, Section, is_option, sections, source_keys
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_CUT: Final = re.compile(r"(?<=[^\s;#])[;#](?=[^\s;#])")
_QUOTED: Final = re.compile(r"(?P<sign>[\"'])[^\"']+(?P=sign)")
_ALIKE: Final = 0.88


def preset_key(case: Case) -> Iterator[Remark]:
    """A key without an option of its name ends the start: the misspelled, not those another build may know."""
    for row, options, at, found in _read(case):
        for section in found:
            for line, key, _ in section.entries:
                if key in row.own or is_option(options, key) or key.isupper():
                    continue
                right = key.replace("_", "-")
                if not is_option(options, right):
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
    for row, options, at, found in _read(case):
        sources = source_keys(row, options)
        for section in found:
            for line, key, value in section.entries:
                where = f"{key} of the preset {shortened(section.name)} ({case.script.where(line)})"
                if key in sources and _QUOTED.fullmatch(value):
                    message = f"{where} is read with its quotation marks: no file has that name"
                    remedy = f"write {key} = {shortened(value[1:-1], 60)}"
                elif is_option(options, key) and (cut := _CUT.search(value)) and not value.startswith(("{", "http")):
                    message = f"{where} is read up to the {cut.group()}, which begins a comment: "
                    message += shortened(value[: cut.start()])
                    remedy = "give this option on the command line"
                else:
                    continue
                yield make_remark(Severity.WARNING, Code.INVALID_VALUE, row.option, message, remedy, at=at)
                return


def preset_source(case: Case) -> Iterator[Remark]:
    """Of a section that is called like a repository, the name says where the weights are."""
    for row, options, at, found in _read(case):
        if any(case.option(flag) is not None for flag in row.beside):
            continue
        sources = source_keys(row, options)
        for section in found:
            keys = {key for _, key, _ in section.entries}
            if section.name == ALL or "/" in section.name or keys & sources or unresolved(section.name):
                continue
            if any(key.isupper() or not (key in row.own or is_option(options, key)) for key in keys):
                continue
            message = f"the preset {shortened(section.name)} does not say where its model is: asked for it, the router "
            message += "starts another router, and the model stays loading"
            remedy = f"add {row.sources[0].lstrip('-')} = or hf-repo = to the section, or take it out"
            yield make_remark(Severity.WARNING, Code.MISSING_FLAG, row.option, message, remedy, at=at)
            return


def _read(case: Case) -> Iterator[tuple[PresetFile, OptionSet, int, tuple[Section, ...]]]:
    for row in preset_files().values():
        place = case.option(row.option) if case.engine.name in row.engines else None
        options = option_set(case.engine.program, case.version or None)
        if place is None or options is None:
            continue
        case.script.budget.work(len(case.script.lines), "the lines of its presets")
        yield row, options, place.index, tuple(sections(case.script.lines, options))


PRESET_CHECKS: Final = (preset_key, preset_value, preset_source)
