"""Commands of a script that pass its own arguments on: what is written is judged, and what they add is not known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from moonpad.explain.commands import Command
from moonpad.explain.guessed_layouts import guess
from moonpad.explain.own_extensions import but_extended
from moonpad.explain.results import Remark
from moonpad.values.finding import OF_MEMORY, Severity
from moonpad.values.records import replace

OWN_ARGUMENTS: Final = frozenset({"$@", "$*", "${@}", "${*}"})
_IN_PLACE: Final = frozenset(f"what {each} adds" for each in OWN_ARGUMENTS)


def passes_arguments_on(command: Command) -> bool:
    return _place(command) is not None


def but_of_others(remarks: Sequence[Remark], command: Command, unjudged: str) -> Sequence[Remark]:
    """Without what a class of one's own may mend; what does not fit is a warning where arguments may change it, and
    that they may is told, unless nothing is judged."""
    remarks = but_extended(remarks, command)
    at = _place(command)
    if at is None:
        return remarks
    softened = [_softened(remark) for remark in remarks]
    written = command.argv[at].text.strip("\"'")
    if unjudged or any(remark.finding.where == written for remark in softened):
        return softened
    return [*softened, guess(written, f"what {written} adds is not known: judged as it is written", at=at)]


def _softened(remark: Remark) -> Remark:
    finding = remark.finding
    if finding.code not in OF_MEMORY or finding.severity is not Severity.ERROR:
        return remark
    message = f"{finding.message}; what the script's arguments add is not known"
    return replace(remark, finding=replace(finding, severity=Severity.WARNING, message=message), stops=False)


def _place(command: Command) -> int | None:
    """Where its words hand them on."""
    return next((at for at, word in enumerate(command.argv) if _is_own(word.text)), None)


def _is_own(text: str) -> bool:
    return text.strip("\"'") in OWN_ARGUMENTS or text.strip("<>") in _IN_PLACE
