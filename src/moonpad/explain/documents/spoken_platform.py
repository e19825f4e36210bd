"""Whose devices a command is for, by what stands around it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.explain.commands import Command, Script
from moonpad.explain.documents.device_mentions import mentions, named_by_names, platform_of
from moonpad.explain.documents.device_nearness import sections
from moonpad.explain.meant_platform import is_for_rocm
from moonpad.values.platform import Platform

_ROCM: Final = re.compile(r"\b(?:rocm|amd|mi3[0-9]{2}x?)\b", re.IGNORECASE)
_OF_NVIDIA: Final = re.compile(
    r"\bnvidia\b(?!/)|\b(?:G?[BH][1-3]00|H20|[AH]800|A100|L40S?|L20|RTX|Hopper|Blackwell)\b", re.IGNORECASE
)
"""In a heading; `nvidia/…` is a checkpoint, which any maker's devices may run."""
_TAG: Final = re.compile(r"(?<![\w./-])[\w.-]{1,60}(?:/[\w.-]{1,60}){1,3}:(?P<tag>[\w.-]{1,120})")
_BUILT: Final = (
    (Platform.ROCM, re.compile(r"rocm|(?:^|[-_.])(?:mi3[0-9]{1,2}x|gfx9)", re.IGNORECASE)),
    (Platform.CUDA, re.compile(r"(?:^|[-_.])(?:cu1[1-9][0-9]?|cuda[0-9.]*|g?[bh][1-3]00)(?![a-z0-9])", re.IGNORECASE)),
)
"""What the tags of images say of the devices that they are built for."""
_KIND: Final = r"(?:\d{1,2}[ ]?[x×][ ]?)?(?:NVIDIA[ ]|AMD[ ](?:Instinct[ ])?)?(?:MI\d{3}X?|G?[BH]\d{2,3}|A\d{3})"
_ALTERNATIVES: Final = re.compile(
    rf"{_KIND}(?:[ ]?(?:,|/|\||和|或|\bor\b)[ ]?(?:(?:or|and)[ ])?{_KIND}){{2,8}}", re.IGNORECASE
)
ROCM_ENV: Final = ("HIP_", "HSA_", "ROCR_", "AITER_")
"""How the variables begin that only ROCm reads."""
_LONGEST: Final = 2000


def speaks_of_rocm(script: Script, commands: Sequence[Command], line: int, variables: tuple[str, ...]) -> bool:
    return platform_spoken(script, commands, line, variables) is Platform.ROCM


def platform_spoken(
    script: Script, commands: Sequence[Command], line: int, variables: tuple[str, ...]
) -> Platform | None:
    """By what the commands themselves say (options and variables that only ROCm has), by the container's image and the
    comments, then by the headings above, of which the nearest decides. None where nothing of these says it."""
    if any(is_for_rocm(command, variables) for command in commands):
        return Platform.ROCM
    images = [command.container.image.text for command in commands if command.container and command.container.image]
    if any(map(of_rocm, images)):
        return Platform.ROCM
    built = next(filter(None, map(_built_for, images)), None)
    if built is not None and built in _named(script):
        return built
    texts = [comment for command in commands for comment in command.comments]
    if any(_ROCM.search(text[:_LONGEST]) and not _lists_both(text[:_LONGEST]) for text in texts):
        return Platform.ROCM
    return _of_sections(script, line, [command.heading or "" for command in commands])


def _lists_both(text: str) -> bool:
    """Whether a line lists devices of NVIDIA beside those of AMD as alternatives, `MI325X, MI300X or H200`."""
    lists = [match.group() for match in _ALTERNATIVES.finditer(text)]
    platforms = ({platform_of(each.kind) for each in mentions((one,), ()) if each.known} for one in lists)
    return any({Platform.CUDA, Platform.ROCM} <= each for each in platforms)


def _of_sections(script: Script, line: int, headings: Sequence[str]) -> Platform | None:
    """From the innermost heading outwards: of the last image that the section names before the command, then of the
    heading itself. A title has sections for several machines below it, whose images are not the command's."""
    chains = sections(script.lines) if script.markdown else ()
    own = chains[min(line, len(chains)) - 1] if chains else ()
    for number in reversed(own):
        built = _last_image(script, number, line) if number != own[0] or len(own) == 1 else None
        if built is not None:
            return built
        for heading in (*headings, script.lines[number - 1].strip("# ")):
            if told := of_rocm(heading) or _of_nvidia(heading):
                return told
    return next(filter(None, map(of_rocm, headings)), None)


def _last_image(script: Script, first: int, last: int) -> Platform | None:
    """Of a platform of which the text names devices: else the image is a slip that says nothing of the command."""
    for text in reversed(script.lines[first - 1 : last]):
        for match in _TAG.finditer(text[:_LONGEST]) if ":" in text else ():
            built = _built_for(match.group())
            own_kinds = {platform_of(each.kind) for each in named_by_names([match.group()])}
            if built is not None and (built in own_kinds or built in _named(script)):
                return built
    return None


def _named(script: Script) -> set[Platform | None]:
    """Of the devices that the text names."""
    return {platform_of(each.kind) for each in mentions(script.lines, script.placed_hints) if each.known}


def _of_nvidia(text: str) -> Platform | None:
    return Platform.CUDA if _OF_NVIDIA.search(text[:_LONGEST]) else None


def of_rocm(text: str) -> Platform | None:
    return Platform.ROCM if _ROCM.search(text[:_LONGEST]) else None


def _built_for(image: str) -> Platform | None:
    """By the tag of the image alone; None where it says nothing."""
    match = _TAG.search(image)
    tag = match["tag"] if match is not None else image.rpartition(":")[2]
    return next((platform for platform, words in _BUILT if words.search(tag)), None)
