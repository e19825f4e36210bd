"""Cards of people, by their numbers alone: `the GPU is 4090`, `on a 5090`, `显卡是 4090D`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_NUMBERS: Final = r"(?P<device>(?:RTX[ -]?)?(?:3090|4090|5090))"
_GOES_ON: Final = (
    r"(?=[ ]?(?:$|[.,;!?)\]*_`，。；、！？）(（+—&/|]"
    r"|(?:and|or|with|but|for|here|now|at|in|from|which|that|as|gives?|fails?)\b"
    r"|(?:(?:graphics[ ])?cards?|GPUs?|laptops?|desktops?|machines?|box(?:es)?)\b"
    r"|(?![个元行次毫秒端])[\u4e00-\u9fff]))"
)
"""What stands behind a card, and not behind a number of something else."""
_BARE: Final = re.compile(
    r"(?:\b(?:GPUs?|(?:graphics|video)[ ]cards?|cards?)[ ]?(?:(?:(?P<is>is)|are|was|=|:)[ ]?|[ ])"
    r"(?:(?:an?|the|one|my|single|NVIDIA|GeForce)[ ]){0,2}"
    r"|\b(?:on|with|have|has|got|own|using|use|through)[ ](?P<one>an?|my|one|a[ ]single)[ ](?:[a-z]+[ ])??"
    r"|(?:显卡|GPU|单卡|卡)[ ]?(?:(?P<shi>是)|为|用的是|型号|[:：])[:：]?[ ]?"
    r"|(?:我有|用的是|我用|(?P<zhang>一张|单张|单卡))[ ]?)"
    rf"{_NUMBERS}(?:[ ]?D\b)?(?:[ -]?(?P<size>24|32|48)[ ]?G(?:i?B)?\b)?(?![\w%]|\.\d|:\d|-\d){_GOES_ON}",
    re.IGNORECASE,
)
_ONE: Final = ("is", "one", "shi", "zhang")
"""Words behind which there is one card."""
_HOLDS: Final = ("3090", "4090", "5090")


def bare_cards(text: str) -> Iterator[re.Match[str]]:
    if any(number in text for number in _HOLDS):
        yield from _BARE.finditer(text)


def is_one_card(match: re.Match[str]) -> bool:
    """`the GPU is 4090`: whether the words speak of one."""
    groups = match.groupdict()
    return any(groups.get(name) for name in _ONE)
