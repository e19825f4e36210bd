"""Which of the devices that a text names are meant: not those that it calls an alternative or has in a later section
for another maker's, and of a pod those of the nodes that it is bound to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from moonpad.explain.documents.device_mentions import Mention, capability_of, platform_of
from moonpad.explain.documents.device_nearness import sections
from moonpad.explain.documents.spoken_platform import of_rocm
from moonpad.values.platform import Platform

_LONGEST: Final = 2000
"""A longer line is data, not prose."""
_UNTESTED: Final = r"\b(?:not[ ](?:yet[ ])?tested|untested)\b|未(?:经)?测试"
_ASIDE: Final = re.compile(
    rf"[(（][^()（）]{{0,40}}(?:\balternatives?\b|{_UNTESTED})[^()（）]{{0,40}}[)）]", re.IGNORECASE
)
"""`4x H100 80GB (alternative, not tested)`"""
_INTRODUCED: Final = re.compile(
    r"[ \t>*_-]*(?:alternative[ ](?:gpus?|devices?|hardware|options?|configurations?)\b"
    r"|(?:not[ ](?:yet[ ])?tested|untested)\b"
    r"|(?:其他|备选|替代)(?:硬件|设备|显卡))[^\n]{0,60}[:：][*_ \t]*$",
    re.IGNORECASE,
)
"""`Alternative GPUs (not tested):`, above a list of them."""
_ITEM: Final = re.compile(r"[ \t>]*(?:[-*+•]|\d{1,2}[.)])[ ]")
_SELECTOR: Final = re.compile(r"([ \t]*)(?:- )?nodeSelector[ ]*:[ \t]*(?P<here>\S.*)?$")
_UNSIZED: Final = re.compile(r"(?<!nvidia-tesla-)(?<![a-z0-9])a100(?![\w-]*[48]0)(?![0-9])", re.IGNORECASE)
"""The one kind whose label does not say which of its sizes is meant: the text beside it may."""
_OF_THAT_KIND: Final = frozenset({"A100", "A100-40G"})
_GENERATION: Final = re.compile(r"\b(?:Blackwell|Hopper)\b", re.IGNORECASE)
_CAPABILITIES: Final = {"blackwell": ("10.", "12."), "hopper": ("9.",)}
_MOST: Final = 12
"""Lines of a selector."""


def as_meant(named: Sequence[Mention], lines: tuple[str, ...], line: int, *, titled: bool) -> Sequence[Mention]:
    """Those that may be meant for the command of that line. `titled`: the titles of a document say for which devices
    its sections are, and not that this one is for AMD's."""
    named = without_alternatives(named, lines, line)
    return of_titled_generation(without_later_rocm(named, lines, line), lines, line) if titled else named


def without_alternatives(named: Sequence[Mention], lines: tuple[str, ...], line: int) -> Sequence[Mention]:
    """Without those that the text calls an alternative, or not tested, where it names others; `line`: the command's,
    which may have its alternative as its own heading, or right above it."""
    aside = {at for at in _alternatives(lines) if not 0 <= line - at <= 1}
    kept = [each for each in named if each.line not in aside]
    return kept or named


@lru_cache(maxsize=4)
def _alternatives(lines: tuple[str, ...]) -> frozenset[int]:
    found: set[int] = set()
    listed = False
    for number, text in enumerate(lines, 1):
        said = text[:_LONGEST]
        listed = (listed and (not said.strip() or _ITEM.match(said) is not None)) or _INTRODUCED.match(said) is not None
        if listed or (_ASIDE.search(said) and not said.lstrip().startswith("#")):
            found.add(number)
    return frozenset(found)


def without_later_rocm(named: Sequence[Mention], lines: tuple[str, ...], line: int) -> Sequence[Mention]:
    """For a command that nothing says is for AMD's devices: without those of a section below it that is."""
    chains = sections(lines)
    own = chains[min(line, len(chains)) - 1] if chains else ()
    return [each for each in named if each.line < line or not _is_of_rocm_section(each, chains, own, lines)]


def _is_of_rocm_section(
    each: Mention, chains: Sequence[tuple[int, ...]], own: tuple[int, ...], lines: tuple[str, ...]
) -> bool:
    if platform_of(each.kind) is not Platform.ROCM or not 0 < each.line <= len(chains):
        return False
    return any(of_rocm(lines[title - 1]) for title in chains[each.line - 1] if title not in own)


def of_titled_generation(named: Sequence[Mention], lines: tuple[str, ...], line: int) -> Sequence[Mention]:
    """Of a command under a title that names one generation of NVIDIA's, `NVFP4 weights (Blackwell)`, those of it, where
    the text names any."""
    chains = sections(lines)
    for title in reversed(chains[min(line, len(chains)) - 1] if chains else ()):
        words = {match[0].casefold() for match in _GENERATION.finditer(lines[title - 1][:_LONGEST])}
        if words:
            meant = _CAPABILITIES[words.pop()] if len(words) == 1 else ()
            return [each for each in named if (capability_of(each.kind) or "").startswith(meant)] or named
    return named


def of_selected_nodes(
    named: Sequence[Mention], lines: tuple[str, ...], objects: Sequence[tuple[int, int]], line: int
) -> Sequence[Mention]:
    """Of a pod with `nodeSelector: {gpu: nvidia-a100}` those of that kind alone, whose size the text says."""
    at = selected_at(lines, objects, line)
    if not at:
        return named
    return [each for each in named if each.kind in _OF_THAT_KIND] or [Mention(at, "A100", True)]


def selected_at(lines: tuple[str, ...], objects: Sequence[tuple[int, int]], line: int) -> int:
    """The line with which the pod of a command asks for nodes with that kind; 0 where it does not."""
    own = next(((low, high) for low, high in objects if low <= line <= high), None)
    at = _selector(lines[own[0] - 1 : own[1]]) if own is not None else None
    return own[0] + at if own is not None and at is not None else 0


def _selector(lines: Sequence[str]) -> int | None:
    """Where a pod asks for nodes with that kind."""
    for at, text in enumerate(lines):
        if (found := _SELECTOR.match(text[:_LONGEST])) is None:
            continue
        values = [found["here"] or ""]
        for below in lines[at + 1 : at + 1 + _MOST]:
            if len(below) - len(below.lstrip()) <= len(found[1]) and below.strip():
                break
            values.append(below.partition(":")[2])
        if any(_UNSIZED.search(value[:_LONGEST]) for value in values):
            return at
    return None
