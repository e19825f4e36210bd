"""Pipeline stages in place of a tensor-parallel group that reaches over machines: proposed where nothing that is known
of the release, the model's class and the other options speaks against them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Final

from moonpad.explain.results import Judged
from moonpad.explain.suggestions import Changes
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.plan import Layout
from moonpad.values.records import replace

_PROPOSED: Final = re.compile(r"set tp = (?P<tp>\d{1,4}), with (?:pp|pp or dp) for the machines")
_OF_STAGES: Final = re.compile(r"pipeline|\bstages?\b|--pp-size", re.IGNORECASE)
_KEPT: Final = "leave it as it is: pipeline stages do not go with this command in this release"


def but_refused_stages(
    finding: Finding, layout: Layout, judged_with: Callable[[Changes], Judged], before: Collection[str]
) -> Finding:
    """The finding as a note, without what it proposes, where the commands with it would have a fault that they do not
    have as they stand. `before` are the messages about them."""
    proposed = _PROPOSED.fullmatch(finding.remedy) if finding.code is Code.SUBOPTIMAL else None
    if proposed is None or layout.pp > 1 or layout.tp % (tp := int(proposed["tp"])):
        return finding
    judged = judged_with((("tp", str(tp)), ("pp", str(layout.tp // tp))))
    told = (remark.finding for remark in judged.remarks if not remark.of_former)
    faults = (each for each in told if each.severity is not Severity.NOTE and each.message not in before)
    if not any(each.severity is Severity.ERROR or _OF_STAGES.search(each.message) for each in faults):
        return finding
    remedy = finding.remedy.replace("pp or dp", "dp") if "pp or dp" in finding.remedy else _KEPT
    severity = Severity.NOTE if remedy == _KEPT else finding.severity
    return replace(finding, severity=severity, remedy=remedy)
