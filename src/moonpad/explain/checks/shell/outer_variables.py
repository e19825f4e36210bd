"""A variable of an inner script that the shell around it fills in: `bash -c "…"`, `ssh host <<EOF`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first, numbered
from moonpad.values.finding import Code, Severity

_OPENS: Final = re.compile(
    r"(?:\b(?:ba|z)?sh[ ]+-[a-z]*c[ ]+|\bssh[ ][^\"'#]*[ ])\"[ \t]*$|<<-?[ \t]*(?P<mark>[A-Z_]\w*)[ \t]*$"
)
_CLOSES: Final = re.compile(r"[ \t]*\"(?:[ \t;&|>)]|$)")
_SETS: Final = re.compile(
    r"[ \t]*(?:export[ \t]+|local[ \t]+)?(?P<name>[A-Za-z_]\w*)=|[ \t]*for[ \t]+(?P<each>[A-Za-z_]\w*)[ \t]+in\b"
)
_ESCAPED: Final = re.compile(r"\\\$\{?(?P<name>[A-Za-z_]\w*)")
_OF_INSIDE: Final = re.compile(r"[ \t]*(?:export[ \t]+|local[ \t]+)?(?P<name>[A-Za-z_]\w*)=[\"']?(?:\\\$[{(\w@*]|\\`)")
"""`RANK=\\$1`: what the script inside sets of its own arguments or commands."""
_PLAIN: Final = re.compile(r"(?<![\\$])\$(?:\{(?P<braced>[A-Za-z_]\w*)\}|(?P<plain>[A-Za-z_]\w*))")
_LONGEST: Final = 400

_Line = tuple[int, str]


def filled_in_outside(case: Case) -> Iterator[Remark]:
    r"""`for N in 1 2; do run --a \$N --b $N` in double quotes: the second is filled in before the loop runs."""
    script = case.script
    if script.markdown or script.objects or not is_first(case.commands, script):
        return
    lines = list(numbered(script, 1, len(script.lines)))
    for block, outside in _blocks(lines):
        own = {match["name"] or match["each"] for _, text in block if (match := _SETS.match(text))}
        escaped = {match["name"] for _, text in block for match in _ESCAPED.finditer(text)}
        escaped |= {match["name"] for _, text in block if (match := _OF_INSIDE.match(text))}
        outer = {match["name"] or match["each"] for _, text in outside if (match := _SETS.match(text))}
        handed_in = {
            match["name"] for _, text in block if (match := _SETS.match(text)) and _of_itself(match["name"], text)
        }
        meant = (own & escaped) - outer - handed_in
        for number, text in block if meant else ():
            names = [match["braced"] or match["plain"] for match in _PLAIN.finditer(text)]
            name = next((name for name in names if name in meant), "")
            if name:
                message = (
                    f"{script.where(number)}: the shell around fills in ${name}, which only the script inside sets: it "
                    "is empty there"
                )
                remark = make_remark(
                    Severity.WARNING, Code.INVALID_VALUE, name, message, f"write \\${name}, as elsewhere"
                )
                yield Remark(remark.finding, command=None)
                return


def _of_itself(name: str | None, text: str) -> bool:
    """`TOKEN=$TOKEN` inside hands the value of the outer shell in."""
    return name is not None and name in (match["braced"] or match["plain"] for match in _PLAIN.finditer(text))


def _blocks(lines: Sequence[_Line]) -> Iterator[tuple[list[_Line], list[_Line]]]:
    """The texts that a shell fills in, each with the lines above it."""
    at = 0
    while at < len(lines):
        opened = _OPENS.search(lines[at][1]) if "#" not in lines[at][1][:1] else None
        if opened is None:
            at += 1
            continue
        first = at + 1
        mark = opened["mark"]
        last = next(
            (
                place
                for place in range(first, min(len(lines), first + _LONGEST))
                if (lines[place][1].strip() == mark if mark else _CLOSES.match(lines[place][1]))
            ),
            None,
        )
        if last is not None:
            yield list(lines[first:last]), list(lines[: first - 1])
        at = first if last is None else last + 1
