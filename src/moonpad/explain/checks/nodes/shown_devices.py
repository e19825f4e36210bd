"""The devices that `nvidia-smi` shows in a text, against the ranks of its command."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.nodes.node_checks import starts_ray
from moonpad.explain.checks.nodes.visible_devices import SEVERAL, is_judged, ranks_here
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_LISTED: Final = re.compile(
    r"[ \t>]*(?:GPU (?P<listed>\d{1,2}): [^\n(]{2,80}\(UUID"
    r"|\|[ ]+(?P<row>\d{1,2})[ ]+(?:NVIDIA|Tesla|Quadro|GeForce)[ ][^\n|]{2,60}\|)"
)
"""`GPU 0: NVIDIA H200 (UUID: …)` of `nvidia-smi -L`, and the first line of each device of its table."""
_LONGEST: Final = 400


def shown_devices(case: Case) -> Iterator[Remark]:
    """Four of them, and eight ranks: of one server, in a text that speaks of one machine."""
    script = case.script
    script.budget.once("devices that are listed", len(script.lines), "the devices of its machine")
    if not case.laid_out or not is_judged(case) or is_fragment(case.commands[0]) or len(case.commands) > 1:
        return
    shown = _shown(script.lines)
    if shown is None or not is_first_server(case.commands, script) or starts_ray(script):
        return
    number, line = shown
    ranks = ranks_here(case, case.commands[0], case.readings[0])
    if ranks is None or ranks <= number or is_in_lines(SEVERAL, script.lines, _LONGEST):
        return
    if number == 1 and is_in_lines(_times(ranks), script.lines, _LONGEST):
        return  # a table that is cut down to its first device
    flag = case.engine.command_line.options.get("tp", "layout")
    message = f"the machine shows {number} device{'s' if number > 1 else ''} ({script.where(line)}), and the command "
    message += f"starts {ranks} ranks here: the start ends where the first of them finds no device"
    remark = make_remark(Severity.WARNING, Code.ILLEGAL_LAYOUT, flag, message, f"write a layout of {number} ({flag})")
    yield replace(remark, command=0)


@cache
def _times(number: int) -> re.Pattern[str]:
    """`8x H200`, `8 × H100`."""
    return re.compile(rf"(?<![\w.]){number} ?[x×*] ?[A-Z]")


def _shown(lines: tuple[str, ...]) -> tuple[int, int] | None:
    """How many the longest whole list has, and where it begins; None where none is, or one begins behind 0."""
    most, begin, expected = None, 0, 0
    for at, line in enumerate(lines, 1):
        match = _LISTED.match(line[:_LONGEST]) if "GPU " in line or "|" in line else None
        if match is None:
            continue
        number = int(match["listed"] or match["row"])
        if number == 0:
            begin, expected = at, 0
        if number != expected:
            return None
        expected += 1
        if most is None or expected > most[0]:
            most = (expected, begin)
    return most
