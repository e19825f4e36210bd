"""Which of the versions that a document names is that of one command: the one of its own part."""

from __future__ import annotations

import re
from operator import attrgetter
from typing import Final

from moonpad.catalog.image_releases import held_release
from moonpad.engines import ENGINES
from moonpad.engines.build_names import BUILD_LINES
from moonpad.engines.image_names import PULLED_FOR_CUDA
from moonpad.explain.commands import Command, Script
from moonpad.explain.documents.device_nearness import sections
from moonpad.explain.documents.mentioned_releases import VersionMention
from moonpad.explain.documents.spoken_platform import ROCM_ENV, speaks_of_rocm
from moonpad.explain.documents.text_hints import version_mentions
from moonpad.explain.programs import is_server

_MEASURED: Final = re.compile(
    r"benchmark|accuracy|evaluation|performance|\bresults?\b|性能|精度|评测|测试", re.IGNORECASE
)
"""Headings of what was measured, perhaps with another release than the guide is for."""
_OF_ROCM: Final = re.compile(r"rocm|mi3[0-9]", re.IGNORECASE)
_OF_CUDA: Final = re.compile(
    r"nvidia|cuda(?!-?graph)|--gpus\b|-cu1[23]\d|\b[HBL]\d{2,3}\b|\bA100\b|\bRTX\b", re.IGNORECASE
)

_LINE: Final = attrgetter("line")
_LONGEST: Final = 2000
_NEAR_IMAGE: Final = 12
"""Lines between an image and the command that is run in it, which may begin above."""
_KIND: Final = re.compile(r"\b(?:G?[BHAL]\d{2,3}|MI\d{3}X?|RTX ?\d{4}|91\d[BC])\b")
"""Devices in a row of a table of images, and in the heading above the command for one of them."""


def nearest_version(engine: str, script: Script, command: Command) -> str | None:
    """The version that stands under the innermost heading above the command which has any; images for other devices,
    and those beside the command's own, which names no release, are none of it. None where the text has no headings."""
    if not script.markdown or engine in BUILD_LINES:  # those are found by what the program prints
        return None
    script.budget.work(script.steps_to_scan // 4, "the text around its engine commands")
    chains = sections(script.lines)
    own = chains[min(command.line, len(chains)) - 1] if chains else ()
    if not own:
        return None
    rocm = speaks_of_rocm(script, [command], command.line, (*ROCM_ENV, *ENGINES[engine].command_line.rocm_env))
    rocm = rocm or _is_of_rocm_alone(engine, script)
    has_image = command.container is not None and command.container.image is not None
    kinds = {kind for at in own for kind in _KIND.findall(script.lines[at - 1])}
    published = _run_in_images_of_publishers(script)
    fitting = [
        each
        for each in version_mentions(script.lines)
        if each.engine == engine
        and not each.least
        and not _is_of_others(each, script, rocm=rocm, has_image=has_image)
        and not _is_of_other_row(script.lines[each.line - 1], kinds)
        and (chains[each.line - 1] == own or not _is_one_of_several(each, script.lines[each.line - 1]))
        and (each.line not in published or own[: len(chains[each.line - 1])] == chains[each.line - 1])
        and (
            each.exact
            or not any(_MEASURED.search(script.lines[at - 1]) for at in chains[each.line - 1] if at not in own)
        )
    ]
    for depth in range(len(own), -1, -1):
        beside = [each for each in fitting if chains[each.line - 1][:depth] == own[:depth]]
        beside = _installed_by_then(beside, script, command)
        if beside:
            pulled = [each for each in beside if each.image and each.line < command.line]
            # A later part that pulls another image goes on with that.
            return (max(pulled, key=_LINE) if beside[0].image and pulled else beside[0]).version
    return ""


def least_of_section(engine: str, script: Script, command: Command) -> str:
    """The lowest release that the command's own section, below a title of the whole, asks for above it and names no
    other beside: `### Eagle3`, `supported in vLLM>=0.18.0`. "" where it asks for none."""
    asked = [each for each in version_mentions(script.lines) if each.engine == engine and each.least]
    if not asked or not script.markdown:
        return ""
    chains, own = _chains(script, command)
    beside = [each for each in version_mentions(script.lines) if each.engine == engine and chains[each.line - 1] == own]
    if len(own) < 2 or any(not each.least for each in beside):
        return ""
    return next((each.version for each in beside if each.line < command.line), "")


def least_of_all(engine: str, script: Script, command: Command) -> str:
    """The lowest release that the text asks for, also of this command: a section with another start asks for that
    alone."""
    least = script.minimum_versions.get(engine, "")
    if not least or not script.markdown or len(script.objects) > 1:
        return least
    chains, own = _chains(script, command)
    started = {
        chains[each.line - 1] for each in script.commands if is_server(each.program) and each.line <= len(chains)
    }
    asked = [each for each in version_mentions(script.lines) if each.engine == engine and each.least]
    if not asked or least not in {each.version for each in asked}:
        return least
    others = [chains[each.line - 1] for each in asked]
    own_asked = [
        each for each, at in zip(asked, others, strict=True) if at == own[: len(at)] or at not in started or len(at) < 2
    ]
    return own_asked[0].version if own_asked else ""


def _chains(script: Script, command: Command) -> tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]:
    script.budget.once("sections of least releases", script.steps_to_scan // 4, "the text around its engine commands")
    chains = sections(script.lines)
    return chains, chains[min(command.line, len(chains)) - 1] if chains else ()


def _is_of_rocm_alone(engine: str, script: Script) -> bool:
    """Whether all images of the engine in the text are for ROCm, and nothing in it is of NVIDIA's."""
    images = [each for each in version_mentions(script.lines) if each.engine == engine and each.image]
    if not images or not all(_OF_ROCM.search(script.lines[each.line - 1]) for each in images):
        return False
    return not any(_OF_CUDA.search(line[:_LONGEST]) or PULLED_FOR_CUDA.search(line[:_LONGEST]) for line in script.lines)


def _installed_by_then(beside: list[VersionMention], script: Script, command: Command) -> list[VersionMention]:
    """Of releases that were installed one after the other, with starts between them, the one that was there then: what
    a person typed through a day."""
    pins = [each for each in beside if each.exact and not each.image]
    if len({each.version for each in pins}) < 2:
        return beside
    starts = [each.line for each in script.commands if is_server(each.program)]
    if not any(pins[0].line < line < pins[-1].line for line in starts):
        return beside
    return [each for each in reversed(pins) if each.line < command.line] or [each for each in beside if not each.exact]


def _run_in_images_of_publishers(script: Script) -> set[int]:
    """Lines that name an image which its publisher numbers by himself, with the command that is run in it: a guide to
    another build says so of one of its sections alone."""
    starts = {command.line for command in script.commands if is_server(command.program)}
    lines = {each.line for each in version_mentions(script.lines) if each.image and held_release(each.image)}
    return {line for line in lines if starts & {*range(line - _NEAR_IMAGE, line + _NEAR_IMAGE)}}


def _is_of_others(each: VersionMention, script: Script, *, rocm: bool, has_image: bool) -> bool:
    if not each.image:
        return False
    of_rocm = _OF_ROCM.search(script.lines[each.line - 1]) is not None
    return has_image or of_rocm is not rocm


def _is_one_of_several(each: VersionMention, line: str) -> bool:
    """Whether a line of another part names one image with several tags: what was measured with which."""
    name = each.image.rpartition(":")[0]
    return bool(name) and len({*re.findall(rf"{re.escape(name)}:([\w.+-]{{1,128}})", line[:_LONGEST])}) > 1


def _is_of_other_row(line: str, kinds: set[str]) -> bool:
    of_row = set(_KIND.findall(line)) if line.lstrip().startswith("|") else set()
    return bool(kinds and of_row) and not kinds & of_row
