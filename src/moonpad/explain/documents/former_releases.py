"""Releases that a text names since all was well with them: `0.7.3 is fine`, `worked on 0.5.5 until the upgrade`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_WELL: Final = r"(?:fine|ok(?:ay)?|good|well|normal(?:ly)?|perfectly|correctly|as expected|not affected|unaffected)"
_BEHIND: Final = re.compile(
    rf"[`*\"')]{{0,3}}[ ](?:(?:is|was|were|runs?|ran|behave[sd]?)[ ](?:all[ ])?{_WELL}\b"
    rf"|work(?:s|ed)\b(?![ ]with\b)|(?:has|had|does|did)[ ](?:not|n't)[ ](?:have[ ])?(?:this|the|that|show|happen)\b)"
    r"|[`*\"')]{0,3}[ ]?(?:是?正常的?|没有?(?:这个)?问题|可以正常)",
    re.IGNORECASE,
)
_AHEAD: Final = re.compile(
    rf"(?:\bwork(?:s|ed)(?:[ ]{_WELL})?|\b(?:is|was|were|ran|runs)[ ](?:all[ ])?{_WELL}"
    r"|\bno[ ](?:such[ ])?(?:issue|problem|error)s?|\b(?:not|n't)[ ](?:happen|occur|seen)|正常|没问题)"
    r"[ ](?:in|on|with|under|before|until|up[ ]to)[ ](?:the[ ])?(?:version[ ]|release[ ])?"
    r"[`*\"'(]{0,3}(?:[\w.-]{1,20}[ ])?$"
    r"|\b(?:downgrad|roll|revert|pinn?)\w{0,6}[ ](?:back[ ])?(?:it[ ])?to[ ][`*\"'(]{0,3}(?:[\w.-]{1,20}[ ])?$",
    re.IGNORECASE,
)
_SINCE: Final = re.compile(
    r"\b(?:upgrad|updat|regress|broke|newer|latest|nightly|no[ ]longer)|\bstopped[ ]working|\bsince[ ]then"
    r"|升级|更新后|回归",
    re.IGNORECASE,
)
_OTHER: Final = re.compile(
    r"(?:[.,;:(]|\b(?:with|in|on|but|since|from|after|and|while|now))[ ]+[`*\"(]{0,3}v?([0-9]+\.[0-9]+\.[0-9]+\w*)",
    re.IGNORECASE,
)
"""A release without the engine's name in the same line: `0.12.0 was fine, with 0.13.0 …`."""
_MARKED: Final = re.compile(
    r"[\w.-]{0,60}[`*\"']{0,3}[ ]?[(（](?:it[ ])?"
    r"(?:(?:runs|works|starts|worked|ran)(?:[ ](?:fine|well))?|ok|fine|good|正常)[)）]",
    re.IGNORECASE,
)
_NEAR: Final = 60


def was_well(text: str, start: int, end: int) -> bool:
    """Whether a line says of the release between `start` and `end` that all was well with it."""
    return _BEHIND.match(text, end) is not None or _AHEAD.search(text[max(0, start - _NEAR) : start]) is not None


def is_marked_well(text: str, end: int) -> bool:
    """Whether a mark in brackets behind an image says that it runs: `release:1.0.0rc1 (runs)`."""
    return _MARKED.match(text, end) is not None


def beside_another(text: str, version: str) -> bool:
    """Whether the line names another release of the same count, without a name."""
    others = (match[1] for match in _OTHER.finditer(text[:2000]))
    return any(other != version and other.partition(".")[0] == version.partition(".")[0] for other in others)


def is_about_a_change(lines: Iterable[str]) -> bool:
    """Whether a text speaks of a release that took the place of another."""
    return any(_SINCE.search(line[:2000]) for line in lines)
