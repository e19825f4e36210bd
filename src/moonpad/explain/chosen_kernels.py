"""Kernels that the author of a command has asked for by their name, and so knows of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from moonpad.explain.commands import Command
from moonpad.explain.grouping import value_of
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.records import replace

_BACKENDS: Final = ("--moe-backend", "--moe-runner-backend")
_MARLIN: Final = "marlin"


def but_chosen(findings: Iterable[Finding], commands: Sequence[Command]) -> Iterator[Finding]:
    """With a note in the place of a warning that the weights are multiplied by Marlin, where that is asked for."""
    backend = value_of(commands[0].argv, _BACKENDS)
    asked = backend is not None and backend.text.casefold() == _MARLIN
    for finding in findings:
        is_advice = asked and finding.code is Code.SUBOPTIMAL and f"({_MARLIN.capitalize()}" in finding.message
        yield replace(finding, severity=Severity.NOTE) if is_advice else finding
