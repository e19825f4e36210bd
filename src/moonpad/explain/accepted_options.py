"""An option that a log shows as read was not refused, whatever is known of that release."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from moonpad.explain.commands import Command
from moonpad.explain.results import Remark
from moonpad.values.finding import Code

_REFUSED: Final = frozenset({Code.UNKNOWN_FLAG, Code.REMOVED_FLAG, Code.INVALID_VALUE})


def but_accepted(remarks: Iterable[Remark], command: Command) -> Iterator[Remark]:
    """Without those by which the engine refuses an option that its log repeats, or one whose name is not known."""
    for remark in remarks:
        if remark.finding.code is Code.UNKNOWN_FLAG and "${" in remark.finding.where:
            continue
        if remark.finding.code not in _REFUSED or _name(remark.finding.where) not in command.accepted:
            yield remark


def _name(flag: str) -> str:
    """As the log has it."""
    return flag.lstrip("-").partition("=")[0].replace("-", "_")
