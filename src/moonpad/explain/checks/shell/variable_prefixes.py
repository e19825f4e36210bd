"""Variables of another engine, and an engine's own without their first word or without one in between."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.known_reports import KnownReport, reports_of
from moonpad.catalog.known_variables import library_variables
from moonpad.catalog.options import ever_known_environment, known_environment, newest
from moonpad.engines.foreign_names import EXPERTS_BY_VARIABLE, OF_OTHER_ENGINE, OWN_VARIABLES
from moonpad.engines.program_words import IMAGE_OF_AMD
from moonpad.explain.checks.check_case import Case
from moonpad.explain.longer_names import with_one_word_more
from moonpad.explain.results import Remark
from moonpad.explain.shell.own_lines import numbered
from moonpad.values.finding import Code, Finding, Severity

_LEAST: Final = 2
"""Underscores of a name that is long enough to be none of the text's own."""
_MOST: Final = 3


def variable_prefix(case: Case) -> Iterator[Remark]:
    """`NIXL_SIDE_CHANNEL_HOST` for the engine's own name of it, `VLLM_USE_AITER`, `SGLANG_…` for another engine."""
    if case.base != EXPERTS_BY_VARIABLE or case.commands[0].more:
        return
    program = case.engine.program
    declared = known_environment(program, case.version or newest(program))
    libraries, said = library_variables(), 0
    for name in case.commands[0].env:
        if name in declared or name in libraries or said == _MOST:
            continue
        meant, message = "", ""
        own = OWN_VARIABLES[0]
        if name.count("_") >= _LEAST and f"{own}{name}" in declared and not _is_used(name, case):
            meant = f"{own}{name}"
            message = f"nothing reads this variable: the engine's own is called {meant}"
        elif case.version and name.startswith(own) and not is_anybodys(name, case) and not _is_used(name, case):
            meant = with_one_word_more(name, declared) or _by_one_word(name, declared)
            message = f"no release declares this variable, and nothing reads it: {meant} is one"
        elif name.startswith(OF_OTHER_ENGINE) and not _speaks_of_other(case):
            message = "this variable is another engine's, and this one does not read it"
        if message and (meant or name.startswith(OF_OTHER_ENGINE)):
            said += 1
            remedy = f"write {meant}" if meant else "leave it out"
            finding = Finding(Severity.WARNING, Code.DEAD_ENV, name, message, remedy)
            yield Remark(finding, command=None, variable=name)


def _by_one_word(name: str, declared: frozenset[str]) -> str:
    """The same of a name of three words, where one alone is longer."""
    first, _, rest = name.partition("_")
    longer = re.compile(rf"{re.escape(first)}_[A-Z0-9]+_{re.escape(rest)}")
    fitting = [known for known in declared if longer.fullmatch(known)] if rest.count("_") else []
    return fitting[0] if len(fitting) == 1 else ""


def is_anybodys(name: str, case: Case) -> bool:
    """Whether a release declares it, the catalogue speaks of it, or the image is one of AMD's, whose builds read
    variables of their own."""
    container, program = case.commands[0].container, case.engine.program
    if container is not None and container.image is not None and IMAGE_OF_AMD.search(container.image.text):
        return True
    declared = name in ever_known_environment(program)
    return declared or any(name in _names_of(row) for row in reports_of(case.engine.name))


def _names_of(row: KnownReport) -> str:
    return " ".join((*row.variables, *row.unset, row.remedy))


def _is_used(name: str, case: Case) -> bool:
    """Whether the text reads it itself."""
    used = re.compile(rf"\$\{{?{re.escape(name)}\b|environ\S*{re.escape(name)}|getenv\S*{re.escape(name)}")
    return any(used.search(text) for _, text in numbered(case.script, 1, len(case.script.lines)))


def _speaks_of_other(case: Case) -> bool:
    """Whether the text starts the other engine too, for which it may be set."""
    word = re.compile(OF_OTHER_ENGINE[0].rstrip("_"))
    lines = (text for _, text in numbered(case.script, 1, len(case.script.lines)))
    small = OF_OTHER_ENGINE[0].rstrip("_").lower()
    return any(small in text or (word.search(text) and "_" not in text) for text in lines)
