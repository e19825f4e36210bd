"""Devices that a text names by their generation: `gfx950`, `-mi35x-` in the tag of an image."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from moonpad.catalog.hardware import find_hardware
from moonpad.engines.image_names import PULLED_FOR_CUDA
from moonpad.explain.documents.device_mentions import Mention, capability_of, platform_of
from moonpad.values.platform import Platform
from moonpad.values.records import replace

LONGEST: Final = 2000
"""A longer line is data, not prose."""
IN_TAGS: Final = re.compile(r"[\w.-]/[\w./-]{1,80}:[\w.-]{0,80}?(?<![a-z0-9])(mi30x|mi35x)(?![a-z0-9])", re.IGNORECASE)
_IN_WORDS: Final = re.compile(r"(?<![\w])(gfx942|gfx950|mi30x|mi35x)(?![\w])", re.IGNORECASE)
_FOR_BUILDS: Final = re.compile(r"ROCM_ARCH|GPU_(?:TARGETS|ARCHS?)\b|HIP_ARCHITECTURES|offload-arch", re.IGNORECASE)
"""What a build is compiled for is a list of what it could run on."""
_AT_RUN: Final = re.compile(r"(?<![\w-])GPU_ARCHS=[\"']?gfx\w+[\"']?(?=[ \t\\;&]|$)")
"""One architecture, for which AITER compiles its kernels when they are first used (aiter/jit/core.py)."""
_BUILDS: Final = re.compile(r"\b(?:pip3?|uv|cmake|make|setup\.py|ARG|RUN|docker[ ]build|build)\b")
_HERE: Final = re.compile(r"\bhere[ ](?:for|on|with)[ ](?:(?:the|an?|AMD)[ ])*", re.IGNORECASE)
BUILT_FOR: Final[Mapping[str, str]] = {"mi30x": "gfx942", "mi35x": "gfx950"}
"""A part of a tag → the generation that the image is built for."""
_VARIANT: Final = "-NVL"
_ALIKE: Final[Mapping[str, str]] = {"gfx950": "MI355X"}
"""Generations whose devices all have the same memory, and one of them. Those of gfx942 have 128, 192 or 256 GB."""


def of_generation(named: Sequence[Mention], lines: Sequence[str], images: Iterable[str]) -> Sequence[Mention]:
    """Without the kinds of AMD that the image is not built for, where the text names several generations: those of the
    command's own image (`images`), else of the only one in the text. `here for MI355X` sets them apart in one line."""
    generations = {capability_of(each.kind) for each in named if platform_of(each.kind) is Platform.ROCM}
    if len(generations) < 2:
        return named
    own = {match[1] for image in images for match in IN_TAGS.finditer(image)}
    tags = own or {match[1] for text in lines for match in IN_TAGS.finditer(text[:LONGEST])}
    wanted = {BUILT_FOR[tag.lower()] for tag in tags}
    if len(wanted) == 1 and wanted <= generations:
        return [each for each in named if capability_of(each.kind) in wanted]
    return [each for each in named if not _elsewhere(each, named, lines)]


def by_full_names(named: Sequence[Mention]) -> Sequence[Mention]:
    """`2x H100 NVL` are meant by `two H100` in the same text."""
    longer = {each.kind.removesuffix(_VARIANT): each.kind for each in named if each.kind.endswith(_VARIANT)}
    return [
        replace(
            each,
            kind=longer[each.kind],
            machine=each.machine.removesuffix(each.kind) + longer[each.kind] if each.machine else None,
        )
        if each.known and each.kind in longer
        else each
        for each in named
    ]


def _elsewhere(each: Mention, named: Sequence[Mention], lines: Sequence[str]) -> bool:
    """Whether its line says `here for …` of others after it."""
    text = lines[each.line - 1][:LONGEST]
    match = _HERE.search(text)
    if match is None or text.find(each.kind) < 0 or each.kind in text[match.end() :]:
        return False
    return any(other.line == each.line and text.startswith(other.kind, match.end()) for other in named)


def spoken_generation(lines: Sequence[str]) -> str:
    """A kind that stands for the only generation of AMD that the text speaks of; "" where its kinds differ in
    memory, or where it speaks of another maker's or pulls an image for that."""
    if any("nvidia" in text[:LONGEST].casefold() or PULLED_FOR_CUDA.search(text[:LONGEST]) for text in lines):
        return ""
    spoken = (text[:LONGEST].replace("_", "-") for text in lines if not _is_for_builds(text[:LONGEST]))
    words = {match[1].lower() for text in spoken for match in _IN_WORDS.finditer(text)}
    generations = {BUILT_FOR.get(word, word) for word in words}
    return _ALIKE.get(next(iter(generations)), "") if len(generations) == 1 else ""


def _is_for_builds(text: str) -> bool:
    run = _AT_RUN.search(text)
    rest = text if run is None or _BUILDS.search(text) else text[: run.start()] + text[run.end() :]
    return _FOR_BUILDS.search(rest) is not None


def alike(kinds: Sequence[str]) -> bool:
    """Whether it makes no difference which of these kinds it is: AMD's of one generation with the same memory."""
    rows = [row.device for kind in kinds if (row := find_hardware(kind)) is not None and row.device is not None]
    return (
        len(rows) == len(kinds)
        and all(row.platform is Platform.ROCM for row in rows)
        and len({(row.capability, row.usable_bytes) for row in rows}) == 1
    )
