"""What the newest release takes and the one that the text asks for at the least refuses: `vLLM (v0.19.0+)` above a
command with an option that was gone in 0.19.0 and came back later, or with settings that go together since later."""

from __future__ import annotations

from collections.abc import Iterator

from moonpad.catalog.options import option_set, releases_with, versions
from moonpad.explain.checks.check_case import Case
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.own_flags import in_own_flags
from moonpad.explain.results import Edit, Remark, make_remark
from moonpad.explain.target_detection import asked_least
from moonpad.plan.rules import check, is_legal
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace
from moonpad.values.versions import is_final, since


def refused_by_asked(case: Case) -> Iterator[Remark]:
    """Where no release is named but a lowest one, by which the command is judged as by the newest."""
    command, program = case.commands[0], case.engine.program
    least = "" if case.version else asked_least(case.engine.name, case.script, command)
    if not least or is_fragment(command):
        return
    releases = [each for each in versions(program) if is_final(each)]
    later = [each for each in releases if since(each, least)]
    options = option_set(program, later[0]) if later else None
    if options is None or not options.exact:
        return
    for option in case.first.parsed.occurrences:
        written = option.written
        if option.problem is not None or not written.startswith("--") or options.named(written) is not None:
            continue
        having = releases_with(program, written)
        abbreviated = options.prefixes and any(name.startswith(written) for name in options.by_name)
        had = any(each in having for each in releases if each not in later)
        if abbreviated or not had or not having or later[-1] not in having:
            continue
        back = next(at for at, each in enumerate(later) if each in having)
        lacking = later[0] if back == 1 else f"{later[0]} to {later[back - 1]}"
        message = f"the text asks for {least} or later, and {lacking} have no {written}: their parser refuses it"
        out = [Edit(option.index, option.length, ())]
        code, remedy = Code.REMOVED_FLAG, "leave it out"
        yield make_remark(Severity.WARNING, code, written, message, remedy, at=option.index, edits=out)


def illegal_by_asked(case: Case) -> Iterator[Remark]:
    """Settings that some of the releases from the lowest one on refuse."""
    subject = case.subject
    least = "" if case.version else asked_least(case.engine.name, case.script, case.commands[0])
    if case.again or not least or subject is None or is_fragment(case.commands[0]):
        return  # what is proposed says itself from which release on it is taken
    if not is_legal(subject.configuration):
        return
    releases = [each for each in versions(case.engine.program) if is_final(each) and since(each, least)]
    case.script.budget.work(20 * len(releases), "the releases that it may be for")
    asked = (replace(subject.configuration, version=each) for each in releases)
    refused = (finding for each in asked for finding in check(each) if finding.severity is Severity.ERROR)
    if (finding := next(refused, None)) is None:
        return
    flag = case.engine.command_line.options.get(finding.where, finding.where)
    place = case.option(flag) if flag.startswith("-") else None
    message = f"the text asks for {least} or later, and not all of these take it: {finding.message}"
    at = place.index if place is not None else None
    remedy = in_own_flags(finding.remedy, case.engine.command_line)
    yield make_remark(Severity.WARNING, finding.code, flag, message, remedy, at=at)
