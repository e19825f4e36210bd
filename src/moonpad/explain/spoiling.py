"""Which findings say that the engine ends or answers wrongly, and which of these the corrected commands still have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.models.other_families import IF_PUBLISHED
from moonpad.explain.results import Judged, Remark
from moonpad.values.finding import Code, Finding, Severity

_SPOILS: Final = re.compile(
    r"garbage|\bwrong|\bnoise\b|nonsense|gibberish|\bNaN\b|\bcrash|\bhangs?\b|\bends in\b|\bends the\b|illegal|deadlock"
    r"|\brefused\b|\bfails?\b|\bdies?\b|without end|degenerate|falls? to|unusable|invalid"
    r"|\blost\b|repeat|loops?\b|\breturns? 500\b"
)
_OF_MACHINES: Final = frozenset(
    {
        *("--node-rank", "--master-addr", "--dist-init-addr", "--data-parallel-address"),
        "--headless",
    }
)
"""Options by which machines find each other, or that are for some of them: a person writes them for each."""


_APART: Final = frozenset(
    {Code.SUBOPTIMAL, Code.TIGHT, Code.MEMORY_LOW, Code.REDUNDANT_FLAG, Code.INSECURE, Code.DOES_NOT_FIT}
)
"""Advice about speed, about room and about who may reach the port; of memory, what is left is asked for by itself."""
_ENDS: Final = re.compile(r"\bends (?:the|its) (?:start|load)\b|\b(?:start|load) ends\b|\bhas no parser\b")


def spoils(finding: Finding) -> bool:
    """Whether it was reported that with it the engine ends, or answers wrongly."""
    return finding.code is Code.KNOWN_REPORT and _SPOILS.search(finding.message) is not None


def ends_it(finding: Finding, written: str) -> bool:
    """Whether a rule of the engine warns of settings with which the start ends, or with weights of the name that a
    folder has (`written`) to the letter."""
    if finding.severity is not Severity.WARNING:
        return False
    if finding.code is Code.CONFLICT and finding.message.endswith(", and the start ends"):
        return True
    weights = finding.message.rpartition(IF_PUBLISHED)
    folder = written.rstrip("/").rpartition("/")[2].casefold()
    return bool(weights[1]) and weights[2].rpartition("/")[2].casefold() == folder


def left_in(judged: Judged) -> Iterator[Remark]:
    """Warnings of what the corrected commands have as it stood before, and the errors of the text that nothing mends:
    all but advice about speed and room, and who may reach the port. What is told of an option that was taken out goes
    with it."""
    for remark in judged.remarks:
        if _is_taken_out(remark.finding.where, judged):
            continue
        if remark.finding.code is Code.LOGGED_FAILURE and not remark.mends:
            yield remark
            continue
        if remark.finding.severity is not Severity.WARNING or remark.mends or remark.of_former:
            continue
        left = remark.finding.code not in _APART or _ENDS.search(remark.finding.message) is not None
        left |= _is_around(remark, judged)
        if (left and remark.placed) or _is_of_machines(remark.finding) or _is_short(remark, judged):
            yield remark


def _is_around(remark: Remark, judged: Judged) -> bool:
    """Whether it is an option of the container that opens the host, and stands in a corrected command still. Who is to
    reach a port is for its user to say."""
    word, finding = remark.word, remark.finding
    if finding.code is not Code.INSECURE or word is None or not word.text or finding.where.startswith("-p "):
        return False
    return any(word.text in line.argv for line in judged.corrected)


def _is_taken_out(where: str, judged: Judged) -> bool:
    """Whether it is an option of the commands that none of the corrected ones has, nor by its whole name."""
    if not where.startswith("--") or not judged.corrected:
        return False
    lines = judged.commands, judged.corrected
    before, after = ({word.partition("=")[0] for line in each for word in line.argv} for each in lines)
    return where in before and not any(each.startswith(where) for each in after)


def _is_short(remark: Remark, judged: Judged) -> bool:
    """Whether the memory may not suffice, whatever word of the command it is told of, or where none is given."""
    return remark.finding.code is Code.DOES_NOT_FIT and not judged.corrected_with


def _is_of_machines(finding: Finding) -> bool:
    return finding.code is Code.MISSING_FLAG and finding.where in _OF_MACHINES
