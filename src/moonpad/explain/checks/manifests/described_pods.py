"""Probes as `kubectl describe` prints them, against the weights that the container has to read first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.probe_patience import DISK_RATE, FROM_ELSEWHERE, bytes_of_weights
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_LIVENESS: Final = re.compile(
    r"[ \t]+Liveness:[ \t]+\S.*\bdelay=(?P<delay>\d{1,6})s\b.*\bperiod=(?P<period>\d{1,6})s\b"
    r".*#failure=(?P<failures>\d{1,6})"
)
_STARTUP: Final = re.compile(r"[ \t]+Startup:[ \t]+\S")
_GB: Final = 1_000_000_000
_PERIOD: Final = 10
_LONGEST: Final = 1000


def described_patience(case: Case) -> Iterator[Remark]:
    """`Liveness: http-get … delay=60s … period=10s #failure=3` of a model that takes minutes to read."""
    lines = case.script.lines
    if not is_in_lines(_LIVENESS, lines, _LONGEST) or is_in_lines(_STARTUP, lines, _LONGEST):
        return
    held = bytes_of_weights(case)
    if held is None or any(case.option(flag) is not None for flag in FROM_ELSEWHERE):
        return
    needed = held / max(case.commands[0].pods, case.first.node.nodes or 1) / DISK_RATE
    case.script.budget.once("described pods", len(lines), "the text around its engine commands")
    for number, line in enumerate(lines, 1):
        match = _LIVENESS.match(line[:_LONGEST])
        if match is None:
            continue
        patience = int(match["delay"]) + int(match["period"]) * int(match["failures"])
        if patience < needed:
            message = (
                f"{case.script.where(number)}: the liveness probe gives up {patience} s after the start, and to read "
            )
            message += (
                f"{held / _GB:,.0f} GB of weights takes {needed:,.0f} s at 3 GB/s: the container is killed while "
            )
            message += "it loads"
            remedy = f"add a startupProbe with periodSeconds: {_PERIOD} and failureThreshold: "
            remedy += f"{-(-round(4 * needed) // _PERIOD)}"
            remark = make_remark(Severity.WARNING, Code.SUBOPTIMAL, "livenessProbe", message, remedy)
            yield replace(remark, command=None)
        return
