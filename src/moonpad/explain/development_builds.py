"""What is said of a development build: it is of the main branch, and may have what the next release brings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from moonpad.catalog.options import versions
from moonpad.engines import ENGINES
from moonpad.explain.builds import is_for_its_model
from moonpad.explain.commands import Command, Script
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.image_days import is_of_changed_tree
from moonpad.explain.model_images import OF_MODEL
from moonpad.explain.results import Judged, Remark
from moonpad.explain.target_detection import OF_COMMIT, OF_OTHERS
from moonpad.values.finding import OF_MEMORY, Code, Severity
from moonpad.values.records import replace
from moonpad.values.versions import next_releases, order, parse, release_of

_EDITABLE: Final = re.compile(r"\binstall\b[^\n]{0,80}[ \t](?:-e|--editable)[ \t]|\beditable\b")
_LONGEST: Final = 2000
_OF_A_CHANGE: Final = re.compile(r"\+pr\b")
_OF_MODEL_CODE: Final = frozenset({Code.ILLEGAL_LAYOUT, Code.UNSUPPORTED_FORMAT})
_FAULTS: Final = frozenset({Code.KNOWN_REPORT, Code.MENDED_LATER})
_KEPT: Final = OF_MEMORY | _FAULTS
"""What is said of a build whatever is said of the release behind it."""
_OF_PARSER: Final = frozenset(
    {Code.UNKNOWN_FLAG, Code.REMOVED_FLAG, Code.RENAMED_FLAG, Code.PREFIX_FLAG, Code.INVALID_VALUE, Code.MISSING_FLAG}
)
_OF_TAG: Final = re.compile(r"\b(?:image|branch)\b")
"""How it is said of a build that a tag or a branch tells of it, and no sentence about a month."""
_MENDED_IN: Final = re.compile(r": mended in (?:\S+ )?(?P<release>\d[\w.]*)(?= \()")
_MENDED_BEFORE: Final = re.compile(r"reported for [^:\n]{0,80}?, mended in (?P<release>\d[\w.]*)(?=: )")
_CERTAIN: Final = OF_MEMORY | _OF_PARSER
"""Errors that do not lie in the state of the engine's code, or in which both releases agree."""


def judged_as_build(
    judged: Judged | None, again: Callable[[str], Judged | None], script: Script, commands: Sequence[Command]
) -> Judged | None:
    """Only what holds for the release before the build and for those that it may be of. `again` judges by another
    version."""
    if judged is None or judged.engine not in ENGINES:
        return judged
    because = judged.version_because
    between = (judged.version, judged.version_behind)
    of_tree = bool(judged.version_behind) and is_of_changed_tree(script.lines)
    text = _behind(judged.version) if _is_from_source(judged, script, commands) else judged.version
    later = next_releases(text, versions(ENGINES[judged.engine].program))
    for behind in (judged.version_behind,) if judged.version_behind else later:
        other = again(behind)
        judged = judged if other is None else _both(judged, other, behind, because)
        judged = replace(judged, remarks=tuple(_sure_first(judged.remarks, behind)))
    if of_tree:
        return replace(judged, remarks=tuple(_as_doubt_of_tree(remark, judged.version) for remark in judged.remarks))
    if later or because.startswith(OF_COMMIT) or (between[1] and _OF_TAG.search(because)):
        releases = (*between, judged.version)
        of_its_model = because.endswith(OF_OTHERS) and any(is_for_its_model(because, each) for each in commands)
        held = (_as_doubt_of_build(remark, releases, because, of_its_model) for remark in judged.remarks)
        judged = replace(judged, remarks=tuple(_but_of_its_release(remark, judged.version) for remark in held))
    return _with_a_change(judged) if _OF_A_CHANGE.search(judged.version) else judged


def _sure_first(remarks: Sequence[Remark], behind: str) -> Iterator[Remark]:
    """Last what was mended up to the release behind the build, which may hold that already."""
    doubted: list[Remark] = []
    for remark in remarks:
        mended = _MENDED_IN.search(remark.finding.message) if remark.finding.code is Code.MENDED_LATER else None
        if mended is None or order(mended["release"]) > order(behind):
            yield remark
            continue
        fault = remark.finding.message
        message = f"{fault[: mended.end()]}, which this build may have already{fault[mended.end() :]}"
        doubted.append(replace(remark, finding=replace(remark.finding, message=message)))
    yield from doubted


def _but_of_its_release(remark: Remark, build: str) -> Remark:
    """What was mended in just the release that the build comes before may be mended in it: `0.26.0b2.dev1`, 0.26.0."""
    finding = remark.finding
    mended = _MENDED_BEFORE.match(finding.message) if finding.code is Code.KNOWN_REPORT else None
    if mended is None or order(release_of(mended["release"])) != order(release_of(build)):
        return remark
    message = f"{finding.message[: mended.end()]}, which this build may have already{finding.message[mended.end() :]}"
    told = replace(finding, severity=Severity.NOTE, message=message)
    return replace(remark, finding=told, edits=(), stops=False, ends_start=False)


def _as_doubt_of_build(remark: Remark, releases: Sequence[str], because: str, of_its_model: bool) -> Remark:
    """What a table says of a release by its number is not sure of a build of another state, and likely mended in one
    that was made for the model. What the parser refuses both the release before and the one behind it refuse."""
    finding = remark.finding
    named = next((release for release in releases if release and release in finding.message), "")
    if finding.severity is not Severity.ERROR or finding.code in _CERTAIN or not named:
        return remark
    build = "this image" if "image" in because else "this"
    message = f"{finding.message}; that is of {named}, and {build} is a build of its own"
    # What was built for the model is likelier right as it was written.
    edits = () if OF_MODEL in because or of_its_model else remark.edits
    severity = Severity.NOTE if of_its_model else Severity.WARNING
    return replace(remark, finding=replace(finding, severity=severity, message=message), edits=edits)


def _as_doubt_of_tree(remark: Remark, release: str) -> Remark:
    """What is said of a release by its number is not sure of a build from a tree of somebody's own."""
    finding = remark.finding
    if finding.severity is not Severity.ERROR or release not in finding.message:
        return remark
    message = f"{finding.message}; a build from a changed tree may differ"
    return replace(remark, finding=replace(finding, severity=Severity.WARNING, message=message), edits=())


def _with_a_change(judged: Judged) -> Judged:
    """A build of a pull request has what that brings, which no release needs to have."""
    return replace(judged, remarks=tuple(map(_as_doubt, judged.remarks)))


def _as_doubt(remark: Remark) -> Remark:
    finding = remark.finding
    if finding.severity is not Severity.ERROR or finding.code is not Code.UNKNOWN_FLAG:
        return remark
    message = f"{finding.message}; a build of a pull request has what that brings"
    return replace(remark, finding=replace(finding, severity=Severity.WARNING, message=message), edits=())


def _is_from_source(judged: Judged, script: Script, commands: Sequence[Command]) -> bool:
    """Whether the text names a release and installs a clone in its place: such a build calls itself by the release
    that is behind it."""
    if not judged.version_because.startswith("the text names") or any(each.container for each in commands):
        return False
    script.budget.once("builds from source", len(script.lines), "the text around its engine commands")
    return is_in_lines(_EDITABLE, script.lines, _LONGEST)


def _behind(version: str) -> str:
    """What a build of the main branch behind that release would be called."""
    release = parse(version)
    return version if release is None else f"{release.major}.{release.minor}.{release.micro + 1}.dev0"


def _both(judged: Judged, other: Judged, behind: str, because: str) -> Judged:
    """What holds for both, as of the one with fewer errors, and the faults of either: those of the later release may
    have come before the build. `because`: where the build's version is from."""
    reports = tuple(remark for remark in judged.remarks if remark.finding.code in _FAULTS)
    later = tuple(_newer_faults(other, judged))
    held = tuple(_in_both(judged, other))
    if not any(remark not in held and _is_unserved(remark) for remark in judged.remarks):
        return replace(judged, remarks=(*held, *later))
    others = (remark for remark in _in_both(other, judged) if remark.finding.code not in _FAULTS)
    in_both = tuple(_as_build(remark, behind, judged.version) for remark in others)
    told = f"{because}{'' if because.endswith(OF_OTHERS) else ', a build of main'}: judged by {behind}"
    return replace(other, version=judged.version, version_because=told, remarks=(*in_both, *reports, *later))


def _is_unserved(remark: Remark) -> bool:
    """Whether it is an error, or would be one if the image were not somebody's own."""
    finding = remark.finding
    return _is_error(remark) or (finding.severity is Severity.WARNING and finding.code in _OF_MODEL_CODE)


def _newer_faults(other: Judged, judged: Judged) -> Iterator[Remark]:
    """Those that only the later release has, as notes."""
    messages = {remark.finding.message for remark in judged.remarks}
    for remark in other.remarks:
        if remark.finding.code in _FAULTS and remark.finding.message not in messages:
            note = replace(remark.finding, severity=Severity.NOTE)
            yield replace(remark, finding=note, stops=False, ends_start=False)


def _in_both(judged: Judged, other: Judged) -> Iterator[Remark]:
    """Of errors that stand at one place, those with the same words, where any has: another error there is another
    fault, as what came with the later release is."""
    places = {_place(remark) for remark in other.remarks}
    errors = {_words(remark, other) for remark in other.remarks if _is_error(remark)}
    told = {_place(remark) for remark in judged.remarks if _is_error(remark) and _words(remark, judged) in errors}
    for remark in judged.remarks:
        unread = remark.finding.code is Code.DEAD_ENV  # by the one, and read by the other
        if (remark.finding.severity is Severity.NOTE and not unread) or remark.finding.code in _KEPT:
            yield remark
        elif _place(remark) not in places:
            continue
        elif not _is_error(remark) or _place(remark) not in told or _words(remark, judged) in errors:
            yield remark


def _words(remark: Remark, judged: Judged) -> object:
    """What it says, whichever release it says that of."""
    message = remark.finding.message
    return _place(remark), message.replace(judged.version, "") if judged.version else message


def _place(remark: Remark) -> object:
    return remark.finding.code, remark.finding.where, remark.command, remark.at


def _is_error(remark: Remark) -> bool:
    return remark.finding.severity is Severity.ERROR and remark.finding.code not in OF_MEMORY


def _as_build(remark: Remark, release: str, build: str) -> Remark:
    finding = remark.finding
    return replace(remark, finding=replace(finding, message=finding.message.replace(release, build)))
