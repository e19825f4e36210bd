"""A script that another one writes: its arguments are filled in where it is written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server, numbered
from moonpad.values.finding import Code, Severity

_OPENS: Final = re.compile(
    r"(?:\bcat\b|\btee\b)[^|#\n]*?(?:>{1,2}|\btee[ \t]+(?:-a[ \t]+)?)[ \t]*[\"']?"
    r"(?P<path>[\w./${}~-]+\.(?:sh|bash|slurm|sbatch))[\"']?[^\n]*?<<-?[ \t]*(?P<mark>[A-Za-z_]\w*)[ \t]*$"
    r"|(?:\bcat\b|\btee\b)[ \t]*<<-?[ \t]*(?P<mark2>[A-Za-z_]\w*)[ \t]*>{1,2}[ \t]*[\"']?"
    r"(?P<path2>[\w./${}~-]+\.(?:sh|bash|slurm|sbatch))[\"']?[ \t]*$"
)
_ARGUMENT: Final = re.compile(r"(?<![\\$])\$(?:(?P<number>[1-9])(?!\d)|\{(?P<braced>[1-9])\b[^}]*\}|(?P<all>[@*]))")
_LONGEST: Final = 300


def arguments_filled_early(case: Case) -> Iterator[Remark]:
    """`cat > run.sh <<EOF` with `--node-rank $1` in it: $1 of the shell that writes it, which has none."""
    script = case.script
    if not is_first_server(case.commands, script):
        return
    lines = list(numbered(script, 1, len(script.lines)))
    for at, (number, text) in enumerate(lines):
        opened = _OPENS.search(text)
        if opened is None or text.lstrip().startswith("#"):
            continue
        mark, path = opened["mark"] or opened["mark2"], opened["path"] or opened["path2"]
        end = next(
            (place for place in range(at + 1, min(len(lines), at + _LONGEST)) if lines[place][1].strip() == mark), None
        )
        if end is None:
            continue
        inside, outside = lines[at + 1 : end], [*lines[:at], *lines[end + 1 :]]
        read = next(
            ((line, match) for line, each in inside if (match := _ARGUMENT.search(each)) and not _is_awk(each)), None
        )
        if read is None or any(_ARGUMENT.search(each) and not _is_awk(each) for _, each in outside):
            continue
        name = path.rpartition("/")[2]
        called = re.compile(rf"{re.escape(name)}[\"']?[ \t]+(?![;&|<>)#])\S")
        if not any(called.search(each) for _, each in lines[end + 1 :]):
            continue
        written = read[1][0]
        message = (
            f"{script.where(read[0])}: {written} is filled in while {shortened(name, 40)} is written, as {mark} in "
        )
        message += f"{script.where(number)} has no quotes: the script has nothing in its place"
        remedy = f"write <<'{mark}', or \\{written}"
        finding = make_remark(Severity.WARNING, Code.INVALID_VALUE, f"<<{mark}", message, remedy).finding
        yield Remark(finding, command=None)
        return


def _is_awk(text: str) -> bool:
    return "awk" in text
