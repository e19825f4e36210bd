"""What a command line is about: what was asked beside it, and in which version its engine is meant."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct, field

from moonpad.catalog.image_releases import held_release
from moonpad.catalog.options import versions as recorded_versions
from moonpad.catalog.other_models import other_model
from moonpad.catalog.release_days import release_days
from moonpad.engines import ENGINES
from moonpad.engines.build_names import BUILD_LINES
from moonpad.engines.image_names import OF_MAKERS
from moonpad.explain.builds import unnumbered_image
from moonpad.explain.commands import Command, Script
from moonpad.explain.documents import text_hints
from moonpad.explain.documents.avoided_releases import between
from moonpad.explain.documents.bare_versions import bare_version, version_in_path
from moonpad.explain.documents.built_forks import built_fork
from moonpad.explain.documents.feature_branches import feature_branch
from moonpad.explain.documents.nightly_builds import takes_nightly
from moonpad.explain.documents.own_tags import release_of_own_tag
from moonpad.explain.documents.spoken_bounds import bound_of, last_below
from moonpad.explain.documents.tags_of_others import release_of_others
from moonpad.explain.documents.untagged_builds import untagged_build
from moonpad.explain.documents.version_nearness import least_of_all, least_of_section, nearest_version
from moonpad.explain.engine_builds import base_of, engines_started
from moonpad.explain.grouping import model_of
from moonpad.explain.host_releases import release_beside
from moonpad.explain.image_days import is_of_commit, next_of_its_day, next_of_named_image, release_of_its_day
from moonpad.explain.keyed_models import repository_beside
from moonpad.explain.model_images import first_with, release_before_its_model
from moonpad.explain.paired_releases import FOR_WHICH, releases_for
from moonpad.explain.releases_of_others import OF_MAIN, is_build_of_another, runs_main
from moonpad.explain.results import shortened
from moonpad.explain.shell.forks import with_own_build
from moonpad.explain.started_releases import (
    build_of_its_time,
    day_out_by,
    last_with_all,
    release_of_trace,
    started_release,
)
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Cluster
from moonpad.values.versions import checked_version, is_final, order, release_of, since

UNNAMED: Final = "none is named: "
"""The beginning of one about a release that no word of the text names."""
BY_NEWEST: Final = "judged by the newest"
"""The end of a sentence about a release that is not named."""
FOREIGN_BUILD: Final = ("names no release, and is another publisher's", "it runs ")
"""How it is said that it is a build of somebody else, which may be of any day."""
OF_ITS_OPTIONS: Final = "none is named: judged by the last release that"
OF_COMMIT: Final = "its image is that of one commit"
"""The beginning of one about a build that may lack what the newest release takes."""
OF_OTHERS: Final = ", and may have more"
"""The end of one about an image of somebody's own."""
_LONGEST_NAME: Final = 200
_LONGEST_LINE: Final = 2000
_SERIES: Final = re.compile(r"v?[0-9]{1,4}\.[0-9]{1,4}", re.ASCII)
_TWO_DIGITS: Final = re.compile(r"v?0\.([1-9])([0-9])", re.ASCII)


class Question(Struct, frozen=True):
    """What the person who asks has said beside the command line."""

    checkpoint: Checkpoint | None = None
    cluster: Cluster | None = None
    version: str = ""
    engine: str = ""
    """Which build of an engine; "": the one for the platform."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Our names of layout and settings, and what they are: what the command line leaves to a variable or a file."""
    cluster_because: str = "as asked"
    version_because: str = "as asked"
    model: str = ""
    """What the model is called, where it is not of the catalogue: for commands that leave it to a variable."""


class Version(Struct, frozen=True):
    """`behind`: the release that came next, of a build between two. `earliest`: the first that has all options of the
    command, where `text` is the last of those that have them and another may be meant. `least`: what the text asks for
    at the least, where it names no other."""

    text: str
    because: str
    behind: str = ""
    earliest: str = ""
    least: str = ""


def _asked_above(name: str, command: Command | None, script: Script) -> str:
    """The least release that the line above the command or its heading asks for, `Option A: vLLM (v0.19.0+)`, or what
    stands below that heading."""
    if command is None:
        return ""
    above = (text[:_LONGEST_LINE] for text in (command.label, command.heading) if text)
    least = (text_hints.versions_of(text)[1].get(name, "") for text in above)
    return next(filter(None, least), "") or least_of_section(name, script, command)


def asked_least(engine: str, script: Script, command: Command) -> str:
    """The lowest release that the line above a command or the text asks for; "" where none is."""
    return _asked_above(engine, command, script) or least_of_all(engine, script, command)


def version_of(engine: str, script: Script, question: Question, command: Command | None = None) -> Version:
    """The version that was asked for or named, else "" for the newest that the catalogue knows.

    Raises UsageError where --engine-version is neither a version number nor a channel like `nightly`.
    """
    if question.version:
        return _of_series(engine, checked_version(question.version), question.version_because)
    line = ENGINES[engine].command_line
    # A build that has no name of its own in texts is called what it is a build of.
    image = command.container.image if command is not None and command.container is not None else None
    own = text_hints.version_of_image(image.text) if image is not None else None
    versions, minimum, on_host = script.versions, script.minimum_versions, ""
    if command is not None and len(script.objects) > 1:
        about = script.lines_about(command.line)
        script.budget.work(20 + len(about) + sum(map(len, about)) // 40, "the text around its engine commands")
        versions, minimum = text_hints.versions_of("\n".join(about))
    for name in (engine, line.build.of) if line.build and not line.names else (engine,):
        if own is not None and image is not None and own[0] == name:
            because = "the text names" if held_release(image.text) is None else "its image holds"
            version = _of_series(engine, own[1], f"{because} {name} {own[1]}")
            behind = next_of_its_day(engine, version.text, image.text)
            return Version(version.text, f"its image is a build after {own[1]}", behind) if behind else version
        near = nearest_version(name, script, command) if command is not None else None
        if command is not None and (beside := release_beside(name, command, script)) is not None:
            near, on_host = beside
        if command is not None and (of_tag := release_of_own_tag(name, command, script)) is not None:
            near = of_tag
        spoken = versions.get(name) if near is None else near
        if spoken and command is not None:
            if runs_main(name, command, script):
                return Version("", f"{OF_MAIN}: {BY_NEWEST}")
            spoken = "" if is_build_of_another(name, command, script) else spoken
        if spoken and (above := _asked_above(name, command, script)) and not since(spoken, above):
            return Version(
                "", f"the text asks for {name} {above} or later: {BY_NEWEST}", least=above
            )  # the other is a remark
        if named := spoken:
            if command is not None and (preview := _of_model_image(engine, script, command)) is not None:
                return preview
            if (of_main := _of_main(engine, name, named, versions)) is not None:
                return of_main
            because = "an image of the text holds" if _is_held(name, named, script) else "the text names"
            version = _of_series(engine, named, f"{because} {name} {named}{_replaced(engine, command, script)}")
            if command is not None and (behind := next_of_named_image(engine, version.text, command, script)):
                version = Version(version.text, f"the text names an image built after {named}", behind)
            if command is None or not _came_later(command, name, version.text):
                return version
            if version.text == named and not _is_of_an_image_below(named, name, command, script):
                return version
        if below := _below(name, script):
            return below
        least = minimum.get(name)
        if least and command is not None:
            least = asked_least(name, script, command)
        if least:
            return Version("", f"the text asks for {name} {least} or later: {BY_NEWEST}", least=least)
    if command is not None and (dated := release_of_its_day(engine, command, script)) is not None:
        before, behind, because = dated
        return Version(before, because, behind)
    if command is not None and (within := _between(engine, command, script)) is not None:
        return within
    script.budget.once("builds without a tag", len(script.lines), "the text around its engine commands")
    if (state := untagged_build(line.names, script.lines)) and (command is None or command.container is None):
        return Version("", f"the text names {engine} {state}, a state of main of no known release: {BY_NEWEST}")
    script.budget.once("images of the text", len(script.lines), "the text around its engine commands")
    named_model = (model_of(command) or "") if command is not None else ""
    named_model = repository_beside(named_model, script) or named_model
    built = release_before_its_model(engine, command, named_model, script.lines) if command is not None else None
    if built is not None:
        before, behind, because = built
        return Version(before, because, behind)
    if (paired := _paired(engine, versions)) is not None:
        return paired
    if (branched := _of_branch(engine, script)) is not None:
        return branched
    if bare := _bare(engine, script):
        return _of_series(engine, bare, f"the text names {bare}")
    if (in_path := _in_path(engine, script)) is not None:
        return in_path
    if command is not None and (patched := _of_others(engine, command, script)) is not None:
        return patched
    if command is not None and is_of_commit(engine, command, script):
        return Version("", f"{OF_COMMIT}, whose release is not known: {BY_NEWEST}")
    if command is not None and command.fork and engine in BUILD_LINES:  # its options are of no build of the engine
        script.budget.once("builds of a fork", len(script.lines), "the text around its engine commands")
        return Version("", f"{FOREIGN_BUILD[1]}{with_own_build(command.fork, script.lines)}: {BY_NEWEST}")
    first, taking, option = started_release(engine, command, script) if command is not None else ("", "", "")
    with_model = first_with(engine, named_model[:_LONGEST_NAME])[1]
    of_trace, sign = release_of_trace(engine, script)
    if taking and of_trace and not since(of_trace, taking):
        taking = ""  # the last that has the option, where a trace is of an earlier time
    if taking and command is not None and (seen := build_of_its_time(engine, taking, command, script))[0]:
        return Version(*seen)
    if taking and since(taking, with_model or taking):
        day = day_out_by(engine, taking, command, script) if command is not None else ""
        last = f"of those out on {day} {taking} is" if day else f"{taking} is"
        because = f"none is named: the text shows that {option} was taken, and {last} the last that has it"
        return Version(taking, because, earliest=max(first, with_model or first, key=order))
    if of_trace and since(of_trace, with_model or of_trace):
        because = f"none is named: the text shows {sign}, which no final release after {of_trace} has"
        return Version(of_trace, because)
    first, taking, gone = last_with_all(engine, command, script) if command is not None else ("", "", ())
    if taking and command is not None and (seen := build_of_its_time(engine, taking, command, script))[0]:
        return Version(*seen)
    if taking and since(taking, with_model or taking):
        day = day_out_by(engine, taking, command, script) if command is not None else ""
        because = f"{OF_ITS_OPTIONS}{f', of those out on {day},' if day else ''} has all of {', '.join(gone[:3])}"
        because += " and others" if len(gone) > 3 else ""
        because += ", which newer ones do not take"
        return Version(taking, because, earliest=max(first, with_model or first, key=order))
    if command is not None and command.fork:
        return Version("", f"{FOREIGN_BUILD[1]}{command.fork}: {BY_NEWEST}")
    if command is not None and not on_host and (build := unnumbered_image(command)):
        return Version("", f"{build} {FOREIGN_BUILD[0]}: {BY_NEWEST}")
    if command is not None and takes_nightly(line.names, script.lines, command.line):
        return Version("", f"none is named, and the text takes nightly builds: {BY_NEWEST}")
    of_host = f"{on_host} is that of the host, and it runs in a container: " if on_host else ""
    return Version("", f"{UNNAMED}{of_host}{BY_NEWEST}")


def _of_model_image(engine: str, script: Script, command: Command) -> Version | None:
    """Of a command whose image is called after its model, from before the first release that has it: what a text says
    of a release where it does not name the image is said of other starts."""
    image = command.container.image if command.container is not None else None
    if image is None or not OF_MAKERS.search(image.text):
        return None
    built = release_before_its_model(engine, command, model_of(command) or "")
    if built is None:
        return None
    script.budget.once("releases beside images", len(script.lines), "the text around its engine commands")
    for each in text_hints.version_mentions(script.lines):
        line = script.lines[each.line - 1]
        if each.engine == engine and (each.exact or "==" in line or image.text in line):
            return None
    return Version(built[0], built[2], built[1])


def _replaced(engine: str, command: Command | None, script: Script) -> str:
    """What is said of a fork that the text builds in the place of the release."""
    script.budget.once("forks that are built", len(script.lines), "the text around its engine commands")
    fork = built_fork(engine, script.lines) if command is not None and command.container is None else ""
    return f", and builds {shortened(fork)} in its place" if fork else ""


def _below(engine: str, script: Script) -> Version | None:
    """The last release before the one that the text says to be too new."""
    names = ENGINES[engine].command_line.names
    script.budget.once("bounds of releases", len(script.lines), "the text around its engine commands")
    bound = bound_of(names, script.lines) if names else ""
    release = last_below(bound, recorded_versions(ENGINES[engine].program)) if bound else ""
    if not release:
        return None
    return Version(release, f"the text speaks of {engine} before {bound}: judged by {release}, the last of these")


def _between(engine: str, command: Command, script: Script) -> Version | None:
    """A build from between two releases, for the commands below what the text says of it, or all where none is below;
    of a text about one engine alone."""
    script.budget.once("builds between releases", len(script.lines), "the text around its engine commands")
    line, first, last = between(script.lines)
    if not line or engines_started(script) - {base_of(engine)}:
        return None
    recorded = recorded_versions(ENGINES[engine].program)
    if not {first, last}.issubset(recorded) or order(first) >= order(last):
        return None
    if command.line < line and any(each.line > line for each in script.commands):
        return None
    return Version(first, f"the text speaks of a build from between {first} and {last}", last)


def _of_main(engine: str, name: str, named: str, versions: Mapping[str, str]) -> Version | None:
    """A plugin's build from its main branch, beside a later release of what it plugs into: the number behind which it
    counts its changes is that of the last tag on that branch, and it is of the time of the other one."""
    build, days = ENGINES[engine].command_line.build, release_days().get(engine)
    base = versions.get(build.of, "") if build is not None and name == engine and ".dev" in named else ""
    if days is None or not base or order(release_of(base)) <= order(release_of(named)):
        return None
    later = [each for each in days.releases if order(release_of(each)) >= order(release_of(base))]
    earlier = [each for each in days.releases if each not in later]
    if not later or not earlier:
        return None
    before, behind = max(earlier, key=order), min(later, key=order)
    because = f"the text names {name} {named}, a build of main for {build.of if build else name} {base}"
    return Version(before, f"{because}: judged by {before} and {behind}", behind)


def _paired(engine: str, versions: Mapping[str, str]) -> Version | None:
    """The release of an engine that bears the number of the one which it plugs into, where that alone is named: a
    final one before its candidates."""
    line = ENGINES[engine].command_line
    if line.build is None or not line.names or line.build.own_releases or line.build.of not in versions:
        return None
    named = versions[line.build.of]
    alike = releases_for(engine, named)
    if not alike:
        return None
    return Version(alike[-1], f"the text names {line.build.of} {named}{FOR_WHICH} {engine} {alike[-1]} is")


def _came_later(command: Command, engine: str, version: str) -> bool:
    """Whether the model came with a later release than that of a series which the text speaks of: `vLLM 0.11 has a new
    frontend` is not said of what runs it."""
    known = other_model((model_of(command) or "")[:_LONGEST_NAME])
    first = known.first.get(engine, "") if known is not None else ""
    return bool(first) and not since(version, first)


def _is_of_an_image_below(version: str, engine: str, command: Command, script: Script) -> bool:
    """Whether only images further down are of it, which the command does not run in."""
    script.budget.once("versions below", 2 * len(script.lines), "the text around its engine commands")
    same = [
        each for each in text_hints.version_mentions(script.lines) if (each.engine, each.version) == (engine, version)
    ]
    return bool(same) and all(each.image and each.line > command.line for each in same)


def _is_held(engine: str, version: str, script: Script) -> bool:
    """Whether the text has the release by images alone that are numbered otherwise, by what they hold it with."""
    of_engine = (each for each in text_hints.version_mentions(script.lines) if each.engine == engine)
    images = [each.image for each in of_engine if each.version == version]
    return bool(images) and all(image and version not in image and held_release(image) for image in images)


def _bare(engine: str, script: Script) -> str:
    """A release that the text names without its engine, where it is about one engine alone."""
    if len(engines_started(script)) != 1 or script.versions or script.minimum_versions:
        return ""
    script.budget.once("releases without a name", len(script.lines), "the text around its engine commands")
    return bare_version(script.lines, recorded_versions(ENGINES[engine].program))


def _of_others(engine: str, command: Command, script: Script) -> Version | None:
    """Of an image of somebody's own that is called after a release, which may have more than that."""
    if command.container is None and len(engines_started(script)) != 1:
        return None
    script.budget.once("images of others", len(script.lines), "the text around its engine commands")
    release = release_of_others(engine, command, script.lines)
    if release is None:
        return None
    named, behind, image = release
    return Version(named, f"the image {shortened(image, 80)} is called after {named}{OF_OTHERS}", behind)


def _of_branch(engine: str, script: Script) -> Version | None:
    """Of a branch with something more than the release after which it is called, perhaps with what came next."""
    if len(engines_started(script)) != 1 or script.versions:
        return None
    script.budget.once("branches of the text", len(script.lines), "the text around its engine commands")
    recorded = recorded_versions(ENGINES[engine].program)
    branch, named = feature_branch(script.lines, recorded)
    if not named:
        return None
    later = (each for each in recorded if order(release_of(each)) > order(named))
    behind = "" if branch.startswith("release") else min(later, key=order, default="")
    return Version(named, f"the text names the branch {branch[:_LONGEST_NAME]}, a build of {named}", behind)


def _in_path(engine: str, script: Script) -> Version | None:
    """Of the release after which a folder of the engine's is called, where the text is about one engine alone."""
    if len(engines_started(script)) != 1 or script.versions:
        return None
    script.budget.once("releases in paths", len(script.lines), "the text around its engine commands")
    named = version_in_path(base_of(engine), script.lines, recorded_versions(ENGINES[engine].program))
    return Version(named, f"a folder of the text is called after {named}") if named else None


def _of_series(engine: str, text: str, because: str) -> Version:
    """`0.11` is not a release: it stands for the newest of that series, of which candidates are not any."""
    recorded = recorded_versions(ENGINES[engine].program)
    if text in recorded or not _SERIES.fullmatch(text):
        return Version(text, because)
    beginning = f"{text.removeprefix('v')}."
    series = [version for version in recorded if version.startswith(beginning) and is_final(version)]
    if series:
        return Version(series[-1], f"{because}, the newest of {text}")
    meant = _with_its_point(engine, text)
    return Version(meant, f"{because}, which is {meant}") if meant else Version(text, because)


def _with_its_point(engine: str, text: str) -> str:
    """`0.24` where that is no series yet, and 0.2.4 a release: people leave the second point out."""
    match = _TWO_DIGITS.fullmatch(text)
    days, recorded = release_days().get(engine), recorded_versions(ENGINES[engine].program)
    if match is None or not recorded or order(text) <= order(recorded[-1]):
        return ""
    meant = f"0.{match[1]}.{match[2]}"
    return meant if meant in recorded or (days is not None and meant in days.releases) else ""
