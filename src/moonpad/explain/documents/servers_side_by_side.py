"""Several servers on one machine, each on its own device: `8 instances × TP=1`, a table with a column `Instances`."""

from __future__ import annotations

import re
from typing import Final

from moonpad.explain.commands import Script
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.values.finding import Code, Finding

_SIDE_BY_SIDE: Final = re.compile(
    r"\b(?:[2-9]|1[0-6])[ ]?(?:x|×)?[ ]?(?:instances|replicas|servers|copies)\b[^.\n]{0,40}?\bTP[ =-]?\d"
    r"|\beach[ ](?:instance[ ]|server[ ]|one[ ])?on[ ](?:its|a)[ ](?:own|different|separate)[ ]"
    r"(?:card|gpu|device|npu)\b"
    r"|\bone[ ](?:instance|server|replica|engine|process)[ ](?:per|on each|for each|a)[ ](?:card|gpu|device|npu)\b"
    r"|\bCUDA_VISIBLE_DEVICES`?[ ](?:from[ ])?0[ ](?:to|through|-|–)[ ]?\d",
    re.IGNORECASE,
)
_LONGEST: Final = 500
_IDLE: Final = "stay idle"


def is_idle(finding: Finding) -> bool:
    return finding.code is Code.SUBOPTIMAL and finding.message.endswith(_IDLE)


def runs_side_by_side(script: Script) -> bool:
    """Whether the text says that several servers share the devices of a machine out."""
    script.budget.once("servers side by side", len(script.lines), "the text around its engine commands")
    return is_in_lines(_SIDE_BY_SIDE, script.lines, _LONGEST)
