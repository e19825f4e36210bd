"""Devices that a text names only to say that something is not for them: `310P is not supported`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_BEHIND: Final = re.compile(
    r"[)）\]`*_]{0,3}(?:[ ](?:series|cards?|devices?|GPUs?|NPUs?|Duo|products?)){0,2}[ ]?"
    r"(?:(?:is|are)(?:[ ]not[ ]|n't[ ])(?:yet[ ]|currently[ ]|officially[ ])?supported\b|(?:is|are)[ ]unsupported\b"
    r"|(?:will|does|do)[ ]not[ ]work\b|not[ ](?:yet[ ])?supported\b|暂?不支持|尚?未支持|は非対応|미지원)",
    re.IGNORECASE,
)
_BEFORE: Final = re.compile(
    r"(?:\b(?:does|do)[ ]not[ ](?:yet[ ])?support|\bnot[ ](?:yet[ ])?supported[ ]on|\bunsupported[ ]on"
    r"|\bexcept(?:[ ]for)?|暂?不支持|尚?未支持)[ ]?(?:the[ ]|Ascend[ ]|Atlas[ ]|NVIDIA[ ]){0,2}[`*_(（]{0,2}\Z",
    re.IGNORECASE,
)
_LONGEST: Final = 2000
_OF_DEVICES: Final = re.compile(r"310P|300I|200I")
"""In patterns of rows that are about a kind of devices by its name alone."""


def is_ruled_out(text: str, start: int, end: int) -> bool:
    """Whether what stands there is said not to be supported."""
    return _BEHIND.match(text, end) is not None or _BEFORE.search(text, max(0, start - 60), start) is not None


def names_ruled_out(pattern: str, lines: Sequence[str]) -> bool:
    """Whether the devices that a row's pattern names are in the text only as those that are not supported."""
    if _OF_DEVICES.search(pattern) is None:
        return False
    sign = re.compile(pattern, re.IGNORECASE)
    found = [(text, match) for line in lines if (text := line[:_LONGEST]) for match in sign.finditer(text)]
    return bool(found) and all(is_ruled_out(text, *match.span()) for text, match in found)
