"""Changes that a text puts into what it runs: `pull/48125.patch` applied, `cherry-picked #49674`, `the shared-memory
fix of the mod applies`. What they mend is not met."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

_APPLIED: Final = re.compile(
    r"\b(?:cherry-?pick(?:s|ed|ing)?|backport(?:s|ed|ing)?(?! (?:in)?to\b)|patched|appl(?:y|ies|ied|ying)|built with"
    r"|with the (?:\w+ )?(?:patch|fix|change))\b|打上|合入|已应用",
    re.IGNORECASE,
)
_HELD: Final = re.compile(r"\b(?:includes?|included|carr(?:y|ies|ied))\b", re.IGNORECASE)
_RELEASE: Final = re.compile(r"(?<![\w/.-])v?\d+\.\d+\.\d")
"""What a release of that number has is told of the release, and not of what runs."""
_MENDS: Final = re.compile(
    r"\b(?:fix(?:es)?|patch(?:es)?|cherry-?picks?|backports?|hot-?fix(?:es)?)\b|补丁|修复", re.IGNORECASE
)
_NOT_THERE: Final = re.compile(
    r"\b(?:not?|without|should|need\w*|until|unless|if (?:you|needed|necessary)|wait\w*|pending|before|missing|lacks?"
    r"|revert(?:s|ed)?|which (?:release|version))\b|n't\b|[?？]|没有|未",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"(?:#|\bpull/|\bPR[ #-]{0,2})(\d{3,6})\b")
_FETCHED: Final = re.compile(r"\bpull/(\d{3,6})(?:\.patch|\.diff|/head\b)")
_CALLED_MEND: Final = re.compile(
    r"\b(?:fix(?:ed|es)?|mend(?:ed|s)?|resolve[sd]?|solve[sd]|address(?:ed|es)?)\b[^.;|]{0,30}?"
    r"(?:#|PR[ #]?|https://github\.com/[\w.-]{1,60}/[\w.-]{1,60}/pull/)(?P<number>\d{3,6})\b",
    re.IGNORECASE,
)
_LONGEST: Final = 2_000
_MOST: Final = 40


@lru_cache(maxsize=4)  # asked for each command of a text
def changes_told(lines: tuple[str, ...]) -> frozenset[str]:
    """The numbers of pull requests that are put in."""
    return frozenset(_numbers(lines))


@lru_cache(maxsize=4)
def changes_named(lines: tuple[str, ...]) -> frozenset[str]:
    """The numbers of pull requests that a line calls the mend, `Fix PR: https://…/pull/29036`, `fixed by #29036`."""
    texts = (line[:_LONGEST] for line in lines if "pull/" in line or "#" in line or "PR" in line)
    return frozenset(match["number"] for text in texts for match in _CALLED_MEND.finditer(text))


def _numbers(lines: tuple[str, ...]) -> Iterator[str]:
    for line in lines:
        text = line[:_LONGEST]
        if "pull/" not in text and "#" not in text and "PR" not in text:
            continue
        yield from (match[1] for match in _FETCHED.finditer(text))
        if _is_there(text):
            yield from (match[1] for match in _NUMBER.finditer(text))


def _is_there(text: str) -> bool:
    applied = _APPLIED.search(text) is not None or (_HELD.search(text) is not None and not _RELEASE.search(text))
    return applied and _NOT_THERE.search(text) is None


@lru_cache(maxsize=4)
def mends_told(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Sentences of a mend that is there, each with the lines around it."""
    found: list[str] = []
    for number, line in enumerate(lines):
        if not _MENDS.search(line[:_LONGEST]):
            continue
        around = " ".join(text[:_LONGEST] for text in lines[max(0, number - 1) : number + 2])
        if _is_there(around):
            found.append(around)
    return tuple(found[:_MOST])
