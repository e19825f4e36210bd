"""Judges the deployments of a script: every flag, the layout, the memory, and what would be better."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from copy import deepcopy
from typing import Final

from moonpad.catalog.calibrations import Calibration
from moonpad.catalog.options import newest, option_set
from moonpad.engines import ENGINES
from moonpad.engines.argv_reader import Parsed, parse
from moonpad.engines.option_grammar import Grammar
from moonpad.explain.accepted_options import but_accepted
from moonpad.explain.alternatives import fold
from moonpad.explain.chat_programs import is_chat
from moonpad.explain.checks.certainty import as_certain
from moonpad.explain.checks.options.placeholders import stand_in_remarks
from moonpad.explain.checks.options.security import wrapper_remarks
from moonpad.explain.checks.pools.disaggregated_file import file_of_pools
from moonpad.explain.checks.pools.router_addresses import router_addresses
from moonpad.explain.chosen_backends import by_backend
from moonpad.explain.client_keys import without_client_keys
from moonpad.explain.commands import Command, ErrorLine, Script, stands_for_more
from moonpad.explain.corrected import with_corrected
from moonpad.explain.counted_sizes import with_counted_sizes
from moonpad.explain.cut_at_brackets import but_cut
from moonpad.explain.dated_texts import of_its_day
from moonpad.explain.deployment import Deployment
from moonpad.explain.development_builds import judged_as_build
from moonpad.explain.documents.log_owners import owners_of
from moonpad.explain.documents.pasted_failures import failures_in
from moonpad.explain.engine_detection import engine_of
from moonpad.explain.engine_wrappers import is_wrapped, of_wrappers
from moonpad.explain.every_release import of_every_release
from moonpad.explain.flag_lists import ELLIPSES, LAYOUT, as_commands, is_fragment
from moonpad.explain.flags import env_remarks, flag_remarks
from moonpad.explain.given_remedies import but_given, but_unused, without_unknown
from moonpad.explain.grouping import Group, group
from moonpad.explain.guessed_releases import as_guessed
from moonpad.explain.input_limits import LINE_SHOWN
from moonpad.explain.json_repair import with_json
from moonpad.explain.kept_defaults import with_own_defaults
from moonpad.explain.kept_ranks import with_own_ranks
from moonpad.explain.keys_by_name import with_named_keys
from moonpad.explain.manifests.option_sources import rulebook
from moonpad.explain.measured_builds import as_measured, but_served
from moonpad.explain.mended_lines import mended_line
from moonpad.explain.one_release import with_one_release
from moonpad.explain.paired_releases import but_of_one_release
from moonpad.explain.pool_pairs import with_pairs
from moonpad.explain.programs import is_server, program_named, program_table
from moonpad.explain.releases_of_others import with_faults_of_others
from moonpad.explain.remedy_edits import Started, with_remedy
from moonpad.explain.removed_programs import removed_program_remarks
from moonpad.explain.repeated_remarks import without_twins
from moonpad.explain.results import Judged, Remark, printable
from moonpad.explain.router_releases import router_release
from moonpad.explain.shell.typo_repair import as_meant
from moonpad.explain.spent_variables import without_spent_variables
from moonpad.explain.spoken_reports import spoken_report
from moonpad.explain.target_detection import BY_NEWEST, Question, Version, version_of
from moonpad.explain.told_failures import (
    beside_findings,
    with_what_stopped,
    without_guesses,
    without_mended_elsewhere,
    without_repeated,
)
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.records import replace

_SHOWING: Final = "showing the answer"
_VARIANTS: Final = 2
_OF_OPTIONS: Final = frozenset({Code.UNKNOWN_FLAG, Code.REMOVED_FLAG, Code.INVALID_VALUE, Code.PREFIX_FLAG})


def judge(script: Script, question: Question, calibrations: Sequence[Calibration] = ()) -> tuple[Judged, ...]:
    """One judgement for each deployment and each client command, in the order of the script.

    Raises UsageError where the version that was asked for is not a version, and where the script is too large.
    """
    script = replace(script, budget=deepcopy(script.budget))  # each judgement begins where the reading ended
    words = sum(len(command.words) + len(command.env) for command in script.commands if command.program != "other")
    script.budget.work(8 * words + len(script.commands), "its engine commands")
    groups = group(map(without_client_keys, as_commands(of_wrappers(script.commands, script.lines), script.lines)))
    errors = owners_of(groups, script)
    known = tuple(calibrations)
    judged = (
        _judged(member, own, script, question, known, suggest=suggests)
        for member, own, suggests in zip(groups, errors, _first_variants(groups), strict=True)
    )
    whole = [judgement for judgement in judged if judgement is not None]
    found = with_pairs(fold([each for each in whole if not _is_sketch(each)] or whole))
    if not found and not question.engine and (report := spoken_report(script)) is not None:
        return (report,)
    return found or _judged_alone(script) or _judged_rollout(script)


def _first_variants(groups: Sequence[Group]) -> Iterator[bool]:
    """Whether better settings are looked for: for the first few that a loop starts at a line, since those of the others
    are the same, and are shown once."""
    seen: Counter[tuple[str, int]] = Counter()
    for each in groups:
        place = each.commands[0].program, each.commands[0].line
        seen[place] += 1
        yield seen[place] <= _VARIANTS


def _judged_alone(script: Script) -> tuple[Judged, ...]:
    from moonpad.explain.checks.text_alone import judged_alone  # what most texts need nothing of

    alone = judged_alone(script)
    return () if alone is None else (alone,)


def _judged_rollout(script: Script) -> tuple[Judged, ...]:
    from moonpad.explain.trainer_rollouts import trainer_rollout  # what most texts need nothing of

    rollout = trainer_rollout(script)
    return () if rollout is None else (rollout,)


def _is_sketch(judged: Judged) -> bool:
    """`vllm serve ... --enable-auto-tool-choice`, and options with sizes to fill in, `--data-parallel-size <N>`: words
    about other commands, with nothing wrong in them."""
    told = any(finding.severity is not Severity.NOTE for finding in judged.findings)
    return not told and bool(judged.sources) and all(_begins_open(each, judged.unknown) for each in judged.sources)


def _begins_open(command: Command, unknown: Set[str]) -> bool:
    if is_fragment(command) and unknown & {*LAYOUT}:
        return any(
            word.text[:1] == "<" and word.text[-1:] == ">" and not stands_for_more(word) for word in command.argv
        )
    return bool(command.argv) and command.argv[0].text in ELLIPSES


def _judged(
    written: Group,
    errors: Sequence[ErrorLine],
    script: Script,
    question: Question,
    calibrations: tuple[Calibration, ...],
    *,
    suggest: bool,
) -> Judged | None:
    script.budget.work(500, "its engine commands")
    whole_objects = [with_json(command, script) for command in written.commands]
    repaired = [as_meant(command, script) for command, _ in whole_objects]
    meant = replace(written, commands=tuple(command for command, _ in repaired))
    repairs = tuple(
        replace(repair, command=number)
        for found in (whole_objects, repaired)
        for number, (_, repairs) in enumerate(found)
        for repair in repairs
    )

    def judged_as(other: Group, repairs: tuple[Remark, ...] = (), *, again: bool = True) -> Judged | None:
        engine = engine_of(other.commands[0], question, script)
        if engine is None:
            return _judged_client(other, script, question, repairs)

        def by(asked: Question) -> Judged:
            suggests = suggest and not again and not any(is_chat(each) or is_wrapped(each) for each in other.commands)
            deployment = Deployment(other, script, asked, calibrations, ENGINES[engine], repairs, suggests, again)

            def with_sizes(counted: Mapping[str, str]) -> Judged:
                return replace(deployment, question=replace(asked, settings={**asked.settings, **counted})).judged()

            counted = with_counted_sizes(deployment.judged(), other.commands[0], script, with_sizes)
            return but_served(counted, other.commands[0], script)

        def by_release(version: str) -> Judged | None:
            return by(replace(question, version=version))

        def by_day(mended: Group, version: str) -> Judged:
            asked = replace(question, version=version)
            return Deployment(mended, script, asked, calibrations, ENGINES[engine], (), False, True).judged()

        def by_other(version: str) -> Judged:
            asked = replace(question, version=version)
            return Deployment(other, script, asked, calibrations, ENGINES[engine], repairs, False, again).judged()

        build = judged_as_build(but_of_one_release(by(question), by_release), by_release, script, other.commands)
        build = with_faults_of_others(build, by_release, script)
        dated = of_its_day(as_measured(build, script, other.commands), script, other, by_day)
        return of_every_release(as_guessed(dated), script, other, by_other)

    judged = judged_as(meant, repairs, again=False)
    if judged is None:
        return None
    whole = replace(
        judged,
        kind=written.kind,
        sources=tuple(command for command, _ in whole_objects),
        commands=tuple(mended_line(command, ()) for command in written.commands),
        remarks=tuple(replace(remark, finding=_printable(remark.finding)) for remark in judged.remarks),
    )
    newest = whole.version_because.endswith(BY_NEWEST)
    logged = by_backend(failures_in(errors, written, script), whole.remarks, meant.commands, script)
    unexplained = beside_findings(logged, whole.remarks, errors, script, newest=newest)
    shared = {script.where(error.number) for error in errors if error.either}
    failures = tuple(
        replace(remark, finding=_printable(remark.finding), either=remark.finding.where in shared)
        for remark in unexplained
    )
    failures = _with_remedies(failures, whole, meant, script, question)
    kept = without_guesses(without_repeated(whole.remarks, failures), failures, script)
    kept = without_mended_elsewhere(kept, script)
    whole = replace(whole, remarks=(*kept, *(remark for remark in failures if remark.changes)))
    whole = with_what_stopped(but_cut(with_corrected(whole, meant, judged_as), script), failures)
    whole = with_own_ranks(whole, meant.commands, script)
    whole = with_named_keys(whole, (*written.commands, *meant.commands), script)
    whole = with_one_release(without_spent_variables(whole, script))
    whole = with_own_defaults(whole, meant.commands, script)
    whole = replace(whole, remarks=(*whole.remarks, *(remark for remark in failures if not remark.changes)))
    script.budget.work(_showing(whole, script), _SHOWING)
    return whole


def _with_remedies(
    failures: tuple[Remark, ...], judged: Judged, meant: Group, script: Script, question: Question
) -> tuple[Remark, ...]:
    """With what mends a command of a server whose log says why it stopped."""
    if judged.layout is None or not any(failure.finding.remedy for failure in failures):
        return failures
    engine = ENGINES[judged.engine]
    version = version_of(judged.engine, script, question, meant.commands[0])
    readings = Deployment(meant, script, question, (), engine, ()).readings(version)
    started = Started(meant.commands, readings, engine, version.text, judged.cluster)
    failures = tuple(but_unused(but_given(failure, readings), readings, meant.commands) for failure in failures)
    return tuple(without_unknown(with_remedy(failure, started), readings) for failure in failures)


def _showing(judged: Judged, script: Script) -> int:
    """Steps of work to print it as text and as JSON."""
    lines = [*judged.commands, *judged.corrected, *(line for better in judged.better for line in better.lines)]
    texts = [text for line in lines for text in (*line.argv, *line.env.values())]
    texts += [text for finding in judged.findings for text in (finding.where, finding.message, finding.remedy)]
    # Substitutions, each of which is looked for in each word.
    opaque = [name for name in (lines[-1].unresolved if lines else ()) if not name.isidentifier()]
    script.budget.work((10 + 3 * len(texts)) * len(opaque) + 6 * sum(map(len, opaque)), _SHOWING)
    spans = [(word.line, word.end_line) for command in judged.sources for word in command.words]
    script.budget.work(sum(last - first + 1 for first, last in spans), _SHOWING)
    rows = {row for first, last in set(spans) for row in range(max(first, 1), min(last, len(script.lines)) + 1)}
    return (
        12 * len(texts)
        + sum(map(len, texts)) // 3
        + sum(20 + min(len(script.lines[row - 1]), LINE_SHOWN) for row in rows)
        + 100 * len(judged.remarks)
        + len(judged.sources) * (len(judged.remarks) // 10 + len(script.problems))
        + len(spans) * min(len(script.problems), 10)
    )


def _printable(finding: Finding) -> Finding:
    where, message, remedy = (printable(text) for text in (finding.where, finding.message, finding.remedy))
    return replace(finding, where=where, message=message, remedy=remedy)


def _judged_client(group: Group, script: Script, question: Question, repairs: Sequence[Remark]) -> Judged | None:
    """Commands of one program that serve no model: a benchmark, a router, a container in which no known program is
    started. None where nothing is known of the program and nothing was found.
    """
    name = group.commands[0].program
    program, engine, version = program_named(name), "", Version("", "")
    if program is not None and (program.removal is not None or option_set(name) is not None):
        engine = program_table().engines[name]
        version = (
            router_release(group.commands[0], script)
            if program.own_versions
            else version_of(engine, script, question, group.commands[0])
        )
    remarks = [*repairs]
    for number, command in enumerate(group.commands):
        about_it = [*wrapper_remarks(command)]
        if engine:
            about_it += removed_program_remarks(command, version, Parsed())
        if engine and (book := rulebook(name, version)) is not None:
            words = [word.text for word in command.argv]
            parsed = parse(words, Grammar(book.options))
            flags = as_certain(flag_remarks(words, parsed, book, script.budget), command, parsed, book, version)
            about_it += but_accepted(flags, command, script)
            about_it += env_remarks(command.env, book, script.budget, named=bool(version.text))
            about_it += [*router_addresses(command), *file_of_pools(command, script)]
        remarks += (replace(remark, command=number) for remark in about_it)
    named = [command for command in script.commands if command.program != "other"]
    if not any(is_server(command.program) or command.program == "fragment" for command in named):
        first = min(command.line for command in named)
        if group.commands[0].line == first:
            from moonpad.explain.checks.text_alone import slips_alone

            remarks += slips_alone(script)
    if not engine and not remarks:
        return None
    images = (wrapper.image for command in group.commands for wrapper in command.wrappers if wrapper.image is not None)
    if engine or any(text.startswith("|") for image in images for text in image.unresolved):
        remarks += stand_in_remarks(group.commands, script)
    # A program that stops at one of its options is not mended by the others that are.
    refused = any(remark.finding.code in _OF_OPTIONS and _is_left(remark) for remark in remarks)
    recorded = program.removal.program if program and program.removal else name
    release = version.text or (newest(recorded) if engine else "")
    own = name if program is not None and program.own_versions else ""
    told = tuple(without_twins(remarks))
    return Judged(engine or name, release, version.because, told, program=own, refused=refused)


def _is_left(remark: Remark) -> bool:
    return remark.finding.severity is not Severity.NOTE and not remark.mends
