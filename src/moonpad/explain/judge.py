"""Judges the deployments of a script: every flag, the layout, the memory, and what would be better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from moonpad.catalog.calibrations import Calibration
from moonpad.explain.client_findings import judged_client
from moonpad.explain.command_lines import written_line
from moonpad.explain.commands import Script
from moonpad.explain.deployment import Deployment
from moonpad.explain.flag_lists import as_commands
from moonpad.explain.grouping import Group, group
from moonpad.explain.results import Judged, printable
from moonpad.explain.target_detection import Question, engine_of
from moonpad.explain.typo_repair import as_meant
from moonpad.values.finding import Finding


def judge(script: Script, question: Question, calibrations: Sequence[Calibration] = ()) -> tuple[Judged, ...]:
    """One judgement for each deployment and each client command, in the order of the script.

    Raises:
        UsageError: the version that was asked for is none.
    """
    found = (_judge(one, script, question, tuple(calibrations)) for one in group(as_commands(script.commands)))
    return tuple(_safe(judged) for judged in found if judged is not None)


def _judge(one: Group, script: Script, question: Question, calibrations: tuple[Calibration, ...]) -> Judged | None:
    read = [as_meant(number, command, script) for number, command in enumerate(one.commands)]
    meant = replace(one, commands=tuple(command for command, _ in read))
    remarks = tuple(remark for _, some in read for remark in some)
    engine = engine_of(meant.commands[0], question)
    if engine is None:
        judged = judged_client(meant, script, question, remarks)
    else:
        judged = Deployment(meant, script, question, calibrations, engine, remarks).judged()
    if judged is None:
        return None
    written = tuple(written_line(command) for command in one.commands)
    return replace(judged, sources=one.commands, commands=written)


def _safe(judged: Judged) -> Judged:
    """Nothing that was found says a control character to a terminal."""
    return replace(judged, remarks=tuple(replace(one, finding=_printable(one.finding)) for one in judged.remarks))


def _printable(finding: Finding) -> Finding:
    where, message, remedy = (printable(text) for text in (finding.where, finding.message, finding.remedy))
    return replace(finding, where=where, message=message, remedy=remedy)
