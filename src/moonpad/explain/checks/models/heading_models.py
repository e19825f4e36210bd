"""Commands of a document against the models that its headings name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.grouping import value_of
from moonpad.explain.programs import program_named
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_HEADING: Final = re.compile(r"\#{2,6}[ \t]+(?P<title>\S.*)")
_MODEL: Final = ("--model-path", "--model")
_LONGEST: Final = 300
_MOST_LINES: Final = 4000
_SHORTEST: Final = 6
_MOST_COMMANDS: Final = 200


def model_of_heading(case: Case) -> Iterator[Remark]:
    """Below a heading that names one model a command starts that of another heading: it was copied from there."""
    script, command = case.script, case.commands[0]
    if not script.markdown or len(script.lines) > _MOST_LINES or len(script.commands) > _MOST_COMMANDS:
        return
    name = _last(case.first.model)
    if not name:
        return
    script.budget.once("headings", len(script.lines), "its headings")
    titles = _titles(script.lines)
    script.budget.work(len(titles), "its headings")
    own = _above(titles, command.line)
    if not own or _is_in(name, titles[own]):
        return
    elsewhere = next((number for number, title in titles.items() if _is_in(name, title)), 0)
    meant = next((other for other in _beside(case, titles, own) if _is_in(other, titles[own])), "")
    if not elsewhere or not meant:
        return
    place = next((at for at, word in enumerate(command.argv) if case.first.model in word.text), None)
    message = f"it stands below the heading «{shortened(titles[own], 80)}», and {shortened(name, 60)} is the model of "
    message += f"another one, {script.where(elsewhere)}"
    remark = make_remark(
        Severity.WARNING, Code.MODEL_NAME, shortened(case.first.model, 80), message, f"write {meant}", at=place
    )
    yield replace(remark, command=0)


def _beside(case: Case, titles: Mapping[int, str], own: int) -> Iterator[str]:
    """The models of the other servers below the same heading."""
    for other in case.script.commands:
        program = program_named(other.program)
        if program is None or program.kind != "server" or _above(titles, other.line) != own:
            continue
        written = value_of(other.argv, _MODEL)
        text = written.text if written is not None else next((word.text for word in other.argv[:1]), "")
        if other.line != case.commands[0].line and (name := _last(text)):
            yield name


@lru_cache(maxsize=2)
def _titles(lines: tuple[str, ...]) -> Mapping[int, str]:
    matches = ((number, _HEADING.match(line[:_LONGEST])) for number, line in enumerate(lines, 1))
    return {number: match["title"] for number, match in matches if match is not None}


def _above(titles: Mapping[int, str], line: int) -> int:
    return max((number for number in titles if number < line), default=0)


def _last(model: str) -> str:
    """`Qwen3-8B` of a repository or a path; "" for what names no model."""
    name = model.rstrip("/").rpartition("/")[2]
    return name if len(name) >= _SHORTEST and not unresolved(name) and any(map(str.isdigit, name)) else ""


def _is_in(name: str, title: str) -> bool:
    return re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", title, re.IGNORECASE) is not None
