"""A report of a failure that has no command: what its versions, its devices or its error tell by themselves.

No deployment is judged by it. What is not a report, or leaves the engine open, says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.catalog.options import versions
from moonpad.catalog.other_models import OtherModel, in_fp8, other_model
from moonpad.catalog.transformers_types import transformers_types
from moonpad.engines import ENGINES
from moonpad.engines import foreign_names as names
from moonpad.engines.log_engine import engine_of
from moonpad.engines.log_lines import logged_lines
from moonpad.explain.checks.memory.device_formats import is_nvfp4, nvfp4_refused
from moonpad.explain.checks.models.slices_of_others import MARLIN
from moonpad.explain.checks.releases.transformers_checks import older_release, too_old
from moonpad.explain.commands import ErrorLine, Script
from moonpad.explain.documents.device_mentions import capability_of, mentions, platform_of
from moonpad.explain.documents.pasted_failures import causes_in, fault_of, itself_told
from moonpad.explain.documents.spoken_builds import is_spoken_of
from moonpad.explain.documents.spoken_capabilities import sm_of, spoken_capability
from moonpad.explain.documents.spoken_names import NAME
from moonpad.explain.results import Judged, Remark, make_remark, printable
from moonpad.explain.spoken_heads import uneven_heads
from moonpad.explain.spoken_refusals import refusals_of
from moonpad.explain.spoken_rows import rows_of, spoken_of
from moonpad.values.finding import Code, Severity
from moonpad.values.platform import Platform
from moonpad.values.records import replace
from moonpad.values.versions import is_final, order

_MOST_LINES: Final = 400
_HEAD: Final = 12
"""Lines at the beginning in which a report says that something fails."""
_LONGEST: Final = 2000
_MOST: Final = 3
_TEXTS: Final = ("", ".md", ".txt", ".log")
_TYPE_UNKNOWN: Final = re.compile(
    r"has model type\W{1,4}(?P<type>[\w-]{1,60})\W{1,4}but transformers does not recognize", re.IGNORECASE
)
_FAILS: Final = re.compile(
    r"\b(?:problems?[ ]serving|fail(?:s|ed|ure)?|not able to|unable to|cannot|can['’]t|does(?:n['’]t| not)"
    r" (?:start|work|run|load)|not working|breaking change|crash\w*|failing|hangs?|hung|OOM|error)\b"
    r"|\[Bug\]|报错|失败|无法|挂死",
    re.IGNORECASE,
)
_IN_GENERAL: Final = re.compile(
    r"\b(?:if you|when you|should|must|troubleshoot\w*|faq|release notes|changelog)\b|如果", re.IGNORECASE
)
_TILES: Final = re.compile(r"size_[nk] = \d+ is not divisible by tile_[nk]_size = \d+")
_OTHERS: Final = re.compile(r"mindie|mindspore|mindformers|llama[_-]?factory|verl\b|megatron|deepspeed", re.IGNORECASE)
"""What else runs on the devices of a plugin."""


def spoken_report(script: Script) -> Judged | None:
    """What is found, with the engine that it is found of; None where the text is no such report."""
    suffix = script.file_name[script.file_name.rfind(".") :] if "." in script.file_name else ""
    if suffix not in _TEXTS or script.origins or not _is_short(script):
        return None
    script.budget.work(20 * len(script.lines), "the text")
    lines = [line[:_LONGEST] for line in script.lines]
    found: dict[str, list[Remark]] = {}
    named = _engines(script, lines)
    for engine, remarks in _found(script, lines, named):
        known = {remark.finding.message for remark in found.get(engine, [])}
        found.setdefault(engine, []).extend(each for each in remarks if each.finding.message not in known)
    engine = next((name for name, remarks in found.items() if remarks), "")
    if not engine:
        return None
    if not named and _is_failure(lines):  # its errors told it
        found[engine] += [*rows_of(engine, spoken_of(script, engine))]
    version = script.versions.get(engine, "") or spoken_of(script, engine).version
    build = ENGINES[engine].command_line.build
    of_base = build is not None and engine not in script.versions and script.versions.get(build.of) == version
    of = build.of if build is not None and of_base else engine
    because = f"the text names {of} {version}" if version else "the text starts nothing"
    return Judged(engine, version, because, tuple(map(_of_text, found[engine][:_MOST])), kind="report")


def _is_short(script: Script) -> bool:
    """Whether it has few lines beside those that programs have logged."""
    if len(script.lines) <= _MOST_LINES:
        return True
    script.budget.work(len(script.lines) // 2, "its logs")
    return len(script.lines) - len(logged_lines(list(script.lines))) <= _MOST_LINES


def engines_named(script: Script) -> Sequence[str]:
    """Engines whose names the text has."""
    return _engines(script, [line[:_LONGEST] for line in script.lines])


def _engines(script: Script, lines: Sequence[str]) -> Sequence[str]:
    """Those that are named, and a plugin whose devices are, where nothing else that runs on them is."""
    named = [name for name in ENGINES if _is_named(name, lines)]
    if any(_OTHERS.search(line) for line in lines):
        return named
    named = named or _of_log(lines)
    builds = {name: build for name in ENGINES if (build := ENGINES[name].command_line.build) is not None}
    spoken = [name for name in builds if name not in named and {*named} <= {builds[name].of}]
    return [*named, *(name for name in spoken if is_spoken_of(name, script) or (not named and _runs_on(name, script)))]


def _of_log(lines: Sequence[str]) -> list[str]:
    """The engine that writes its lines so, of a text that has none by its name."""
    name = engine_of([lines[number] for number in logged_lines(list(lines))])
    return [name] if name else []


def _runs_on(name: str, script: Script) -> bool:
    """Whether all devices that the text names are of a plugin, and of no other engine of the table."""
    build = ENGINES[name].command_line.build
    kinds = {each.kind for each in mentions(script.lines, script.placed_hints)}
    own = build is not None and build.platform is Platform.ASCEND
    return own and bool(kinds) and all(platform_of(kind) is Platform.ASCEND for kind in kinds)


def _of_text(remark: Remark) -> Remark:
    finding = remark.finding
    shown = replace(finding, where=printable(finding.where), message=printable(finding.message))
    return replace(remark, finding=shown, command=None)


def _found(script: Script, lines: Sequence[str], engines: Sequence[str]) -> Iterator[tuple[str, Iterator[Remark]]]:
    matches = [match for line in lines if (match := _TYPE_UNKNOWN.search(line))]
    unknown = [match for match in matches if not _IN_GENERAL.search(match.string[: match.start()])]
    if unknown and len(_apart(engines)) == 1:
        yield _apart(engines)[0], _too_old(unknown[0]["type"].casefold(), script, lines, _apart(engines)[0])
    if not unknown:
        yield from _of_errors(script, engines)
    if _is_failure(lines):
        printed = {number + 1 for number in logged_lines(list(lines))}
        yield from ((engine, uneven_heads(engine, _model(lines), lines, printed)) for engine in _apart(engines))
        yield from ((engine, _of_formats(script, lines, engine)) for engine in engines)
        for engine in _apart(engines):
            script.budget.work(20 * len(lines), "its known reports")
            spoken = spoken_of(script, engine)
            yield engine, rows_of(engine, spoken)
            logged = {error.number for error in script.error_lines if error.logged}
            said = [line for number, line in enumerate(lines, 1) if number not in logged]
            yield engine, refusals_of(engine, spoken.version, said)


def _is_failure(lines: Sequence[str]) -> bool:
    head = "\n".join(lines[:_HEAD])
    return bool(_FAILS.search(head)) and not _IN_GENERAL.search(head)


def _too_old(model_type: str, script: Script, lines: Sequence[str], engine: str) -> Iterator[Remark]:
    """The release of Transformers, and that of the engine, against the first that knows the model."""
    known = transformers_types().get(model_type)
    known = None if known is not None and engine in known.not_for else known
    if known is not None and (stated := older_release(script, known.first)) is not None:
        yield too_old(*stated, model_type, "", known.first, script)
    version, model = script.versions.get(engine, ""), _model(lines)
    build = ENGINES[engine].command_line.build
    of_base = build is not None and build.own_releases
    first = model.first.get(build.of if build else engine, "") if model is not None and not of_base else ""
    if model is None or model.early.get(engine) == version or not first:
        return
    if not is_final(version or "dev") or order(version) >= order(first):
        return
    if versions(ENGINES[engine].program):
        title = ENGINES[engine].facts.title
        number = next((number for number, line in enumerate(lines, 1) if version in line), 1)
        message = f"{title} {version} has no class for {model.title}, which came with {first}"
        where = f"{title} version: {version}, {script.where(number)}"
        yield make_remark(Severity.WARNING, Code.UNSUPPORTED_FORMAT, where, message, f"take {first} or later")


def _of_errors(script: Script, engines: Sequence[str]) -> Iterator[tuple[str, Iterator[Remark]]]:
    """By the log of the engine that is named; without one by errors that the log of a single one has."""
    if len(engines := _apart(engines)) == 1:
        found = [*_each_once(script.error_lines, engines[0], script)]
        if not found and (told := itself_told(script.error_lines, engines[0], script)) is not None:
            found = [told]
        yield engines[0], iter(found)
    elif not engines and not any(_OTHERS.search(line[:_LONGEST]) for line in script.lines):
        causes = [(name, [*_each_once(script.error_lines, name, script)]) for name in sorted(names.CHECKED)]
        own = [(name, found) for name, found in causes if found and ENGINES[name].command_line.build is None]
        if len(own) == 1:
            yield own[0][0], iter(own[0][1])


def _each_once(errors: Sequence[ErrorLine], engine: str, script: Script) -> Iterator[Remark]:
    seen: set[str] = set()
    for remark in causes_in(errors, engine, script):
        if (fault := fault_of(remark)) not in seen:
            seen.add(fault)
            yield remark


def _of_formats(script: Script, lines: Sequence[str], engine: str) -> Iterator[Remark]:
    named = {capability_of(each.kind) or "" for each in mentions(script.lines, script.placed_hints)}
    sm = sm_of(named.pop() if len(named) == 1 else spoken_capability(script))
    yield from _of_tiles(script, lines, engine, sm or 0)
    written = {match[0] for line in lines for match in NAME.finditer(line) if is_nvfp4(match[0])}
    if sm and len(written) == 1:
        name = written.pop()
        message, remedy = nvfp4_refused(engine, script.versions.get(engine, ""), name, sm)
        if message:
            yield make_remark(Severity.WARNING, Code.UNSUPPORTED_FORMAT, name, message, remedy)


def _of_tiles(script: Script, lines: Sequence[str], engine: str, sm: int) -> Iterator[Remark]:
    """FP8 weights on devices that do not multiply FP8, where the error names the tiles of the kernel for them."""
    if sm not in MARLIN or not any(_TILES.search(line) for line in lines):
        return
    written = {match[0] for line in lines for match in NAME.finditer(line)}
    named = {known.title: (known, name) for name in written if (known := other_model(name)) and in_fp8(known, name)}
    if len(named) == 1 and engine in names.CHECKED:
        _, name = next(iter(named.values()))
        message = (
            f"{name} is FP8, and devices of capability {sm / 10} have no FP8: such weights go to Marlin, whose tiles "
            "do not divide what a rank has of a layer"
        )
        remedy = "take a smaller tensor parallel size, weights in BF16 or INT4 (AWQ, GPTQ), or devices with FP8"
        if engine == names.EXPERTS_BY_VARIABLE:
            remedy += f", or {names.TILES_PADDED} or later, which widens them"
        yield make_remark(Severity.WARNING, Code.UNSUPPORTED_FORMAT, name, message, remedy)


def _model(lines: Sequence[str]) -> OtherModel | None:
    """The one model of the table that a text names."""
    found = {known.title: known for line in lines for match in NAME.finditer(line) if (known := other_model(match[0]))}
    return next(iter(found.values())) if len(found) == 1 else None


def _is_named(engine: str, lines: Sequence[str]) -> bool:
    patterns = [
        re.compile(rf"(?<![\w./-]){name}(?![\w.])|\bFile \"[^\"]*/{name}/", re.IGNORECASE | re.ASCII)
        for name in ENGINES[engine].command_line.names
    ]
    return any(pattern.search(line) for pattern in patterns for line in lines)


def _apart(engines: Sequence[str]) -> Sequence[str]:
    """Without an engine of which a build is named as well."""
    builds = [build.of for name in engines if (build := ENGINES[name].command_line.build)]
    return [name for name in engines if name not in builds]
