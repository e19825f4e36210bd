"""What later releases of the engine mended in what a command uses: notes.

Older releases may have it or not; that the later one mended it is sure. The rows are data/mended_*.toml.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Final

from moonpad.catalog.known_reports import KnownReport, reports_of
from moonpad.catalog.mended_faults import NUMBER, MendedFault, ModelGroup, candidates, oldest_with
from moonpad.catalog.other_models import other_model
from moonpad.catalog.toml_rows import any_of
from moonpad.engines import ENGINES
from moonpad.engines.value_checks import unresolved, whole
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.command_traits import (
    LONGEST,
    are_devices,
    are_left_out,
    has_started,
    is_device_of,
    model_names,
    option_text,
    spoken_devices,
    with_other_names,
)
from moonpad.explain.checks.given_names import given_names
from moonpad.explain.checks.named_kind import kind_named
from moonpad.explain.checks.own_platform import is_elsewhere
from moonpad.explain.checks.releases.beside_command import (
    ends_start,
    executor_meant,
    is_of_other_chips,
    is_of_two_servers,
    is_switched_off,
    subjects_off,
)
from moonpad.explain.checks.releases.error_agreement import (
    Pairs,
    error_pairs,
    shared_pairs,
    shares_particulars,
    symbol_pairs,
)
from moonpad.explain.checks.releases.fault_kernels import (
    devices_apart,
    in_blocks,
    is_of_tool,
    kinds_named,
    runs_aiter,
    runs_attention,
)
from moonpad.explain.checks.releases.first_releases import first_with_model
from moonpad.explain.checks.releases.idle_options import idle_options, is_of_idle
from moonpad.explain.checks.releases.known_reports import report_remark
from moonpad.explain.checks.releases.time_of_text import came_after, next_release_then
from moonpad.explain.checks.releases.told_faults import (
    is_of_pictures_alone,
    is_told,
    kinds_of,
    told_kinds,
    told_words,
)
from moonpad.explain.checks.set_elsewhere import may_be_set
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.documents.spoken_capabilities import speaks_of_others
from moonpad.explain.documents.spoken_models import spoken_model
from moonpad.explain.documents.spoken_ranks import says_it_runs
from moonpad.explain.documents.told_mends import changes_named, changes_told
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.target_detection import asked_least
from moonpad.values.finding import Code, Severity
from moonpad.values.platform import Platform
from moonpad.values.records import replace
from moonpad.values.versions import order, reached, release_of

MOST: Final = 40
_OF_PARSERS: Final = frozenset({"--tool-call-parser", "--reasoning-parser", "--enable-auto-tool-choice"})
"""What a plugin leaves to the engine that it builds upon."""
_ALSO_CALLED: Final[Mapping[str, tuple[str, ...]]] = {
    "nvfp4": ("-fp4", "modelopt_fp4"),
    "int4": ("w4a16",),
    "w4afp8": ("w4a8-fp8",),
    "modelopt": ("nvfp4", "-fp4"),
    "bf16": ("bfloat16",),
}
_OWN_FP8: Final = re.compile(r"(?<!mx)(?<!w4a)fp8")
_FORMAT: Final = re.compile(r"fp4|fp8|int[48]|awq|gptq|gguf|bf16|w[48]a|bnb", re.ASCII)
"""A name that has one of its own is not of the weights as they were published."""
_WORD: Final = re.compile(r"(?!(?:that|this|with|which|from|where|when|have|been|they|than|into|more)\b)[a-z]\w{3,}")
_SHARED: Final = 0.25
"""Of 86 pairs those of other faults have up to 0.22."""
_SAME: Final = 0.8
"""Of two rows of one change, which may mend several faults."""
_PER_TENSOR: Final = re.compile(r"\bper[- ]tensor\b(?!.*\bblock)", re.IGNORECASE)
"""Faults of weights with one scale for each tensor."""
_PLATFORMS: Final = frozenset(map(str, Platform))
_STOPS: Final = re.compile(
    r"\bfails? (?:at|on|in|to)\b|\babort|\bNaN\b|\bgarbage\b|\bhangs?\b|\bcrash"
    r"|\bdo(?:es)? not (?:start|run|load)\b|Error\b"
)
"""What a fault does that ends the start, or spoils every answer."""
_LEAST: Final = 3
"""So much has to agree where no release is named: two settings, or one with a model or its group; one less where it is
about devices, which then have to be known."""
_BEGINNING: Final = 12
"""Words of a command among which its model stands."""
_BY_NAME: Final = 6
"""So many of the newest that are about a model alone, by its name, are told beside those."""


def mended_later(case: Case) -> Iterator[Remark]:
    """The likeliest first: those that the text's errors speak of, those with which the most agrees, then those of the
    next releases, and of the newest ones where no release is named."""
    if case.commands[0].fork or case.again:
        return
    given = given_names(case)
    idle = idle_options(case)
    off = subjects_off(case)
    near = [row for row in _near(case, given) if not (is_of_idle(row.options, idle) or is_switched_off(row, off))]
    if not case.version:
        least = order(asked_least(case.engine.name, case.script, case.commands[0]) or "0")
        near = [row for row in near if _is_worth(row) and order(row.mended_in) > least]
        first = order(first_with_model(case) or "0")
        near = [row for row in near if order(row.mended_in) >= first]
    case.script.budget.work(4 * len(near), "what later releases mended")
    called = [name.casefold()[-LONGEST:] for name in _called(case)] if near else []
    case = replace(case, cluster=kind_named(case))
    spoken = spoken_devices(case)
    formats = _formats(called, case) if near else ()
    of_model = _looked_at(tuple(called), tuple(formats))
    met = [row for row in near if _is_of_model(row, called, formats, of_model) and _is_met(row, case, spoken)]
    kinds, blocks = (kinds_named(case), in_blocks(case)) if met else ((), False)
    met = [row for row in met if not devices_apart(row, kinds, case)]
    met = [row for row in met if not (blocks and _PER_TENSOR.search(row.fault))]
    met = [row for row in met if is_of_tool(row.methods, called, case) and not _is_reported(row, case)]
    put_in = changes_told(case.script.lines) if met else frozenset()
    met = [row for row in met if not is_of_two_servers(row, case) and str(row.pull) not in put_in]
    met.sort(key=lambda row: order(row.mended_in), reverse=not case.version)
    met.sort(key=lambda row: -row.particular)
    if case.cluster is not None and case.version:
        met.sort(key=lambda row: not ({*row.devices} - _PLATFORMS and _STOPS.search(row.fault)))
    errors = error_pairs(case.script) if met else frozenset()
    words = told_words(case.script) if met else frozenset()
    case.script.budget.work(len(met) if words else 0, "what later releases mended")
    by_number = changes_named(tuple(case.script.lines)) if met else frozenset()
    told = {id(row) for row in met if str(row.pull) in by_number or _as_told(row, case.engine.name, words, errors)}
    then = next_release_then(case) if met else ""
    told -= {id(row) for row in met if _came_after(row, then, case.engine.name) and shared_pairs(row.fault, errors) < 2}
    symbols = symbol_pairs(case.script) if errors else frozenset()
    named = {id(row) for row in met if shares_particulars(row.fault, errors) and shared_pairs(row.fault, symbols)}
    if named:  # by a function of its own: more than the words in which many faults end
        told = named | {id(row) for row in met if id(row) in told and shares_particulars(row.fault, errors)}
    ends = told_kinds(case.script) if met and not told and not case.version else frozenset()
    if ends:
        sure = [row for row in met if row.models and (case.cluster is not None or not row.devices)]
        sure = [row for row in sure if not is_of_pictures_alone(case.script, row.fault)]
        told = {id(row) for row in sure if ends & kinds_of(row.fault) and not came_after(row.since, then)}
    if has_started(case.commands[0], by_words=False) or says_it_runs(case.script.lines):
        met = [row for row in met if id(row) in told or not ends_start(row.fault)]
    met.sort(key=lambda row: id(row) not in told)
    met.sort(key=lambda row: -shared_pairs(row.fault, errors))
    met.sort(key=lambda row: id(row) not in named)
    met = list(_once(met))
    for row in met[:MOST] if case.version else _unnamed(met):
        yield replace(_remark(row, case, spoken), as_told=id(row) in told)


def _once(met: Sequence[MendedFault]) -> Iterator[MendedFault]:
    """A fault with several settings has a row for each; what one change mends, told in other words, is the same."""
    by_change: dict[tuple[str, int], list[str]] = {}
    for row in met:
        faults = by_change.setdefault((row.mended_in, row.pull), [])
        if not any(row.fault == other or _is_alike(row.fault, other, least=_SAME) for other in faults):
            faults.append(row.fault)
            yield row


def _as_told(row: MendedFault, engine: str, words: frozenset[str], errors: Pairs) -> bool:
    """Whether the text complains of it, in its own words or by the error that it shows."""
    return shared_pairs(row.fault, errors) > 1 or is_told(row.fault, engine, words)


def _came_after(row: MendedFault, then: str, engine: str) -> bool:
    """Whether the row names its first release, and that came after the text."""
    return came_after(row.since, then) and row.since != oldest_with(engine, row.mended_in)


def _is_worth(row: MendedFault) -> bool:
    """Whether enough agrees where no release is named."""
    return _is_particular(row) or row.by_name


def _is_particular(row: MendedFault) -> bool:
    return row.particular >= (_LEAST - 1 if row.devices else _LEAST)


def _unnamed(met: Sequence[MendedFault]) -> Sequence[MendedFault]:
    """Of those that are met where no release is named; of what is about the model alone first what ends its start."""
    by_name = [row for row in met if not _is_particular(row)]
    by_name.sort(key=lambda row: "no start" not in kinds_of(row.fault))
    return [*[row for row in met if _is_particular(row)][: MOST - _BY_NAME], *by_name[:_BY_NAME]]


def _near(case: Case, given: frozenset[str]) -> Iterator[MendedFault]:
    """Those whose options and variables the command has. Of the engine that a plugin builds upon, those of parsers."""
    rows = candidates(case.engine.name, reached(case.version))
    case.script.budget.work(len(rows) // 2, "what later releases mended")
    yield from (row for row, needed in rows if not _lacks_one(given, needed))
    if case.base != case.engine.name and case.base_version:
        # A candidate of a plugin is built upon the final release of its number.
        of_base = candidates(case.base, release_of(case.base_version) or case.base_version)
        near = (row for row, needed in of_base if needed and not _lacks_one(given, needed))
        yield from (row for row in near if _of_parsers(row))


def _lacks_one(given: frozenset[str], needed: tuple[frozenset[str], ...]) -> bool:
    return any(map(given.isdisjoint, needed))


def _called(case: Case) -> Sequence[str]:
    """The model's names. Where the one that is written is not known, also the one that the text speaks of."""
    names = model_names(case, True)
    known = case.checkpoint is not None or other_model(case.model_named) is not None
    spoken = "" if known else spoken_model(case.script)
    return [*names, spoken] if spoken and not _is_of_another(spoken, case) else names


def _is_of_another(spoken: str, case: Case) -> bool:
    """Whether another start of the text serves that model, so that what the text says of it is said of that start."""
    name, own = spoken.casefold(), {id(command) for command in case.commands}
    others = [each for each in case.script.commands if each.program != "other" and id(each) not in own]
    case.script.budget.work(len(others), "its engine commands")
    return any(name in word.text.casefold() for command in others for word in command.argv[:_BEGINNING])


def _is_reported(row: MendedFault, case: Case) -> bool:
    """Whether a known report that has the same source and is about the same fault is told, which says more. A change
    often mends several."""
    reports = _reports_of(case.engine.name).get(row.provenance.source, ())
    return any(_is_alike(row.fault, report.message) and report_remark(report, case) for report in reports)


@cache
def _is_alike(fault: str, message: str, least: float = _SHARED) -> bool:
    """By the share of words that both have."""
    one, other = ({word[:6] for word in _WORD.findall(text.casefold())} for text in (fault, message))
    return len(one & other) >= least * min(len(one), len(other))


@cache
def _reports_of(engine: str) -> Mapping[str, Sequence[KnownReport]]:
    """By each pull request of their sources."""
    by_source: dict[str, list[KnownReport]] = {}
    for report in reports_of(engine):
        for source in report.provenance.source.split("; "):
            by_source.setdefault(source, []).append(report)
    return by_source


def _of_parsers(row: MendedFault) -> bool:
    return bool(row.options) and _OF_PARSERS.issuperset(row.options) and not row.devices and not row.variables


@lru_cache(maxsize=16)
def _looked_at(called: tuple[str, ...], formats: tuple[str, ...]) -> dict[int, bool]:
    """Of each row, by its identity, whether it is about a model of these names: a text with fifty starts asks as often.
    The rows are kept for as long as the program runs."""
    return {}


def _is_of_model(row: MendedFault, called: Sequence[str], formats: Sequence[str], known: dict[int, bool]) -> bool:
    if (found := known.get(id(row))) is None:
        found = known[id(row)] = _of_model(row, called, formats)
    return found


def _of_model(row: MendedFault, called: Sequence[str], formats: Sequence[str]) -> bool:
    if row.not_models and any(part in name for name in called for part in row.not_models):
        return False
    if row.formats and not any(_is_of_format(word, formats) for word in row.formats):
        return False
    if not row.models:
        return True
    return any(_is_in(group, name) for group in row.groups for name in called)


def _is_in(group: ModelGroup, name: str) -> bool:
    """Of a distilled model the name of its teacher says nothing."""
    if any(part in name for part in group.without):
        return False
    return any(part in name and not ("distill" in name and part.startswith("deepseek")) for part in group.parts)


def _formats(called: Sequence[str], case: Case) -> Sequence[str]:
    """Texts that name the format of the weights."""
    quantization = case.checkpoint.quantization if case.checkpoint is not None else None
    scheme = quantization.scheme if quantization is not None else ""
    other = other_model(case.model_named)
    published = other.published if other is not None and _FORMAT.search(case.model_named.casefold()) is None else ""
    return scheme, published, case.text("--quantization").casefold(), *called


def _is_of_format(word: str, formats: Sequence[str]) -> bool:
    """`fp8` is in `Model-FP8`, and not in `Model-MXFP8`, which is another format."""
    names = (word, *_ALSO_CALLED.get(word, ()))
    return any(_OWN_FP8.search(text) if name == "fp8" else name in text for name in names for text in formats)


def _is_met(row: MendedFault, case: Case, spoken: str) -> bool:
    if not (row.devices and case.platform) and is_of_other_chips(row.fault, case):
        return False
    of_some = spoken in (Platform.ROCM, Platform.CUDA) and any(is_device_of(spoken, each) for each in row.devices)
    unknown = case.cluster is None and (not spoken or of_some) and not case.platform and row.particular >= _LEAST
    unknown = unknown and not (row.devices and (speaks_of_others(case.script) or is_elsewhere(row.devices, case)))
    unknown = unknown and not _is_left_out(row, spoken)
    if not (unknown or are_devices(row.devices, row.other_devices, case, spoken)) or not are_left_out(row.lacks, case):
        return False
    if not runs_attention(row.attention, case) or (row.aiter and not runs_aiter(case)):
        return False
    if row.text and not is_in_lines(re.compile(row.text, re.IGNORECASE), case.script.lines, LONGEST):
        return False
    if row.no_text and is_in_lines(re.compile(row.no_text, re.IGNORECASE), case.script.lines, LONGEST):
        return False
    variables = case.commands[0].env
    if any(name in variables for name in row.unset) or (row.unset and may_be_set(case, row.unset)):
        return False
    for term, words in row.variables.items():
        if not any(name in variables and _says(words, case.variable(name)) for name in any_of(term)):
            return False
    if not all(any(_says(words, text) for text in _texts(flag, case)) for flag, words in row.options.items()):
        return False
    for flag, words in row.other_options.items():
        if any(_says(words, text) for text in (*_texts(flag, case), executor_meant(flag, case)) if text):
            return False
    return all(any(_reaches(least, text) for text in _texts(flag, case)) for flag, least in row.at_least.items())


def _is_left_out(row: MendedFault, spoken: str) -> bool:
    """Whether the devices that the text speaks of are those that do not have it."""
    return bool(spoken) and spoken in row.other_devices


def _texts(term: str, case: Case) -> Iterator[str]:
    flags = with_other_names(any_of(term), case)
    placed = (option_text(flag, case) for flag in flags)
    yield from (each[1] for each in placed if each is not None)
    off = {place.written for place in case.first.parsed.occurrences if place.value is False}
    yield from ("" for flag in flags if flag in off)


def _says(words: str, text: str) -> bool:
    """Without blanks, which JSON may have anywhere. A value that only a shell can fill in says nothing."""
    text = "".join(text[:LONGEST].casefold().split())
    if not words or unresolved(text):
        return not words
    return any(word in text or (word == NUMBER and _is_number(text)) for word in "".join(words.split()).split("|"))


def _is_number(text: str) -> bool:
    return whole(text.replace(".", "", 1)) is not None


def _reaches(least: int, text: str) -> bool:
    return not unresolved(text) and (whole(text) or 0) >= least


def _remark(row: MendedFault, case: Case, spoken: str) -> Remark:
    flag = next((name for term in (*row.options, *row.at_least) for name in any_of(term)), "")
    place = option_text(flag, case) if flag else None
    variables = (name for term in row.variables for name in any_of(term))
    where = place[0].written if place is not None else next(variables, "engine")
    title = ENGINES[case.base if _of_parsers(row) else case.engine.name].facts.title
    unknown = not are_devices(row.devices, row.other_devices, case, spoken)
    of_devices = f"on {', '.join(row.devices)}, if the devices are of these: " if unknown else ""
    message = f"{of_devices}{row.fault}: mended in {title} {row.mended_in} ({row.repository}#{row.pull})"
    at = place[0].index if place is not None else None
    return make_remark(Severity.NOTE, Code.MENDED_LATER, where, message, f"take {row.mended_in} or later", at=at)
