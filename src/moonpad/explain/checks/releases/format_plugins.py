"""Formats of weights that an engine has given away to a package of its own: data/registered_names.toml, `by_plugin`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.registered_names import Register, registers
from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.versions import order, since

_LONGEST: Final = 2000


def format_of_plugin(case: Case) -> Iterator[Remark]:
    """Files that the release reads by a plugin alone, which nothing in the text brings."""
    command = case.commands[0]
    if command.fork or command.custom or is_fragment(command):
        return
    for row in registers().values():
        if case.engine.name in row.engines and row.by_plugin:
            yield from _remarks(case, row)


def _remarks(case: Case, row: Register) -> Iterator[Remark]:
    written = case.model_named[-_LONGEST:]
    for name, package in row.by_plugin.items():
        span = row.span(name)
        # `model.gguf`, or a file of a repository as `owner/name-GGUF:Q4_K_M`.
        by_name = re.search(rf"\.{name}\Z|[-_]{name}:[\w.-]+\Z", written, re.IGNORECASE)
        # Of a path in a variable the options say what it is.
        by_option = "$" in written and name in (case.text("--load-format"), case.text("--quantization"))
        if span is None or not (by_name or by_option):
            continue
        first = next((each for each in row.read if order(each) > order(span[1])), "")
        if not first or (case.version and not since(case.version, first)):
            continue
        case.script.budget.once(f"lines with {package}", len(case.script.lines), "what its text installs")
        if is_in_lines(re.compile(rf"{name}[-_]plugin", re.IGNORECASE), case.script.lines, _LONGEST):
            return
        at = next((at for at, word in enumerate(case.commands[0].argv) if written in word.text), None)
        kind, file = name.upper(), shortened(written.rpartition("/")[2])
        message = f"{case.engine.facts.title} reads {kind} by a plugin alone from {first} on, and without it {file} is"
        message += " no checkpoint: the start ends"
        remedy = f"pip install {package} where it runs, or take {span[1]} or earlier, or other weights"
        yield make_remark(Severity.WARNING, Code.UNSUPPORTED_FORMAT, file, message, remedy, at=at)
