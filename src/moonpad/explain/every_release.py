"""A command whose release nothing tells may be for each that serves its model and takes what it has: an error that one
of these does not end at is a warning, a variable that one of them reads stays, and no correction writes an option that
one of them does not have."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from moonpad.catalog.options import known_environment, releases_with
from moonpad.engines import ENGINES
from moonpad.engines.argv_reader import parse
from moonpad.engines.base import Engine
from moonpad.engines.option_grammar import Grammar
from moonpad.explain.commands import Script
from moonpad.explain.documents.written_days import written_day
from moonpad.explain.grouping import Group
from moonpad.explain.manifests.option_sources import rulebook
from moonpad.explain.model_images import first_to_serve
from moonpad.explain.releases_taking import releases_taking
from moonpad.explain.results import Edit, Judged, Remark
from moonpad.explain.started_releases import counted_release, releases_taking_all
from moonpad.explain.target_detection import FOREIGN_BUILD, UNNAMED, Version
from moonpad.values.finding import OF_MEMORY, Code, Severity
from moonpad.values.records import replace
from moonpad.values.versions import since

_ASKS: Final = "--engine-version says which is meant"
_LEAVE: Final = re.compile(r"[Ll]eave it out\.?")


def of_every_release(
    judged: Judged | None, script: Script, group: Group, by_release: Callable[[str], Judged]
) -> Judged | None:
    """`by_release` judges the same commands by another release. Of those that may be meant the first, and one in the
    middle, stand for all: what is refused by these and by the newest is hardly taken in between."""
    if judged is None or judged.engine not in ENGINES or not _is_open(judged.version_because):
        return judged
    engine = ENGINES[judged.engine]
    concerned = any(each.changes or each.finding.severity is Severity.ERROR for each in judged.remarks)
    build = engine.command_line.build
    own = {engine.program, ENGINES[build.of].program} if build else {engine.program}
    if not concerned or group.commands[0].program not in own:
        return judged
    releases = _meant(judged, engine, group, script)
    if not releases:
        return judged
    kept, newest = judged.remarks, f"{engine.facts.title} {judged.version}"
    if not written_day(script.lines, group.commands[0].line):  # which tells the release of that day (dated_texts.py)
        kept = tuple(_as_all_have(each, engine.program, releases, group, newest) for each in kept)
    errors = [each for each in kept if _may_be_of_one(each)]
    for release in dict.fromkeys((releases[0], releases[len(releases) // 2])) if errors else ():
        if release != judged.version:
            told = _told(by_release(release).remarks)
            kept = tuple(_as_one_ends(each, told, f"{engine.facts.title} {release}") for each in kept)
    return replace(judged, remarks=kept)


def _is_open(because: str) -> bool:
    """Whether no word tells the release, or it is a build of somebody else, of any day."""
    return because.startswith(UNNAMED) or any(words in because for words in FOREIGN_BUILD)


def _meant(judged: Judged, engine: Engine, group: Group, script: Script) -> list[str]:
    """Oldest first; () where the first that serves the model is not known to be among those recorded."""
    script.budget.work(40, "the releases of its engine commands")
    first = first_to_serve(engine, judged.checkpoint, judged.model_written)
    taking = (releases_taking_all(judged.engine, command, script) for command in group.commands)
    alike = [each for each in next(taking) if not first or since(each, first)]
    for others in (*taking, *_with_values(engine.program, group)):
        alike = [each for each in alike if each in others]
    return alike


def _with_values(program: str, group: Group) -> Iterator[list[str]]:
    """The releases that have each value of an option's own list that any has: the parser of a model dates them too."""
    book = rulebook(program, Version("", ""))
    if book is None:
        return
    for command in group.commands:
        for option in parse([word.text for word in command.argv], Grammar(book.options)).occurrences:
            known = book.options.named(option.flag) if option.flag else None
            if known is not None and known.choices and (having := releases_taking(option, book)):
                yield having


def _as_all_have(remark: Remark, program: str, releases: Sequence[str], group: Group, newest: str) -> Remark:
    """Without what it writes that a release lacks, and without leaving out a variable that one reads."""
    edits = (*remark.edits, *(edit for _, others in remark.others for edit in others))
    given = {word.text.partition("=")[0] for command in group.commands for word in command.argv}
    lacking = next(((name, last) for name in _written(edits, given) if (last := _lacks(program, name, releases))), None)
    if lacking is not None:
        finding = remark.finding
        if finding.severity is Severity.WARNING:
            remedy = f"{finding.remedy.removesuffix('.')} for {newest}: releases up to {lacking[1]} have no such option"
            finding = replace(finding, remedy=remedy)
        remark = replace(remark, finding=finding, edits=(), others=(), drop_variable=False, unsets=())
    if remark.finding.code is Code.DEAD_ENV and any(
        remark.finding.where in known_environment(program, each) for each in releases
    ):
        return _with_its_variable(remark)
    return remark


def _with_its_variable(remark: Remark) -> Remark:
    finding = remark.finding
    if _LEAVE.fullmatch(finding.remedy):
        finding = replace(finding, remedy="leave it out with a release that does not read it")
    return replace(remark, finding=finding, drop_variable=False, unsets=())


def _written(edits: Iterable[Edit], given: set[str]) -> list[str]:
    """Options that they write and the commands do not have, without the keys behind their dots."""
    words = (word.partition("=")[0] for edit in edits for word in edit.words if word.startswith("--"))
    return [name.partition(".")[0] for name in words if name not in given]


def _lacks(program: str, name: str, releases: Sequence[str]) -> str:
    """The last of the releases that does not have the option; "" where all have it, or none is known to."""
    having = releases_with(program, name)
    lacking = [each for each in releases if counted_release(program, each) not in having]
    return lacking[-1] if having and lacking else ""


def _told(remarks: Iterable[Remark]) -> set[tuple[Code, str, int | None]]:
    return {_place(each) for each in remarks if each.finding.severity is not Severity.NOTE}


def _may_be_of_one(remark: Remark) -> bool:
    """Whether it is an error that a release may not end at: weights are as large in all of them."""
    return remark.finding.severity is Severity.ERROR and remark.finding.code not in OF_MEMORY


def _place(remark: Remark) -> tuple[Code, str, int | None]:
    return remark.finding.code, remark.finding.where, remark.command


def _as_one_ends(remark: Remark, told: set[tuple[Code, str, int | None]], release: str) -> Remark:
    """An error as a warning where the release says nothing of it."""
    finding = remark.finding
    if not _may_be_of_one(remark) or _place(remark) in told:
        return remark
    message = f"{finding.message.removesuffix('.')}; {release} does not end at it: {_ASKS}"
    warning = replace(finding, severity=Severity.WARNING, message=message)
    return replace(remark, finding=warning, edits=(), others=(), sets=(), unsets=(), drop_variable=False)
