"""Releases that a guide names for a result that it quotes: `here is the result of X in vllm-ascend:0.13.0rc1`."""

from __future__ import annotations

import re
from typing import Final

_AHEAD: Final = re.compile(
    r"\b(?:results?|scores?|figures|numbers)\b(?:[^.;:!?]|[.:](?=\S)){0,160}"
    r"[ ](?:in|with|on|from|of|by|under)[ ](?:the[ ])?[`*\"'(]{0,3}$"
    r"|(?:结果|数据)[^。；！？]{0,80}$",
    re.IGNORECASE,
)
_BEHIND: Final = re.compile(r"[`*\"')]{0,3}[^.。]{0,30}(?:\bfor reference\b|参考)", re.IGNORECASE)
_LONGEST: Final = 240


def is_of_a_result(line: str, start: int, end: int) -> bool:
    """Whether the release between `start` and `end` of a line is the one that a quoted result was measured with."""
    return _AHEAD.search(line[max(0, start - _LONGEST) : start]) is not None and _BEHIND.match(line, end) is not None
