"""Options of which a log shows that the engine's parser took them, whatever a release of that number has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from moonpad.explain.commands import Command, Script
from moonpad.explain.results import Remark
from moonpad.explain.started_releases import is_past_its_options
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_OF_PARSERS: Final = frozenset({Code.UNKNOWN_FLAG, Code.REMOVED_FLAG})
_TAKEN: Final = "the log shows that the server read its options, and went on"


def but_taken(remarks: Iterable[Remark], command: Command, script: Script) -> Iterator[Remark]:
    """What the parser would refuse as notes, where the log of the same text is of a server behind it."""
    for remark in remarks:
        finding = remark.finding
        refused = finding.code in _OF_PARSERS and finding.severity is not Severity.NOTE
        if refused and is_past_its_options(command, script):
            message = f"{finding.message.partition('; ')[0]}; {_TAKEN}"
            remark = replace(remark, finding=replace(finding, severity=Severity.NOTE, message=message), edits=())
        yield remark
