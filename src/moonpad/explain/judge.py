"""Judges the deployments of a script: every flag, the layout, the memory, and what would be better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from moonpad.catalog.calibrations import Calibration
from moonpad.catalog.options import newest
from moonpad.engines.argv import parse
from moonpad.engines.grammar import Grammar
from moonpad.explain.commands import Script
from moonpad.explain.deployment import Deployment
from moonpad.explain.flags import env_remarks, flag_remarks
from moonpad.explain.fragments import as_commands
from moonpad.explain.grouping import Group, group
from moonpad.explain.judged import Judged, Remark, printable
from moonpad.explain.lines import mended_line, written_line
from moonpad.explain.meant import as_meant
from moonpad.explain.rulebooks import CLIENTS, rulebook
from moonpad.explain.security import wrapper_remarks
from moonpad.explain.subject import Question, Version, engine_of, version_of
from moonpad.explain.successors import gone
from moonpad.values.finding import Finding

_RECORDED: Final = {"sglang-pdlb": "sglang"}
"""Programs whose options are not recorded → what they belong to."""


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
        judged = _client(meant, script, question, remarks)
    else:
        judged = Deployment(meant, script, question, calibrations, engine, remarks).judged()
    if judged is None:
        return None
    written = tuple(written_line(command) for command in one.commands)
    return replace(judged, sources=one.commands, commands=written)


def _client(one: Group, script: Script, question: Question, before: tuple[Remark, ...]) -> Judged | None:
    """Commands that serve no model: a benchmark, a router, a container in which nothing known is started."""
    remarks = list(before)
    known = False
    version = Version("", "")
    engine = ""
    for number, command in enumerate(one.commands):
        remarks += wrapper_remarks(number, command)
        if (of := CLIENTS.get(command.program)) is None:
            continue
        known, engine = True, of
        # The router has versions of its own, which no text and nobody names.
        version = (
            Version("", "the newest known") if command.program == "sglang-router" else version_of(of, script, question)
        )
        remarks += gone(number, command, version, None)
        book = rulebook(command.program, version)
        if book is not None:
            words = [word.text for word in command.argv]
            remarks += flag_remarks(number, words, parse(words, Grammar(book.options)), book)
            remarks += env_remarks(number, tuple(command.env), book)
    if not known and not remarks:
        return None
    return Judged(
        engine=engine or one.commands[0].program,
        version=version.text
        or (newest(_RECORDED.get(one.commands[0].program, one.commands[0].program)) if known else ""),
        version_because=version.because,
        sources=one.commands,
        commands=(),
        remarks=tuple(remarks),
        corrected=tuple(
            mended_line(command, [remark for remark in remarks if remark.command == number])
            for number, command in enumerate(one.commands)
        ),
        kind=one.kind,
    )


def _safe(judged: Judged) -> Judged:
    """Nothing that was found says a control character to a terminal."""
    return replace(judged, remarks=tuple(replace(one, finding=_printable(one.finding)) for one in judged.remarks))


def _printable(finding: Finding) -> Finding:
    where, message, remedy = (printable(text) for text in (finding.where, finding.message, finding.remedy))
    return replace(finding, where=where, message=message, remedy=remedy)
