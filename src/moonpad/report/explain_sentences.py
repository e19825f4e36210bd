"""The sentences of what `moonpad explain` shows: a finding with its remedy, in lines of a width, and the faults that
later releases mended."""

from __future__ import annotations

import textwrap
from typing import Final

from rich.text import Text

from moonpad.explain.results import Judged, Remark
from moonpad.explain.target_detection import BY_NEWEST
from moonpad.report.explain_verdict import is_mended_later
from moonpad.values.finding import Code, Finding, Severity

STYLES: Final = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.NOTE: "dim"}
MENDED: Final = 3
"""So many faults that later releases mended."""


def finding_text(finding: Finding, width: int) -> Text:
    return message_text(
        f"{finding.severity}: {_named(finding)}{finding.message}", finding.remedy, STYLES[finding.severity], width
    )


def message_text(message: str, remedy: str, style: str, width: int) -> Text:
    return wrapped(message, width, style, "    ").append_text(wrapped(remedy, width, "", "      "))


def wrapped(sentence: str, width: int, style: str, indent: str = "") -> Text:
    """Lines of at most `width` columns; every line but the first is indented by two more."""
    hang = f"{indent}  "
    lines = textwrap.wrap(sentence, width, initial_indent=indent, subsequent_indent=hang, break_on_hyphens=False)
    return Text.assemble(*((line + "\n", style) for line in lines))


def said(finding: Finding) -> str:
    """In one sentence, the remedy behind it."""
    return f"{_named(finding)}{finding.message}{f' ({finding.remedy})' if finding.remedy else ''}"


def _named(finding: Finding) -> str:
    """Many messages name the flag; it is not said twice."""
    return "" if finding.where in finding.message else f"{finding.where}: "


def is_told(finding: Finding, before: frozenset[str]) -> bool:
    """An error is told of each command: without it, nobody would know which of them cannot be used."""
    return said(finding) in before and finding.severity is not Severity.ERROR


def mended_later(judged: Judged, width: int, before: frozenset[str], again: dict[str, None], *, verbose: bool) -> Text:
    """Where no release is named, in short only how many there are."""
    mended = list(dict.fromkeys(remark.finding for remark in judged.remarks if is_mended_later(remark)))
    if repeated := [finding for finding in mended if is_told(finding, before)]:
        again[f"{len(repeated)} known fault{'s' * (len(repeated) > 1)}"] = None
    mended = [finding for finding in mended if finding not in repeated]
    if not mended:
        return Text()
    unnamed = judged.version_because.endswith(BY_NEWEST)
    if unnamed and not verbose:
        told = list(dict.fromkeys(remark.finding for remark in judged.remarks if _of_older(remark)))[:MENDED]
        text = Text()
        if told:
            text.append_text(wrapped("Faults of older releases that this text may be about:", width, ""))
        for finding in told:
            text.append_text(wrapped(finding.message, width, STYLES[Severity.NOTE], "  "))
        if len(mended) > len(told):
            more = len(mended) - len(told)
            what = f"{more} {'more ' if told else ''}known fault{'s' * (more > 1)}"
            count = f"Of what this command uses, older releases have {what}: --verbose"
            text.append_text(wrapped(count, width, ""))
        return text
    text = wrapped(
        f"Mended after {'older releases' if unnamed else judged.version}, of what this command uses:", width, ""
    )
    shown = mended if verbose else mended[:MENDED]
    for finding in shown:
        text.append_text(wrapped(finding.message, width, STYLES[Severity.NOTE], "  "))
    if len(mended) > len(shown):
        text.append(f"  and {len(mended) - len(shown)} more: --verbose\n", style=STYLES[Severity.NOTE])
    return text


def _of_older(remark: Remark) -> bool:
    """Whether the text complains of it, and it has no place among the warnings."""
    return remark.as_told and remark.finding.code is not Code.ILLEGAL_LAYOUT
