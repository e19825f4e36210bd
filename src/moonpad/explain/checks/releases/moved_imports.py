"""Imports of a program that the release has elsewhere: ImportError, before anything starts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.catalog.moved_imports import MovedImport, moved_imports
from moonpad.engines import foreign_names as names_of
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace
from moonpad.values.versions import since

_IMPORT: Final = re.compile(r"[ \t>]*from[ \t]+(?P<module>[\w.]+)[ \t]+import[ \t]+(?P<names>\(?[^#]*)")
_PLAIN: Final = re.compile(r"[ \t>]*import[ \t]+(?P<module>[A-Za-z][\w.]*)(?:[ \t]+as[ \t]+\w+)?[ \t]*(?:#.*)?")
_TRIES: Final = re.compile(r"[ \t>]*(?:try|except\b.*|else|(?:el)?if\b.*)[ \t]*:")
_WORD: Final = re.compile(r"\w+")
_LONGEST: Final = 500
_ABOVE: Final = 3
"""Lines above an import in which what guards it stands."""


def moved_import(case: Case) -> Iterator[Remark]:
    """`from package.utils import NAME`, unless the program tries one place after another."""
    rows = [row for row in moved_imports().values() if case.engine.name in row.engines and _of_release(row, case)]
    script = case.script
    if not rows or not is_first_server(case.commands, script):
        return
    script.budget.work(len(script.lines), "its imports")
    lines = [line[:_LONGEST] for line in script.lines]
    for number, line in enumerate(lines, 1):
        match = _IMPORT.match(line)
        if match is None or any(map(_TRIES.match, lines[max(0, number - 1 - _ABOVE) : number - 1])):
            continue
        names = _names(match["names"], lines[number:])
        row = next((row for row in rows if row.module == match["module"] and row.name in names), None)
        if row is None:
            continue
        message = f"{script.where(number)}: {row.module} has no {row.name} from {case.engine.facts.title} {row.since} "
        message += "on: the program ends with an ImportError"
        remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, f"import {row.name}", message, f"write {row.now}")
        yield replace(remark, command=None)
        return


def absent_module(case: Case) -> Iterator[Remark]:
    """`from vLLM.utils import …`: the package is called vllm. A helper of another engine is in none of its modules."""
    script = case.script
    if not is_first_server(case.commands, script):
        return
    script.budget.work(len(script.lines), "its imports")
    lines = [line[:_LONGEST] for line in script.lines]
    for number, line in enumerate(lines, 1):
        match = _IMPORT.match(line) or _PLAIN.fullmatch(line)
        if match is None or any(map(_TRIES.match, lines[max(0, number - 1 - _ABOVE) : number - 1])):
            continue
        package = match["module"].partition(".")[0]
        named = _names(match["names"], lines[number:]) if match.re is _IMPORT else set()
        helper = next(
            (name for name in sorted(named & {*names_of.HELPERS}) if package.casefold() in names_of.PACKAGES), ""
        )
        home = names_of.HELPERS.get(helper, "")
        elsewhere = bool(home) and home.partition(".")[0] != package
        misspelt = package not in names_of.PACKAGES and package.casefold() in names_of.PACKAGES
        if not (elsewhere or misspelt):
            continue
        lacks = f"there is no module {package}" if misspelt else f"{match['module']} has no {helper}"
        message = f"{script.where(number)}: {lacks}: the program ends with an ImportError before it starts anything"
        remedy = f"write {package.casefold()}"
        if elsewhere:
            remedy = f"{helper} is of {home}: start the command by itself, or with subprocess.Popen"
        remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, f"import {package}", message, remedy)
        yield replace(remark, command=None)
        return


def _of_release(row: MovedImport, case: Case) -> bool:
    return not case.version or since(case.version, row.since)


def _names(written: str, below: Sequence[str]) -> set[str]:
    """Of one line, or of several in brackets."""
    if written.startswith("(") and ")" not in written:
        for line in below[:20]:
            written += f" {line.partition('#')[0]}"
            if ")" in line:
                break
    return {
        each.split()[0] for each in written.strip("() ").replace("(", "").replace(")", "").split(",") if each.split()
    }
