"""Devices that a text names apart from a command, and that are not its own: an example of a generation, the machine on
which a model of another size was measured, or on which another page measured."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.explain.documents.device_mentions import Mention

_LONGEST: Final = 2000
"""A longer line is data, not prose."""
_CLOSE: Final = 6
"""Lines above a command in which an example is of what it is for."""
_BLOCK: Final = 4
"""Lines of a list around the one that names the machine."""
_EXAMPLE: Final = re.compile(
    r"\b(?:Blackwell|Hopper|Ampere|Ada)(?:[ ](?:architectures?|machines?|devices?|GPUs?|cards?|platforms?)){0,2}"
    r"[*_]{0,2},?[ ]?[(（]?(?:e\.g\.|such as|for example),?[ ](?:NVIDIA[ ])?(?P<kind>[A-Z]{1,3}\d{2,4})\b",
    re.IGNORECASE,
)
"""`Blackwell (e.g., B200)`, `for the Hopper architecture, e.g. H100`."""
_OF_ANOTHER_PAGE: Final = re.compile(
    r"\b(?:benchmarks?|results?|numbers|figures?|measurements?|data)[ ](?:is[ ]|are[ ]|taken[ ])?from[ ]\[",
    re.IGNORECASE,
)
"""`*Benchmark from [the blog](https://…), 8x A100*`"""
_PUBLISHED: Final = (
    r"(?:adapt(?:s|ed)?|ports?(?:ed)?|deriv(?:es|ed)[ ]from|modell?ed[ ](?:on|after)|based[ ]on|published|official"
    r"|upstream)"
)
_PROFILE: Final = r"(?:profiles?|recipes?|config(?:uration)?s?|presets?|examples?|layouts?|settings|scripts?)"
_COMPARES: Final = re.compile(r"[-+~≈]\d+(?:\.\d+)?%")
"""`about -10% at 2K compared to H100`"""
_MODEL: Final = re.compile(r"[ \t>*+-]*[*_]{0,2}Model(?:[ ]name)?[*_]{0,2}[ ]?[:：][*_`\[ ]*(?P<name>[\w./-]{3,100})")
_SIZE: Final = re.compile(r"(?<![A-Za-z0-9.])(\d{1,4}(?:\.\d{1,2})?)B(?![a-z0-9])", re.IGNORECASE)


def without_examples(named: Sequence[Mention], lines: tuple[str, ...], line: int) -> Sequence[Mention]:
    """Without those that only say what a generation is, unless right above the command of that line."""
    return [each for each in named if 0 <= line - each.line <= _CLOSE or not _is_example(each, lines)]


def without_profiles(named: Sequence[Mention], lines: tuple[str, ...]) -> Sequence[Mention]:
    """Without those for which somebody else made what is adapted here, `adapts SGLang's published 32-GPU H100 profile`,
    where others are named."""
    own = [each for each in named if not _is_of_profile(each, lines)]
    return own or named


def _is_of_profile(each: Mention, lines: tuple[str, ...]) -> bool:
    text = lines[each.line - 1][:_LONGEST]
    if not re.search(_PROFILE, text, re.IGNORECASE):
        return False
    above = lines[each.line - 2][-_BEFORE:].rstrip() if each.line > 1 else ""  # a comment goes on from there
    kind = re.escape(each.kind)
    pattern = rf"\b{_PUBLISHED}\b[^.;\n]{{0,80}}\b{kind}\b[^.;\n]{{0,40}}\b{_PROFILE}\b"
    return re.search(pattern, f"{above} {text}", re.IGNORECASE) is not None


_BEFORE: Final = 60


def _is_example(each: Mention, lines: tuple[str, ...]) -> bool:
    text = lines[each.line - 1][:_LONGEST] if each.machine is None else ""
    return any(match["kind"].casefold() == each.kind.casefold() for match in _EXAMPLE.finditer(text))


def without_those_of_others(named: Sequence[Mention], lines: tuple[str, ...], model: str) -> Sequence[Mention]:
    """Of other sections than the command's: without those that another page had, that are compared with, and those of
    a model of another size."""
    return [each for each in named if not _is_of_others(each, lines, model)]


def _is_of_others(each: Mention, lines: tuple[str, ...], model: str) -> bool:
    text = lines[each.line - 1][:_LONGEST]
    if _OF_ANOTHER_PAGE.search(text) or (each.machine is None and _COMPARES.search(text)):
        return True
    own = _size_of(model)
    around = (match for beside in _block_around(each.line, lines) if (match := _MODEL.match(beside)) is not None)
    measured = next((size for match in around if (size := _size_of(match["name"]))), "")
    return bool(own and measured and own != measured)


def _size_of(name: str) -> str:
    """`70` of `Llama-3.1-70B-Instruct`, `235` of `Qwen3-235B-A22B`."""
    match = _SIZE.search(name.rstrip("/").rpartition("/")[2])
    return match[1] if match is not None else ""


def _block_around(line: int, lines: tuple[str, ...]) -> list[str]:
    """The lines of the same list, without a blank one between."""
    below, above = lines[line : line + _BLOCK], lines[max(0, line - 1 - _BLOCK) : line - 1][::-1]
    found: list[str] = []
    for part in (above, below):
        for text in part:
            if not text.strip():
                break
            found.append(text[:_LONGEST])
    return found
