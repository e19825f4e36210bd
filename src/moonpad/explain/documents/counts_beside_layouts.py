"""`2+ GPUs (for TP=2 PP=2)`: devices that a line counts for a layout that takes more of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.machine_counts import layout_of, number_of
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import numbered
from moonpad.values.finding import Code, Severity

_COUNT: Final = re.compile(
    r"(?<![\w.×*x-])(?P<count>[1-9]\d{0,2}|two|four|eight)[ ]?\+?[ ]?(?:or more[ ])?(?:[x×][ ]?)?"
    r"(?:(?:NVIDIA|AMD)[ ])?(?:GPUs?\b|NPUs?\b|cards?\b|(?:张|块)?(?:显)?卡)",
    re.IGNORECASE,
)
_LAYOUT: Final = re.compile(r"\b(?:tp|tensor)", re.IGNORECASE)
_SEVERAL: Final = re.compile(
    r"\b(?:each|per|every|nodes?|machines?|hosts?|servers?|replicas?|stages?|prefill|decode|boxes|or|instead|not|than"
    r"|was|were|vs)\b|每|台|机|节点|或|而",
    re.IGNORECASE,
)
"""What makes of the number one of a part, or of a choice."""


def count_beside_layout(case: Case) -> Iterator[Remark]:
    """Of a command with just that layout, where the text counts no more devices elsewhere."""
    command, layout = case.commands[0], case.first.layout
    ranks = layout.tp * layout.pp
    if not case.laid_out or is_fragment(command) or case.devices_asked or case.cluster is not None or ranks < 2:
        return
    for number, text in numbered(case.script, 1, len(case.script.lines)):
        counted = [*_COUNT.finditer(text)] if _LAYOUT.search(text) else []
        if len(counted) != 1 or _SEVERAL.search(text) or layout_of(text) != ranks:
            continue
        count = number_of(counted[0]["count"])
        if not 0 < count < ranks:
            continue
        sizes = f"{layout.tp} x {layout.pp}" if layout.pp > 1 else f"{layout.tp}"
        message = f"{case.script.where(number)} counts {count} device{'s' * (count > 1)} for this layout, which takes "
        message += f"{ranks} ({sizes}): on {count} the start ends"
        flag = case.engine.command_line.options.get("tp", "layout")
        place = case.option(flag)
        remedy = f"take {ranks} devices, or a layout of {count}"
        at = place.index if place is not None else None
        yield make_remark(Severity.WARNING, Code.ILLEGAL_LAYOUT, flag, message, remedy, at=at)
        return
