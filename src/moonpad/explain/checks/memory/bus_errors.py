"""A bus error that a text shows beside the /dev/shm which mends it: told, though its author has solved it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first, numbered
from moonpad.values.finding import Code, Severity

_BUS_ERROR: Final = re.compile(r"\bBus error\b|\bSIGBUS\b")
_SHARED: Final = re.compile(r"/dev/shm\b|--shm-size\b|\bshm_size\b|\bshared memory\b", re.IGNORECASE)  # noqa: S108
_SIZE: Final = re.compile(r"(?:/dev/shm:size=|--shm-size[ =]|shm_size:[ ]*)[\"'`]?(?P<size>\d{1,5}[ ]?[gGtT][bB]?)")
_NEAR: Final = 15
"""Lines between the error and what is said of it."""
_LONGEST: Final = 2000


def bus_error(case: Case) -> Iterator[Remark]:
    """The first of the text, unless it is told with the failures of its log."""
    script = case.script
    if not is_first(case.commands, script):
        return
    script.budget.once("bus errors", len(script.lines), "what its text shows")
    told = {error.number for error in script.error_lines}
    lines = list(numbered(script, 1, len(script.lines)))
    number = next((at for at, text in lines if _BUS_ERROR.search(text[:_LONGEST])), 0)
    if not number or number in told:
        return
    near = [text[:_LONGEST] for at, text in lines if abs(at - number) <= _NEAR]
    if not any(_SHARED.search(text) for text in near):
        return
    size = next((match["size"] for text in near if (match := _SIZE.search(text))), "")
    message = f"{script.where(number)}: a bus error of the ranks is a /dev/shm that is full, and no fault of a device"
    remedy = "run the container in the host's IPC namespace, or give it a larger shm-size"
    remedy = f"{remedy} {size} as the text does" if size else remedy
    remark = make_remark(Severity.NOTE, Code.KNOWN_REPORT, "/dev/shm", message, remedy)  # noqa: S108
    yield Remark(remark.finding, command=None)
