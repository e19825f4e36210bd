"""Better settings against what is known of them: what a report asks for beside them is added, and where it cannot be,
they are not proposed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from moonpad.explain.commands import Command
from moonpad.explain.mended_lines import mended_line
from moonpad.explain.results import Better, Edit, Judged, Remark
from moonpad.explain.spoiling import spoils
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.records import replace
from moonpad.values.versions import since

Edits = tuple[tuple[Edit, ...], ...]
_MOST: Final = 3
"""Times that a setting is judged, each with what the one before asked for."""
_SHOWN: Final = 2
_IN_RELEASES: Final = "in releases "
"""How a rule begins that holds for some releases alone."""
_LATER: Final = re.compile(r"take (?:\w+ )?(\d[\w.]*) or (?:later|newer)\b")


def with_needed(
    better: Better,
    judged: Judged,
    commands: Sequence[Command],
    again: Callable[[Better], tuple[Judged | None, Sequence[Command]]],
    known: Sequence[str],
) -> Better | None:
    """The same with the options that reports ask for beside what it changes, and with what is known of releases that a
    later one mended, or that is about what stands beside it; None where reports of what it changes ask for more than
    that. `known`: what is said without it."""
    for _ in range(_MOST):
        whole, changed = again(better)
        new = _new(whole, known)
        later = [each.finding for each in new if _LATER.match(each.finding.remedy)]
        reports = [each for each in new if each.finding not in later]
        if not reports:
            return replace(better, but=(*later, *_of_older(whole, known, better))[:_SHOWN])
        pairs = enumerate(zip(changed, commands, strict=True))
        added = tuple(_added(reports, number, other, command) for number, (other, command) in pairs)
        if any(each is None for each in added) or not any(added):
            changes = _words_of(better)
            if any(report.finding.where in changes for report in reports):
                return None
            return replace(better, but=tuple(each.finding for each in new)[:_SHOWN])
        better = _with_more(better, judged, commands, tuple(each or () for each in added))
    return None


def _new(other: Judged | None, said: Sequence[str]) -> list[Remark]:
    """Warnings of reports by which the engine ends or answers wrongly, and options whose lack ends the start, that are
    not said of the command as it is."""
    return [
        remark
        for remark in (other.remarks if other is not None else ())
        if remark.finding.message not in said and (_warns(remark) or _lacks_option(remark))
    ]


def _warns(remark: Remark) -> bool:
    return remark.finding.severity is Severity.WARNING and spoils(remark.finding)


def _lacks_option(remark: Remark) -> bool:
    finding = remark.finding
    return finding.severity is Severity.ERROR and finding.code is Code.MISSING_FLAG and bool(remark.edits)


def _of_older(other: Judged | None, said: Sequence[str], better: Better) -> Iterator[Finding]:
    """Where no release is named, what is known of releases before the one that it is judged by, and not said to be
    mended in it."""
    changed = _words_of(better)
    for finding in other.findings if other is not None else ():
        reported = finding.code is Code.KNOWN_REPORT and (finding.where in changed or spoils(finding))
        if reported and other is not None and is_mended_by(finding, other.version):
            continue
        known = reported or finding.message.startswith(_IN_RELEASES)
        if finding.severity is Severity.NOTE and known and finding.message not in said:
            yield finding


def is_mended_by(finding: Finding, version: str) -> bool:
    """Whether a release that it says to take is that version or an older one."""
    match = _LATER.search(finding.remedy)
    return match is not None and bool(version) and since(version, match[1])


def _words_of(better: Better) -> set[str]:
    return {word for edits in better.edits for edit in edits for word in edit.words}


def _added(reports: Sequence[Remark], number: int, changed: Command, written: Command) -> tuple[Edit, ...] | None:
    """What they add behind the words of a command, or write in the place of words that stand in it as they are
    written; None where they change others, or a variable."""
    edits: list[Edit] = []
    for remark in reports:
        own = remark.edits if (remark.command or 0) == number else ()
        own += tuple(edit for at, others in remark.others if at == number for edit in others)
        if not remark.edits or remark.sets or not all(_is_apart(edit, changed, written) for edit in own):
            return None
        edits += own
    return tuple(edits)


def _is_apart(edit: Edit, changed: Command, written: Command) -> bool:
    if edit.at >= len(changed.argv):
        return not edit.length
    end = edit.at + edit.length
    return edit.length > 0 and [each.text for each in changed.argv[:end]] == [each.text for each in written.argv[:end]]


def _with_more(better: Better, judged: Judged, commands: Sequence[Command], added: Edits) -> Better:
    behind = tuple(
        tuple(edit if edit.length else replace(edit, at=len(command.argv)) for edit in edits)
        for command, edits in zip(commands, added, strict=True)
    )
    edits = tuple((*before, *more) for before, more in zip(better.edits, behind, strict=True))
    lines = (
        mended_line(command, judged.remarks_on(number), more)
        for number, (command, more) in enumerate(zip(commands, edits, strict=True))
    )
    return replace(better, edits=edits, lines=tuple(lines))
