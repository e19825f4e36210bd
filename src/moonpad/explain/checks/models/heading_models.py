"""Commands of a document against the models that its headings name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
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
_TITLE: Final = re.compile(r"(?P<level>\#{1,6})[ \t]+(?P<title>\S.*)")
_KIND: Final = re.compile(r"(?<=[-_])(?:instruct|thinking)(?![a-z])", re.IGNORECASE)
_OTHER_KIND: Final = {"instruct": "thinking", "thinking": "instruct"}
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


def kind_of_heading(case: Case) -> Iterator[Remark]:
    """Below a heading that names the thinking model a command starts the one for instructions, or the other way, and
    nothing else in the text says the word of that one."""
    script, command = case.script, case.commands[0]
    name = case.first.model.rstrip("/").rpartition("/")[2]
    kind = _KIND.search(name)
    if kind is None or not script.markdown or len(script.lines) > _MOST_LINES or len(script.commands) > _MOST_COMMANDS:
        return
    script.budget.once("titles", 3 * len(script.lines), "its headings")
    other = _OTHER_KIND[kind[0].casefold()]
    meant, own = _spoken(f"{name[: kind.start()]}{other}"), re.compile(rf"(?<![a-z]){kind[0]}(?![a-z])", re.IGNORECASE)
    title = next((each for each in _over(script.lines, command.line) if meant.search(each)), "")
    of_commands = {word.line for each in script.commands for word in each.argv}
    rest = (line for number, line in enumerate(script.lines, 1) if number not in of_commands)
    if not title or any(own.search(line[:_LONGEST]) for line in rest):
        return
    place = next((at for at, word in enumerate(command.argv) if case.first.model in word.text), None)
    message = f"it stands below the heading «{shortened(title, 80)}», and the command starts another model"
    about, remedy = shortened(case.first.model, 80), "write the model of the heading, or name this one there"
    yield replace(make_remark(Severity.WARNING, Code.MODEL_NAME, about, message, remedy, at=place), command=0)


def _over(lines: Sequence[str], line: int) -> Iterator[str]:
    """The headings of the sections that a line is in, the innermost first."""
    level = 7
    for text in reversed(lines[: line - 1]):
        found = _TITLE.match(text[:_LONGEST])
        if found is not None and len(found["level"]) < level:
            level = len(found["level"])
            yield found["title"]


def _spoken(name: str) -> re.Pattern[str]:
    """The name of a model with a blank or a stroke between its parts."""
    parts = map(re.escape, re.split(r"[-_]", name))
    return re.compile(rf"(?<![\w.]){'[-_ ]'.join(parts)}(?![a-z0-9])", re.IGNORECASE)


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
