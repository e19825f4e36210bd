"""Devices that the author says he does not have: `I don't have 8 x H200`, and how many of them there are instead."""

from __future__ import annotations

import re
from typing import Final

from moonpad.explain.documents.device_patterns import WORDS

_NUMBER: Final = r"(?P<number>a[ ]single(?:[ ]one)?|one|two|three|four|five|six|[1-4])"
_BEFORE: Final = 90
"""Characters in front of a device that deny it, and behind it that count what there is."""
_DENIED: Final = re.compile(
    r"(?:\b(?:I|we)[ ](?:(?:currently|really|just|simply|still|also|unfortunately)[ ])?"
    r"(?:(?:do[ ]not|don['’]?t|did[ ]not|didn['’]?t)[ ](?:(?:actually|currently|even|really)[ ])?"
    r"(?:have|own|possess)(?:[ ]access[ ]to)?|have[ ]no(?:[ ]access[ ]to)?|lack|can(?:no|['’])t[ ]afford)"
    r"[ ](?:(?:an?|any|the|enough|those|such)[ ])?"
    r"(?:[\w-]+(?:[ ][\w-]+){0,2}(?:[ ]?/[ ]?|[ ]or[ ])){0,2}|(?:我们?|手里|手头|这边)?没有[ ]?)"
    r"(?:[0-9]{1,2}[ ]?(?:[x×*][ ]?|张|卡|块)?)?(?:NVIDIA[ ]|AMD[ ]|Instinct[ ]){0,2}\Z",
    re.IGNORECASE,
)
_WORK: Final = re.compile(
    r"[^.,;:()!?。，；（）]{0,50}\b(?:numbers|results|data|recipes?|problems?|issues?|errors?|bugs?|benchmarks?"
    r"|config\w*|figures|measurements|logs?|images?|support|kernels?)\b|[^。，；]{0,12}(?:问题|数据|结果|报错)",
    re.IGNORECASE,
)
"""`I don't have the H200 numbers yet`: that the work was not done denies no device."""
_INSTEAD: Final = re.compile(
    r"[^\n]{0,60}?[(（.,;，；–—-][ ]?(?:(?:but|and|in[ ]fact|actually|as)[ ,]{1,2}){0,2}"
    r"(?:(?:I|we)[ ](?:actually[ ])?(?:(?:only|just)[ ]have|have[ ](?:only|just))|only)[ ]"
    rf"{_NUMBER}(?:[ ]of[ ](?:them|those|these))?(?=[ ]?(?:[).,;!\n]|$))",
    re.IGNORECASE,
)
_ONLY: Final = re.compile(
    r"\b(?:I|we)[ ](?:(?:currently|actually)[ ])?(?:(?:only|just)[ ](?:have|own)|have[ ](?:only|just))"
    r"(?:[ ]access[ ]to)?[ ](?:an?[ ]|a[ ]single[ ])?\Z",
    re.IGNORECASE,
)
_OF_EACH: Final = re.compile(r"[^.;!?\n]{0,40}\b(?:per|each|every|nodes?|machines?|servers?|hosts?)\b", re.IGNORECASE)


def is_denied(text: str, start: int) -> bool:
    """Whether the device that begins there is one that the author says he does not have."""
    return _DENIED.search(text, max(0, start - _BEFORE), start) is not None and _WORK.match(text, start) is None


def number_instead(text: str, start: int) -> int:
    """How many he has of what he denies to have so many of; 0 where he does not say it."""
    match = _INSTEAD.match(text, start)
    if match is None:
        return 0
    number = match["number"].lower()
    return int(number) if number.isdecimal() else WORDS.get(number, 1)  # `a single one`


def as_there_are(offset: int, machine: str, text: str) -> tuple[int, str] | None:
    """As many as the author has, where he denies to have so many; None where he has none."""
    if not is_denied(text, offset):
        return offset, machine
    number = number_instead(text, offset)
    return (offset, f"{number}x{machine.rpartition('x')[2]}") if number else None


def is_all_there_is(text: str, start: int) -> bool:
    """Whether the devices that are counted there are all that the author has, on one machine."""
    if is_denied(text, start):
        return number_instead(text, start) > 0
    return _ONLY.search(text, max(0, start - _BEFORE), start) is not None and _OF_EACH.match(text, start) is None
