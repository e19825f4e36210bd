"""Probes as `kubectl describe` prints them, against the weights that the container has to read first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.load_time import load_of
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_LIVENESS: Final = re.compile(
    r"[ \t]+Liveness:[ \t]+\S.*\bdelay=(?P<delay>\d{1,6})s\b.*\bperiod=(?P<period>\d{1,6})s\b"
    r".*#failure=(?P<failures>\d{1,6})"
)
_STARTUP: Final = re.compile(r"[ \t]+Startup:[ \t]+\S")
_PERIOD: Final = 10
_LONGEST: Final = 1000


def described_patience(case: Case) -> Iterator[Remark]:
    """`Liveness: http-get … delay=60s … period=10s #failure=3` of a model that takes minutes to read."""
    lines = case.script.lines
    if not is_in_lines(_LIVENESS, lines, _LONGEST) or is_in_lines(_STARTUP, lines, _LONGEST):
        return
    load = load_of(case)
    if load is None:
        return
    case.script.budget.once("described pods", len(lines), "the text around its engine commands")
    for number, line in enumerate(lines, 1):
        match = _LIVENESS.match(line[:_LONGEST])
        if match is None:
            continue
        patience = int(match["delay"]) + int(match["period"]) * int(match["failures"])
        if patience < load.needed:
            message = f"{case.script.where(number)}: the liveness probe gives up {patience} s after the start, and "
            message += f"{load.words}: the container is killed while it loads"
            remedy = f"add a startupProbe with periodSeconds: {_PERIOD} and failureThreshold: "
            remedy += f"{-(-round(4 * load.needed) // _PERIOD)}"
            remark = make_remark(Severity.WARNING, Code.SUBOPTIMAL, "livenessProbe", message, remedy)
            yield replace(remark, command=None)
        return
