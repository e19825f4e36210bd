"""Kernels that the author of a command has asked for by their name, and so knows of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from moonpad.explain.commands import Command
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.grouping import value_of
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.records import replace

_BACKENDS: Final = ("--moe-backend", "--moe-runner-backend")
_MARLIN: Final = "marlin"
_ANY: Final = "auto"
_LATENCY: Final = re.compile(r"\b(?:low(?:est)?|least|min(?:imum)?)[ -]latency\b|低延[迟時时]", re.IGNORECASE)
_LONGEST: Final = 500


def but_chosen(findings: Iterable[Finding], commands: Sequence[Command], lines: Sequence[str]) -> Iterator[Finding]:
    """With a note in the place of a warning that the weights are multiplied by Marlin, where that is asked for, and
    without it where other kernels are: vLLM's and SGLang's humming has some of its own for MXFP4. That tensor
    parallelism reaches over machines is a note where the text wants the least latency: all devices then work on each
    token, and with stages one machine after the other does."""
    backend = value_of(commands[0].argv, _BACKENDS)
    asked = backend.text.casefold().strip("'\"") if backend is not None and not backend.unresolved else _ANY
    for finding in findings:
        is_advice = finding.code is Code.SUBOPTIMAL and f"({_MARLIN.capitalize()}" in finding.message
        if is_advice and asked not in (_ANY, _MARLIN):
            continue
        if finding.code is Code.SUBOPTIMAL and finding.where == "tp" and "reaches over machines" in finding.message:
            meant = is_in_lines(_LATENCY, lines, _LONGEST)
            yield replace(finding, severity=Severity.NOTE) if meant else finding
            continue
        yield replace(finding, severity=Severity.NOTE) if is_advice and asked == _MARLIN else finding
