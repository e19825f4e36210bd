"""Whether a command runs a published build of its engine, whose options are recorded, or another one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

from moonpad.catalog.image_releases import held_release
from moonpad.catalog.images import images
from moonpad.catalog.options import ever_known_environment, releases_with
from moonpad.engines.foreign_names import FORKS, OWN_VARIABLES
from moonpad.engines.forks import FORKS_BY_PROGRAM, OWNERS
from moonpad.engines.image_names import OF_A_COMMIT
from moonpad.explain.commands import Command
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.platform import Platform
from moonpad.values.records import replace

_OF_A_BUILD: Final = frozenset({Code.UNKNOWN_FLAG, Code.REMOVED_FLAG, Code.INVALID_VALUE, Code.PREFIX_FLAG})

_NAMED_VALUES: Final = frozenset({"kv_cache_dtype", "attention_backend"})
_OF_MODEL_CODE: Final = frozenset({Code.ILLEGAL_LAYOUT, Code.UNSUPPORTED_FORMAT})
_OF_IMAGE: Final = " may have it, as another build"
_OWN_BUILD: Final = (
    " may be another build",
    " another build may",
    " a build with options of its own has them",
    _OF_IMAGE,
)
"""How it is said of an option that a build of somebody's own may have it."""
_UNLESS_OWN: Final = ", unless it is somebody's own build"
"""The end of what is said of a name that no release has."""
_LEAST_NAME: Final = 5
_OWN: Final = 3
"""Variables of the engine's prefix that no release reads, from which on a build of somebody's own reads them."""
_NUMBER: Final = re.compile(r"\d+\.\d+")
_OF_LLAMA_CPP: Final = re.compile(r"(?:^|/)(?:ggml-org|ggerganov)/llama\.cpp:(?:server|full)")
"""Its images have tags of their own: https://github.com/ggml-org/llama.cpp/blob/master/docs/docker.md"""
_NO_KEY: Final = " has no key "
_FAILS: Final = ": the command fails at once"
_SOME_RELEASE: Final = ": --engine-version says which is meant"
_GIVE: Final = "give it one"
_NO_VALUE: Final = " needs a value"
_WHOLE_NUMBER: Final = "it takes a whole number"


@cache
def _published() -> frozenset[str]:
    """`vllm/vllm-openai` and, for copies in other registries, `vllm-openai`."""
    whole = {image.tag.rpartition(":")[0] for image in images()}
    return frozenset(whole | {last for name in whole if "-" in (last := name.rpartition("/")[2])})


def other_build(command: Command) -> str:
    """What says that it is another build than those that are recorded; "" where nothing does."""
    for name in command.env:
        for prefix, title in FORKS.items():
            if name.startswith(prefix):
                return title
    image = command.container.image.text if command.container and command.container.image else ""
    name = image.partition("@")[0]
    name = name.rpartition(":")[0] if ":" in name.rpartition("/")[2] else name
    # A mirror's own name stands in front of the whole name.
    ends = {name, name.rpartition("/")[2], "/".join(name.split("/")[-2:])}
    if not name or "$" in name or _OF_LLAMA_CPP.search(image):
        return ""
    if ends & _published():
        return f"the image {shortened(image)}" if OF_A_COMMIT.search(image) else ""
    return f"the image {shortened(name)}"


def _is_of_the_release(finding: Finding, command: Command) -> bool:
    """Whether another publisher's image holds the engine's release unchanged, and the option is the engine's own, of
    another release: what no release has may be an option of the program that starts the engine."""
    image = command.container.image if command.container else None
    held = held_release(image.text) if image is not None else None
    return held is not None and held.unchanged and bool(releases_with(command.program, finding.where))


def is_of_own_options(remarks: Iterable[Remark], command: Command) -> bool:
    """Whether the image is somebody's own, and it is given options that the release does not have: which of those of a
    release that build takes is not known."""
    if not other_build(command):
        return False
    doubted = (remark.finding for remark in remarks if remark.finding.code in (Code.UNKNOWN_FLAG, Code.INVALID_VALUE))
    return any(said in finding.message for finding in doubted for said in _OWN_BUILD)


def of_its_build(remarks: Iterable[Remark], command: Command) -> Iterator[Remark]:
    """Errors that hold for published builds only become warnings for another build. What the options of a fork are is
    not recorded: one note names those that the engine does not read so."""
    build = other_build(command)
    of_fork: list[Remark] = []
    for remark in remarks:
        finding = remark.finding
        if build in FORKS.values() and _SOME_RELEASE in finding.message and finding.code in _OF_A_BUILD:
            message = finding.message.replace(_SOME_RELEASE, f"; {build.partition(',')[0]} may be made of one of those")
            yield replace(remark, finding=replace(finding, severity=Severity.NOTE, message=message), edits=())
        elif finding.code is Code.PREFIX_FLAG and finding.severity is not Severity.ERROR:
            yield remark  # the parser of a fork takes the beginning of a name too
        elif command.fork and finding.code in _OF_A_BUILD:
            lacks_value = finding.message.endswith(_NO_VALUE) and finding.remedy == _GIVE  # else it was a switch once
            of_engine = lacks_value or finding.remedy == _WHOLE_NUMBER
            if of_engine and releases_with(command.program, finding.where):
                # The fork has the option from the engine, which takes a value, or a number.
                yield replace(remark, finding=replace(finding, severity=Severity.WARNING))
                continue
            of_fork.append(remark)
        elif (
            build
            and finding.severity is Severity.ERROR
            and finding.code in _OF_A_BUILD
            and not _is_of_the_release(finding, command)
        ):
            if finding.code is Code.UNKNOWN_FLAG and _has_no_release(finding, command):
                yield _as_of_build(remark, build)
                continue
            message = f"{finding.message}; {build} may be another build"
            if _NO_KEY in finding.message:  # of no release: whoever wrote it knows the build
                message = message.replace(_FAILS, "")
                yield replace(remark, finding=replace(finding, severity=Severity.NOTE, message=message), edits=())
                continue
            yield replace(remark, finding=replace(finding, severity=Severity.WARNING, message=message))
        else:
            yield remark
    if of_fork:
        names = ", ".join(dict.fromkeys(remark.finding.where for remark in of_fork))
        message = f"{names}: read by {command.fork}, whose options are not recorded"
        remedy = next((fork.instead for fork in FORKS_BY_PROGRAM if fork.title == command.fork), "")
        yield make_remark(Severity.NOTE, Code.UNKNOWN_FLAG, of_fork[0].finding.where, message, remedy)


def of_unnumbered_image(remarks: Iterable[Remark], command: Command) -> Iterator[Remark]:
    """What no release has an image of somebody's own may have: it is left as it was written there."""
    build = unnumbered_image(command)
    for remark in remarks:
        finding = remark.finding
        if not build or not finding.message.endswith(_UNLESS_OWN) or finding.severity is Severity.ERROR:
            yield remark
            continue
        finding = replace(finding, message=finding.message.removesuffix(_UNLESS_OWN))
        yield _as_of_build(replace(remark, finding=finding), build)


def unnumbered_image(command: Command) -> str:
    """`the image someone/vllm:branch`, of another publisher than the engine's, whose tag names no release; "" for
    others."""
    image = command.container.image.text if command.container and command.container.image else ""
    owners = image.partition("@")[0].casefold().split("/")[:-1]
    build = other_build(command) if image and not OWNERS & {*owners} else ""
    numbered = _NUMBER.search(image.partition("@")[0].rpartition(":")[2]) is not None
    return "" if numbered or held_release(image) is not None or build in FORKS.values() else build


def _has_no_release(finding: Finding, command: Command) -> bool:
    """Whether the image has no known release, and no release has the option or one spelled nearly like it."""
    image = command.container.image if command.container else None
    if image is not None and held_release(image.text) is not None:
        return False
    is_key = _NO_KEY in finding.message
    return finding.remedy.startswith("leave ") and (is_key or not releases_with(command.program, finding.where))


def _as_of_build(remark: Remark, build: str) -> Remark:
    """What somebody put into an image of his own for a command is taken there."""
    finding = remark.finding
    message = f"{finding.message.removesuffix('.').removesuffix(_FAILS)}; {build}{_OF_IMAGE}"
    finding = replace(finding, severity=Severity.NOTE, message=message, remedy="keep it where the image has it")
    return replace(remark, finding=finding, edits=())


def is_of_its_fork(finding: Finding, command: Command) -> bool:
    """Whether it is said of a name that a fork may have beside those of its engine: ik_llama.cpp stores keys as q6_0
    (https://github.com/ikawrakow/ik_llama.cpp/pull/77)."""
    return bool(command.fork) and finding.code is Code.INVALID_VALUE and finding.where in _NAMED_VALUES


def of_fork(finding: Finding, command: Command, platform: Platform, release: str) -> Finding:
    """What an engine cannot hold or serve a fork of it may; and of processors it is known what moonpad itself ran."""
    doubt = command.fork if command.fork else "processors of others" if platform is Platform.CPU else ""
    if doubt and finding.severity is Severity.ERROR and finding.code is Code.UNSUPPORTED_FORMAT:
        return replace(finding, severity=Severity.WARNING, message=f"{finding.message}; {doubt} may")
    return of_own_variables(_of_another_publisher(finding, command, release), command)


def _of_another_publisher(finding: Finding, command: Command, release: str) -> Finding:
    """What a release asserts by its number an image of somebody's own may have mended."""
    image = command.container.image if command.container else None
    if finding.severity is not Severity.ERROR or finding.code not in _OF_MODEL_CODE or image is None or not release:
        return finding
    build, held = other_build(command), held_release(image.text)
    if release not in finding.message or not build or (held is not None and held.unchanged):
        return finding
    severity = Severity.NOTE if is_for_its_model(image.text, command) else Severity.WARNING
    return replace(finding, severity=severity, message=f"{finding.message}; {build} may be another build")


def is_for_its_model(image: str, command: Command) -> bool:
    """Whether the tag names the model that is served: `amd:v0.5.8-rocm720-mi30x-kimi-k2.5-opt` was made for it."""
    tag = _plain(image.rpartition(":")[2]) if ":" in image.rpartition("/")[2] else ""
    names = (_plain(word.text.rstrip("/").rpartition("/")[2]) for word in command.argv if "/" in word.text)
    return any(len(name) >= _LEAST_NAME and name in tag for name in names)


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.casefold())


def of_own_variables(finding: Finding, command: Command) -> Finding:
    """What a release cannot lay out or hold, a build may whose variables no release reads: `VLLM_USE_B12X_MOE`."""
    if finding.severity is not Severity.ERROR or finding.code not in _OF_MODEL_CODE:
        return finding
    own = [name for name in command.env if name.startswith(OWN_VARIABLES)]
    if len(own) < _OWN:
        return finding
    known = ever_known_environment(command.program)
    unknown = [name for name in own if name not in known]
    if not known or len(unknown) < _OWN:
        return finding
    message = f"{finding.message}; no release reads {unknown[0]} and {len(unknown) - 1} more: a build of its own may"
    return replace(finding, severity=Severity.WARNING, message=message)
