"""Devices that a text names only to say that something is not for them: `310P is not supported`."""

from __future__ import annotations

import re
from typing import Final

_MARKED: Final = r"(?:❌|✗|✘|🚫|:x:)"
_BEHIND: Final = re.compile(
    r"[)）\]`*_]{0,3}(?:[ ](?:series|cards?|devices?|GPUs?|NPUs?|Duo|products?)){0,2}[ ]?"
    rf"(?:(?:\|[ ]?)?(?:{_MARKED}[ ]?)?"
    r"(?:(?:is|are)(?:[ ]not[ ]|n't[ ])(?:yet[ ]|currently[ ]|officially[ ])?supported\b|(?:is|are)[ ]unsupported\b"
    r"|(?:will|does|do)[ ]not[ ]work\b|not[ ](?:yet[ ])?supported\b|暂?不支持|尚?未支持|は非対応|미지원)"
    rf"|\|[ ]?(?:{_MARKED}[ ]?)?unsupported\b|\|[ ]?{_MARKED}[ ]?(?:\||$)(?!.*[✅✓✔]))",
    re.IGNORECASE,
)
"""Also in the next cell of a table: `| 310P | ❌ not supported |`."""
_LISTED: Final = r"(?:[\w-]+(?:[ ][\w-]+){0,2}[ ]?[,，、/][ ]?(?:and[ ]|or[ ])?){0,4}"
_ALSO: Final = r"(?:[\w-]+(?:[ ][\w-]+){0,2}[ ]?(?:[/、]|,?[ ](?:and|or|nor)\b)[ ]?){0,3}"
_BEFORE: Final = re.compile(
    rf"(?:\b(?:not[ ](?:yet[ ])?compatible|incompatible)[ ]with[ ]{_ALSO}"
    rf"|\bno[ ]support[ ](?:yet[ ])?(?:for|on)[ ]{_ALSO}|不兼容"
    r"|\b(?:does|do)[ ]not[ ](?:yet[ ])?support|\bnot[ ](?:yet[ ])?supported[ ]on|\bunsupported[ ]on"
    r"|(?:\bnot[ ](?:yet[ ])?supported|\bunsupported|不支持|未支持)(?:[ ](?:devices|hardware|cards|GPUs|NPUs))?"
    rf"[*_]{{0,2}}[:：][*_]{{0,2}}[ ]?{_LISTED}"
    r"|\bexcept(?:[ ]for)?|暂?不支持|尚?未支持)[ ]?(?:the[ ]|Ascend[ ]|Atlas[ ]|NVIDIA[ ]){0,2}[`*_(（]{0,2}\Z",
    re.IGNORECASE,
)


_WELL_ON: Final = re.compile(
    r"\b(?:works?|worked|working|runs?|ran|running)[ ]"
    r"(?:fine|well|perfectly|correctly|great|ok(?:ay)?|as expected)[ ]on"
    rf"[ ](?:the[ ]|an?[ ]|my[ ]|our[ ])?{_LISTED}{_ALSO}\Z",
    re.IGNORECASE,
)
_BUT_ON: Final = re.compile(
    r"\b(?:however|but|yet|while|whereas|fails?)\b[^\n]{0,120}?[ ](?:on|with)[ ]", re.IGNORECASE
)
"""`works fine on A10, and MI300X. However, on a B60 it fails`: the report is about the other one."""


_AGAINST: Final = re.compile(
    r"(?:\bnot[ ](?:on[ ]|for[ ])?the|\binstead[ ]of|\brather[ ]than|而不是|而非)[ ]?"
    r"(?:(?:the|an?|NVIDIA|AMD|Instinct)[ ])*"
    r"(?:[0-9]{1,2}[ ]?[x×][ ]?)?(?:(?:NVIDIA|AMD|Instinct)[ ])*\Z",
    re.IGNORECASE,
)
_NEXT_LINE: Final = re.compile(r"\s*\n[ \t]*(?:#+|//|>)?[ \t]*")
_FAR: Final = 60
"""Characters before a device that set it against the own one."""


def is_set_against(text: str, start: int) -> bool:
    """Whether the device that begins there is another than the own one: `~2 TB (not the MI355X's 2.7 TB)`; the words
    may stand at the end of the line above."""
    return _AGAINST.search(_NEXT_LINE.sub(" ", text[max(0, start - _FAR) : start])) is not None


def is_ruled_out(text: str, start: int, end: int) -> bool:
    """Whether what stands there is said not to be supported, or to work, where another one does not."""
    if _WELL_ON.search(text, max(0, start - 90), start) is not None and _BUT_ON.search(text, end):
        return True
    return _BEHIND.match(text, end) is not None or _BEFORE.search(text, max(0, start - 90), start) is not None
