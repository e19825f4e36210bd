"""Lines of a recipe of make or just: each has a shell of its own, and make has its own way to write variables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.starters.foreground import statement
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_TARGET: Final = re.compile(r"[A-Za-z0-9_.%/-][\w.%/$(){} -]*::?(?!=)(?:[ \t][^=]*)?$")
_ONE_SHELL: Final = re.compile(r"[ \t]*\.ONESHELL[ \t]*:")
_BARE: Final = re.compile(r"(?<!\$)(?:\$\$)*\$(?P<name>[A-Za-z_]\w+)")
_LOST: Final = re.compile(
    r"[ \t]*[@+-]*[ \t]*(?:export[ \t]+(?P<name>\w+)=\S*|(?P<other>(?:source|\.|cd|pushd|(?:conda|mamba)[ \t]+activate)"
    r"(?:[ \t]+[^\s;&|]+)?))[ \t]*(?:;[ \t]*)?$"
)
_JUST: Final = re.compile(r"^[a-z_]\w*[ \t]*:=[ \t]*[\"'`]|^set[ \t]+[\w-]+[ \t]*:=")
_JUST_RECIPE: Final = re.compile(r"@?[A-Za-z_][\w-]*(?:[ \t]+[*+$]?\w[^:=\n]*)?:(?!=)[^\"'{]*$")
_LONGEST: Final = 1000
_MOST_LINES: Final = 60


def name_without_brackets(case: Case) -> Iterator[Remark]:
    """`vllm serve $MODEL` in a Makefile: make reads `$M`, and `ODEL` behind it."""
    recipe = _recipe_of_make(case)
    if not recipe:
        return
    _, last = statement(case)
    for number in range(recipe[0], last + 1):
        match = _BARE.search(case.script.lines[number - 1][:_LONGEST])
        if match is None:
            continue
        name = match["name"]
        message = f"{case.script.where(number)}: make takes one letter behind $: ${name} becomes the value of "
        message += f"{name[0]}, and {name[1:]} behind it"
        remedy = f"write $({name}), or $${name} where the shell has it"
        remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, f"${name}", message, remedy)
        yield replace(remark, command=None)
        return


def lost_between_lines(case: Case) -> Iterator[Remark]:
    """`export A=1`, `cd DIR` or `source venv/bin/activate` on a line of its own above the server's."""
    recipe, tool = _recipe_of_make(case), "make"
    if not recipe:
        recipe, tool = _recipe_of_just(case), "just"
    for number in recipe:
        match = _LOST.match(case.script.lines[number - 1][:_LONGEST])
        if match is None or number >= case.commands[0].line or case.script.lines[number - 2].rstrip().endswith("\\"):
            continue
        what = match["name"] or match["other"].split()[0]
        message = f"{case.script.where(number)}: {tool} gives each line of a recipe a shell of its own: what {what} "
        message += "sets here is gone in the line that starts the server"
        remedy = "join them by && \\" if tool == "just" else "join them by && \\, or write .ONESHELL: above"
        if tool == "just":
            remedy += ", or begin the recipe with #!/usr/bin/env bash"
        remark = make_remark(Severity.WARNING, Code.DEAD_ENV, what, message, remedy)
        yield replace(remark, command=None)
        return


def _recipe_of_make(case: Case) -> Sequence[int]:
    """The lines of the recipe in which the server is started, up to it; none where all have one shell."""
    lines, own = case.script.lines, case.commands[0].line
    if not 0 < own <= len(lines) or not lines[own - 1].startswith("\t"):
        return ()
    if is_in_lines(_ONE_SHELL, lines, _LONGEST):
        return ()
    first = own
    while first > 1 and own - first < _MOST_LINES and _is_inside(lines[first - 2]):
        first -= 1
    head = lines[first - 2].split("#")[0].rstrip() if first > 1 else ""
    return range(first, own + 1) if _TARGET.match(head[:_LONGEST]) else ()


def _is_inside(line: str) -> bool:
    return line.startswith("\t") or (line.startswith("#") and not line.startswith("#!"))


def _recipe_of_just(case: Case) -> Sequence[int]:
    lines, own = case.script.lines, case.commands[0].line
    named = case.script.file_name.rpartition("/")[2].lower() in ("justfile", ".justfile")
    if not 0 < own <= len(lines) or not lines[own - 1][:1].isspace():
        return ()
    if not named and not is_in_lines(_JUST, lines, _LONGEST):
        return ()
    first = own
    while first > 1 and own - first < _MOST_LINES and lines[first - 2][:1].isspace():
        first -= 1
    head = lines[first - 2].split("#")[0].rstrip() if first > 1 else ""
    if not _JUST_RECIPE.match(head[:_LONGEST]) or lines[first - 1].lstrip().startswith("#!"):
        return ()
    return range(first, own + 1)
