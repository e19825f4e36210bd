"""Builds of the main branch that a text installs or pulls: they name no release, and are of one day."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

_TAKEN: Final = re.compile(r"\b(?:install|pull|run|image|FROM)\b|^[ \t>]*(?:docker|podman|uv|pip)\b", re.IGNORECASE)
_NIGHTLY: Final = re.compile(
    r"\bnightly\b(?![_-]?v?\d+\.\d)(?!-[0-9a-f]{7,40}\b)(?!-20\d{6})|(?<=[ ])--pre(?:release)?(?![\w-])", re.IGNORECASE
)
"""Without a release, a commit or a day in its tag, which say more."""
_LONGEST: Final = 2000


def takes_nightly(names: Sequence[str], lines: tuple[str, ...], line: int) -> bool:
    """Whether what stands at the command's line or above it takes such a build of an engine that has these names."""
    return any(number <= line for number in _lines_with(tuple(names), lines)) if names else False


@lru_cache(maxsize=8)  # each engine command of a text asks
def _lines_with(names: tuple[str, ...], lines: tuple[str, ...]) -> tuple[int, ...]:
    named = re.compile(rf"(?<![a-z])(?:{'|'.join(names)})(?![a-z])", re.IGNORECASE)
    shorts = ((number, text[:_LONGEST]) for number, text in enumerate(lines, 1) if "ightly" in text or "--pre" in text)
    return tuple(
        number for number, text in shorts if _NIGHTLY.search(text) and _TAKEN.search(text) and named.search(text)
    )
