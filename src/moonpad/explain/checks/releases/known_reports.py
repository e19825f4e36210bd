"""What was reported about the release, the model, the devices and the options of a command: warnings, never errors.

The rows are data/known_reports*.toml. What is not known matches no row that asks for it: a row with releases needs the
release, one with devices the devices.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from moonpad.catalog.known_reports import KnownReport
from moonpad.catalog.options import newest
from moonpad.catalog.toml_rows import any_of
from moonpad.engines import ENGINES
from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.command_traits import (
    LONGEST,
    are_devices,
    are_left_out,
    laid_over,
    model_names,
    option_text,
    reaches_over_machines,
    spoken_devices,
    unnamed_device,
    with_other_names,
)
from moonpad.explain.checks.given_names import given_names
from moonpad.explain.checks.named_kind import kind_named
from moonpad.explain.checks.own_platform import is_elsewhere, names_rocm, platform_told
from moonpad.explain.checks.releases.error_agreement import Pairs, error_pairs, shared_pairs, tells_figures
from moonpad.explain.checks.releases.expert_backends import expert_backend
from moonpad.explain.checks.releases.fault_kernels import runs_aiter, runs_attention
from moonpad.explain.checks.releases.first_releases import first_with_model
from moonpad.explain.checks.releases.idle_options import idle_options, is_of_idle
from moonpad.explain.checks.releases.report_rows import is_shared, of_model, of_this_release, rows_about, weights_of
from moonpad.explain.checks.releases.report_words import threads_of, told
from moonpad.explain.checks.releases.run_images import of_image
from moonpad.explain.checks.releases.start_refusals import oldest_recent
from moonpad.explain.checks.releases.time_of_text import came_after, next_release_then
from moonpad.explain.checks.releases.told_faults import (
    complains_of,
    is_told,
    kinds_of,
    tells_of_memory,
    tells_of_mend,
    told_kinds,
    told_words,
)
from moonpad.explain.checks.set_elsewhere import may_be_set
from moonpad.explain.documents.devices_by_name import are_of_others
from moonpad.explain.documents.installed_packages import is_installed
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.documents.logged_caches import says_answers_are_right
from moonpad.explain.documents.spoken_capabilities import speaks_of_others, spoken_capability
from moonpad.explain.documents.spoken_days import last_day
from moonpad.explain.documents.spoken_ranks import says_it_runs
from moonpad.explain.documents.tabs import tab_labels
from moonpad.explain.documents.text_hints import build_of_fork
from moonpad.explain.documents.told_mends import changes_told
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.grouping import role_of
from moonpad.explain.image_days import build_day
from moonpad.explain.programs import is_server
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.roles import ROLES
from moonpad.explain.target_detection import asked_least
from moonpad.values.finding import Code, Severity
from moonpad.values.platform import Platform
from moonpad.values.records import replace
from moonpad.values.versions import order, reached

_MOST: Final = 6
_MOST_UNNAMED: Final = 12
"""Where no release is named, what ended in any of them may be the cause."""
_ALIKE: Final = 80
"""Characters."""
_MOST_COMMANDS: Final = 200
_OF_POOLS: Final = re.compile(r"cache_transceiver|max_tokens_in_buffer|disaggregat")
"""Keys and words of servers that hand their cache over."""
_ONE_WORD: Final = re.compile(r"\{\w+\}")
_ANY_WORD: Final = "{x}"
"""A template: only a pattern that asks for its very word fits."""


class _Known(Struct, frozen=True):
    """What each row asks of a command again."""

    spoken: str
    """The capability of devices that the text speaks of."""
    errors: Pairs = frozenset()
    """Of the errors of the text."""
    laid_over: str = ""
    """What is laid over the release, and may mend what is reported of it."""


def reported(case: Case) -> Iterator[Remark]:
    """One warning for each report, at the first of its options or variables that the command has. A fork has faults of
    its own."""
    if case.commands[0].fork and not case.version:
        told_of = "\n".join((case.commands[0].fork, *case.script.lines))
        case = replace(case, version=build_of_fork(case.engine.name, told_of))
    rows = rows_about(case.engine.name, reached(case.version), case.commands[0].fork, weights_of(case))
    case.script.budget.work(len(rows) // 2, "its known reports")
    ended = {remark.at for remark in expert_backend(case)} - {None}  # said there, with what has a kernel
    case = replace(case, cluster=kind_named(case))
    errors = error_pairs(case.script)
    known = _Known(spoken_devices(case), errors, laid_over(case))
    given = given_names(case)
    # Most go by this, which costs least.
    case.script.budget.once("changes that it puts in", len(case.script.lines), "its known reports")
    idle = idle_options(case)
    near = [row for row, needed in rows if not any(map(given.isdisjoint, needed))]
    put_in = changes_told(case.script.lines)
    near = [row for row in near if not is_of_idle(row.options, idle) and not (put_in and put_in & _numbers_of(row))]
    case.script.budget.work(6 * len(near), "its known reports")  # measured: 3 to 8 µs a row
    # What the text's errors speak of first, then what is sure, then what ended latest.
    found = [(row, remark) for row in near if (remark := _remark(row, case, known)) is not None]
    found = [one for one in found if one[1].at not in ended]
    found = [
        (row, replace(remark, stops=row.ends_it and (remark.stops or shared_pairs(row.message, errors) > 1)))
        for row, remark in found
        if not (case.serves_already and row.ends_start and shared_pairs(row.message, errors) < 2)
    ]
    if not case.version:
        words = told_words(case.script) if found else frozenset()
        least = asked_least(case.engine.name, case.script, case.commands[0])
        kinds = told_kinds(case.script) if found else frozenset()
        oldest = max(first_with_model(case), least, key=lambda release: order(release or "0"))
        program = ENGINES[case.engine.name].program
        recent, current = oldest_recent(program), newest(program)
        day = next_release_then(case) if found else ""
        found = [
            (row, remark if _is_told(row, case, errors, words) else _as_past(remark, row, recent, current, kinds, day))
            for row, remark in found
            if _reaches(row, oldest)
        ]
    found.sort(key=lambda one: order(one[0].until or one[0].last or "nightly"), reverse=True)
    found.sort(key=lambda one: one[1].finding.severity is not Severity.WARNING)
    found.sort(key=lambda one: -shared_pairs(one[0].message, errors))
    words = told_words(case.script) if found else frozenset()
    kinds = told_kinds(case.script) if words else frozenset()
    found, then = list(_once(found)), next_release_then(case)
    for row, remark in found[: _MOST if case.version else _MOST_UNNAMED]:
        told = shared_pairs(row.message, errors) > 1 or is_told(row.message, case.engine.name, words)
        if case.version and row.models and row.until + row.last and words:
            told |= bool(kinds & kinds_of(row.message)) or tells_of_memory(case.script, row.message)
        option = remark.finding.where if row.options and remark.finding.where.startswith("--") else ""
        told |= bool(words and option) and complains_of(case.script, rf"{re.escape(option)}(?![\w-])")
        exact = tells_figures(row.message, case.script)
        shown = shared_pairs(row.message, errors) > 1 or exact
        if words and row.complained_of and complains_of(case.script, row.text):
            exact = shown = True
        if exact:
            remark = replace(remark, finding=replace(remark.finding, severity=Severity.WARNING), of_former=False)
        if came_after(row.since, then) and not shown:
            yield replace(remark, as_told=False, of_former=remark.of_former or bool(row.until or row.last))
            continue
        older = told and not case.version and bool(row.until or row.last)
        complained = shown or (told and remark.finding.severity is Severity.WARNING)
        yield replace(remark, complained=complained, as_told=remark.as_told or older)


def _once(found: Iterable[tuple[KnownReport, Remark]]) -> Iterator[tuple[KnownReport, Remark]]:
    """Of rows of the same releases with one thread, one place and one remedy that begin alike, the first."""
    known: set[tuple[str, ...]] = set()
    for row, remark in found:
        thread = threads_of(row.provenance.source)
        releases = (row.since, row.until, row.last)
        told_once = (thread, *releases, remark.finding.where, remark.finding.remedy, row.message[:_ALIKE])
        if not thread or told_once not in known:
            known.add(told_once)
            yield row, remark


def _is_told(row: KnownReport, case: Case, errors: Pairs, words: frozenset[str]) -> bool:
    if row.complained_of and row.also_unnamed:
        return True  # its text is in the command's own: the release of a package, say
    least = 2 if _is_of_latest(case) else 1
    return shared_pairs(row.message, errors) >= least or is_told(row.message, case.engine.name, words)


def _is_of_latest(case: Case) -> bool:
    """Whether its image is asked for by the tag of the newest build: what ended long ago needs more than one sign."""
    container = case.commands[0].container
    return container is not None and container.image is not None and container.image.text.endswith(":latest")


def _as_past(remark: Remark, row: KnownReport, recent: str, current: str, kinds: frozenset[str], then: str) -> Remark:
    """Where no release is named, what ended long ago, or before the newest release, by which it is judged, is told with
    what later releases mended; first what is of the kind that the text complains of. What was seen in the release
    `then`, that of the text's day, stays."""
    end = row.until or row.last
    if not end or not recent:
        return remark
    of_its_day = bool(then) and order(end) >= order(then)
    ended = row.ended_before(current) or (row.last_seen_before(current) and not of_its_day)
    if order(end) >= order(recent) and not ended:
        return remark
    return replace(remark, of_former=True, as_told=bool(kinds & kinds_of(row.message)))


def _reaches(row: KnownReport, oldest: str) -> bool:
    """Whether one of the releases that it is about has the model, and is not older than the text asks for."""
    if row.also_unnamed:
        return True
    if row.until:
        return not oldest or order(row.until) > order(oldest)
    return not (row.last and oldest) or order(row.last) >= order(oldest)


def report_remark(row: KnownReport, case: Case) -> Remark | None:
    """Of one row alone."""
    if not of_this_release(row, case.engine.name, case.version) or not of_model(row, weights_of(case)):
        return None
    spoken = spoken_capability(case.script) if case.cluster is None else ""
    return _remark(row, case, _Known(spoken))


def _remark(row: KnownReport, case: Case, known: _Known) -> Remark | None:
    may_be = not are_devices(row.devices, row.other_devices, case, known.spoken)
    if may_be and not _may_be_devices(row, case, known):
        return None
    if row.until_day and last_day(build_day(case.engine.name, case.commands[0], case.script)[0]) >= row.until_day:
        return None
    forked = row.forks.get(case.engine.name, "")
    if not are_left_out(row.lacks, case) or not of_image(row.image, case):
        return None
    if not runs_attention(row.attention, case) or (row.aiter and not runs_aiter(case)):
        return None
    if row.lacks and not row.options and is_fragment(case.commands[0]):
        return None  # a few options of a command may leave out any other
    if (row.not_roles and role_of(case.commands[0]) in row.not_roles) or (row.text and not _is_spoken(row.text, case)):
        return None
    if row.text and _OF_POOLS.search(row.text) and _is_beside_pools(case):
        return None
    if row.on_one_machine and reaches_over_machines(case):
        return None
    if (row.no_text and _in_lines(row.no_text, case)) or is_installed(row.remedy, case.script.lines):
        return None
    options = [_option(term, pattern, case) for term, pattern in row.options.items()]
    if None in options:
        return None
    variables = case.commands[0].env
    if any(name not in variables for name in row.variables) or any(name in variables for name in row.unset):
        return None
    if row.unset and may_be_set(case, row.unset):
        return None
    if not all(_matches(pattern, case.variable(name)) for name, pattern in row.variables.items()):
        return None
    if not row.devices and _is_of_rocm(row) and platform_told(case) not in ("", Platform.ROCM):
        return None  # the image or the machine of another command
    place = options[0] if options else None
    where = place.written if place is not None else next(iter((*row.variables, *_added_by(row))), "engine")
    words = _words(case, known.spoken)
    title = ENGINES[row.engines[0] if is_shared(row, case.engine.name) else case.engine.name].facts.title
    title = row.fork.partition(",")[0] or title
    message = told(row, title, words, forked=case.engine.name in row.forks)
    if may_be and row.devices:
        message = f"on {', '.join(row.devices)}, if the devices are of these: {message}"
    at = place.index if place is not None else None
    sure = not row.usual and not (may_be and row.devices) and (case.version or not (row.until or row.last or forked))
    runs = row.ends_it and says_it_runs(case.script.lines)
    sure = sure and not runs and not row.is_concluded(case.version)
    sure = sure and of_this_release(row, case.engine.name, case.first_meant)
    if sure and tells_of_mend(row.message, case.engine.name, case.script):
        message, sure = f"{message}; the text tells of a mend", False
    if sure and row.spoils_answers and _says_they_are_right(case):
        message, sure = f"{message}; the text says that its answers are right", False
    if known.laid_over and bool(row.until or row.last):
        message, sure = f"{message}; {known.laid_over} may mend it", False
    severity = Severity.WARNING if sure else Severity.NOTE
    remark = make_remark(severity, Code.KNOWN_REPORT, where, message, row.remedy.format_map(words), at=at)
    meant = not (may_be and row.devices) and not case.version and _has_newest(row, case.engine.name)
    if meant and row.ends_it and not row.usual and not runs:
        warning = replace(remark.finding, severity=Severity.WARNING)
        remark = replace(remark, finding=warning, ends_start=True)
    remark = replace(remark, stops=sure and row.ends_it, of_some=row.of_some)
    return remark if place is not None or not row.variables else replace(remark, variable=where)


def _numbers_of(row: KnownReport) -> frozenset[str]:
    """Of the pull requests that mend it."""
    return frozenset(re.findall(r"/pull/(\d+)", row.provenance.source))


def _says_they_are_right(case: Case) -> bool:
    """Whether the text says of answers that they are right, and complains of none."""
    return says_answers_are_right(case.script.lines) and "garbage" not in told_kinds(case.script)


def _added_by(row: KnownReport) -> Iterator[str]:
    """What the command lacks, as far as the remedy is to add it: else it has nothing to do with that."""
    return (flag for flag in row.lacks if flag in row.remedy or re.search(r"\bit\b", row.remedy))


def _has_newest(row: KnownReport, engine: str) -> bool:
    """Whether the newest release, by which a command without one is judged, is among those that it was seen in."""
    current = newest(ENGINES[engine].program)
    if not current or row.forks.get(engine) or not (row.last or row.until):
        return False
    begun = not row.since or order(row.since) <= order(current)
    return begun and (order(row.last) >= order(current) if row.last else order(row.until) > order(current))


def _may_be_devices(row: KnownReport, case: Case, known: _Known) -> bool:
    """Whether the text names no devices, and shows the very error that the row is about, or most have its devices."""
    unspoken = known.spoken in ("", Platform.CUDA) and not case.platform
    unknown = case.cluster is None and unspoken and not is_elsewhere(row.devices, case)
    near = row.on_unnamed or shared_pairs(row.message, known.errors) > 1
    return unknown and near and not speaks_of_others(case.script)


def _is_beside_pools(case: Case) -> bool:
    """Whether it does both, and other servers of the text one alone: what the text says of those is not of it."""
    others = (each for each in case.script.commands[:_MOST_COMMANDS] if is_server(each.program))
    return role_of(case.commands[0]) not in ROLES and any(role_of(each) in ROLES for each in others)


def _is_of_rocm(row: KnownReport) -> bool:
    return names_rocm((row.image, row.text, *row.variables))


def _option(term: str, pattern: str, case: Case) -> Occurrence | None:
    """The first option of those that the term names whose value is meant."""
    for flag in with_other_names(any_of(term), case):
        placed = option_text(flag, case)
        if placed is not None and _matches(pattern, placed[1]):
            return placed[0]
    return None


def _is_spoken(pattern: str, case: Case) -> bool:
    """In the label of the command's own tab, or in the text; not where the label of a neighbour says it alone."""
    own, others = tab_labels(case.script.lines, case.commands[0].line) if case.script.markdown else ("", ())
    if own and any(re.search(pattern, label, re.IGNORECASE) for label in (own, *others)):
        return re.search(pattern, own, re.IGNORECASE) is not None
    known = case.cluster is not None
    return _in_lines(pattern, case) and not are_of_others(pattern, case.script, case.commands[0].line, known=known)


def _in_lines(pattern: str, case: Case) -> bool:
    case.script.budget.once(f"lines like {pattern}", len(case.script.lines), "its known reports")
    return is_in_lines(re.compile(pattern, re.IGNORECASE), case.script.lines, LONGEST)


def _matches(pattern: str, text: str) -> bool:
    if pattern and unresolved(text) and not (_ONE_WORD.fullmatch(text) and not fits(pattern, _ANY_WORD)):
        return False
    return not pattern or fits(pattern, text)


def fits(pattern: str, text: str) -> bool:
    return re.fullmatch(pattern, text[:LONGEST].strip("'\""), re.IGNORECASE | re.DOTALL) is not None


def _words(case: Case, spoken: str) -> Mapping[str, str]:
    device = case.cluster.device.product if case.cluster else unnamed_device(spoken)
    names = model_names(case, True)
    name = names[0] if case.checkpoint else names[0].rpartition("/")[2]
    return {"model": name or "the model", "device": device, "version": case.version or "this release"}
