"""A command of a text that tells its day, judged by the newest release: the options that are added to it are those that
the release of that day takes as well, a variable that this one reads stays, and what ends its start counts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Final

from moonpad.catalog.options import OptionSet, known_environment, newest, option_set, versions
from moonpad.catalog.release_days import release_days, released_by
from moonpad.engines import ENGINES
from moonpad.explain.commands import Script
from moonpad.explain.corrected import mended_command
from moonpad.explain.documents.written_days import written_day
from moonpad.explain.grouping import Group
from moonpad.explain.results import Better, Edit, Judged, Remark
from moonpad.explain.target_detection import BY_NEWEST
from moonpad.values.finding import OF_MEMORY, Code, Severity
from moonpad.values.records import replace
from moonpad.values.versions import order

_OLDER: Final = "in releases before "
"""How a note begins about what ends the start of releases before another one (checks/releases/start_refusals.py)."""
_OF_PARSER: Final = frozenset(
    {Code.UNKNOWN_FLAG, Code.REMOVED_FLAG, Code.RENAMED_FLAG, Code.PREFIX_FLAG, Code.INVALID_VALUE}
)


def of_its_day(
    judged: Judged | None, script: Script, group: Group, by_release: Callable[[Group, str], Judged]
) -> Judged | None:
    """Without edits that write options which the release of the text's day does not have, and without better settings
    that it refuses. What that release takes as it is written is a note. `by_release` judges other commands by it."""
    if judged is None or judged.engine not in ENGINES or not judged.version_because.endswith(BY_NEWEST):
        return judged
    program, title = ENGINES[judged.engine].program, ENGINES[judged.engine].facts.title
    build = ENGINES[judged.engine].command_line.build
    own = {program, ENGINES[build.of].program} if build else {program}
    concerned = judged.better or any(_writes(each) or _is_of_older(each) for each in judged.remarks)
    if group.commands[0].program not in own or not concerned:
        return judged
    script.budget.once("days of a text", len(script.lines), "the text around its engine commands")
    day = written_day(script.lines, group.commands[0].line)
    release = released_by(judged.engine, day) if day else ""
    if not release:
        return judged
    recorded = versions(program)
    if not recorded or recorded[-1] not in release_days()[judged.engine].releases:
        return judged  # its program counts otherwise
    if order(release) < order(recorded[0]):
        older = f"releases before {recorded[0]} may take it"
        remarks = tuple(_as_then(each, older, release, day) for each in judged.remarks)
        return replace(judged, remarks=remarks)
    options = option_set(program, release) if release in recorded and release != newest(program) else None
    if options is None:
        return judged
    given = {word.text.partition("=")[0] for command in group.commands for word in command.argv}
    kept = _with_variables(judged.remarks, known_environment(program, release), release, day)
    if any(map(_is_of_older, judged.remarks)):
        kept = _as_refused_then(kept, by_release(group, release).remarks, release, day)
    remarks = tuple(_of_both(each, options, given, f"{title} {release}", day) for each in kept)
    if not judged.better:
        return replace(judged, remarks=remarks)
    errors = _errors(by_release(group, release))
    better = (each for each in judged.better if not any(_lacks(edits, options, given) for edits in each.edits))
    taken = (each for each in better if _errors(by_release(_with(each, group), release)) <= errors)
    return replace(judged, remarks=remarks, better=tuple(taken))


def _as_then(remark: Remark, older: str, release: str, day: str) -> Remark:
    """The remark; a note, where only releases that came after the text refuse it."""
    finding = remark.finding
    if finding.severity is not Severity.WARNING or finding.code not in _OF_PARSER or older not in finding.message:
        return remark
    message = f"{finding.message.removesuffix('.')}; the text is of {day}, when {release} was the newest"
    return replace(remark, finding=replace(finding, severity=Severity.NOTE, message=message), ends_start=False)


def _with_variables(remarks: Iterable[Remark], declared: Collection[str], release: str, day: str) -> tuple[Remark, ...]:
    """A variable that the release of that day reads stays: what takes its place may not be there yet."""
    return tuple(
        _as_note(each, f"; the text is of {day}, when {release} was the newest, which reads it")
        if each.finding.code is Code.DEAD_ENV and each.finding.where in declared
        else each
        for each in remarks
    )


def _as_refused_then(remarks: Iterable[Remark], then: Iterable[Remark], release: str, day: str) -> tuple[Remark, ...]:
    """With the errors of the release of that day in place of the notes that releases before another one have them."""
    errors = {each.finding.where: each for each in then if each.finding.severity is Severity.ERROR}
    return tuple(
        _refused(errors[each.finding.where], release, day)
        if _is_of_older(each) and each.finding.where in errors
        else each
        for each in remarks
    )


def _refused(error: Remark, release: str, day: str) -> Remark:
    message = f"{error.finding.message} with {release}, the newest on {day}, the day of the text"
    return replace(error, finding=replace(error.finding, severity=Severity.WARNING, message=message))


def _is_of_older(remark: Remark) -> bool:
    return remark.finding.severity is Severity.NOTE and remark.finding.message.startswith(_OLDER)


def _as_note(remark: Remark, more: str) -> Remark:
    finding = replace(
        remark.finding, severity=Severity.NOTE, message=f"{remark.finding.message.removesuffix('.')}{more}"
    )
    return replace(remark, finding=finding, edits=(), others=(), drop_variable=False, unsets=(), ends_start=False)


def _with(better: Better, group: Group) -> Group:
    pairs = zip(group.commands, better.edits, strict=True)
    return replace(group, commands=tuple(mended_command(command, (), edits) for command, edits in pairs))


def _errors(judged: Judged) -> frozenset[tuple[Code, str]]:
    errors = (each for each in judged.findings if each.severity is Severity.ERROR and each.code not in OF_MEMORY)
    return frozenset((each.code, each.where) for each in errors)


def _writes(remark: Remark) -> bool:
    return bool(remark.edits or remark.others or remark.finding.code in _OF_PARSER)


def _of_both(remark: Remark, options: OptionSet, given: set[str], release: str, day: str) -> Remark:
    edits = (*remark.edits, *(edit for _, others in remark.others for edit in others))
    lacking = _lacks(edits, options, given)
    if not lacking:
        return remark
    finding = remark.finding
    if (
        finding.severity is not Severity.WARNING
        or finding.code not in _OF_PARSER
        or options.named(finding.where) is None
    ):
        return replace(remark, edits=(), others=(), drop_variable=False, unsets=())  # what it takes the place of stays
    message = f"{finding.message.removesuffix('.')}; the text is of {day}, and {release} of that time has no {lacking}"
    remedy = f"{finding.remedy.removesuffix('.')}, with a release that has it"
    note = replace(finding, severity=Severity.NOTE, message=message, remedy=remedy)
    return replace(remark, finding=note, edits=(), others=(), ends_start=False)


def _lacks(edits: Iterable[Edit], options: OptionSet, given: set[str]) -> str:
    """The first option that the edits write and that these options do not have, nor the command; "" for none."""
    written = (word.partition("=")[0] for edit in edits for word in edit.words if word.startswith("--"))
    return next((name for name in written if name not in given and options.named(name.partition(".")[0]) is None), "")
