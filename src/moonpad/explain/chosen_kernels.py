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
_ANY: Final = "auto"


def but_chosen(findings: Iterable[Finding], commands: Sequence[Command]) -> Iterator[Finding]:
    """With a note in the place of a warning that the weights are multiplied by Marlin, where that is asked for, and
    without it where other kernels are: vLLM's and SGLang's humming has some of its own for MXFP4."""
    backend = value_of(commands[0].argv, _BACKENDS)
    asked = backend.text.casefold().strip("'\"") if backend is not None and not backend.unresolved else _ANY
    for finding in findings:
        is_advice = finding.code is Code.SUBOPTIMAL and f"({_MARLIN.capitalize()}" in finding.message
        if is_advice and asked not in (_ANY, _MARLIN):
            continue
        yield replace(finding, severity=Severity.NOTE) if is_advice and asked == _MARLIN else finding
