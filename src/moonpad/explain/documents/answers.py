"""Answers by which a server refused a request, as people paste them: the request failed, and the server goes on."""

from __future__ import annotations

import re
from typing import Final

ANSWERED: Final = "a request failed: "
"""How a finding begins that such an answer gives."""
_CODE: Final = r"(?:(?:\w{1,60}\.){0,8}\w{1,60}Error: ?)?Error code: [45]\d\d - \{"
_BODY: Final = r"\{[\"'](?:error|object|detail|message)[\"']: ?[\[{\"']"
_STATUS: Final = r"(?:HTTP(?:/[\d.]{1,3})? ?)?[45]\d\d(?: [A-Z][\w ]{2,30})?(?::|(?=[ ]\{)) ?[\[{]"
_BEGINS: Final = re.compile(rf"(?<![\w.])(?:{_CODE}|{_BODY}|{_STATUS})")
_MARKS: Final = " \t>*`|'\"-"
_FARTHEST: Final = 80
"""Columns of a sentence that leads to an answer on its line."""
_RAISED: Final = re.compile(
    r"(?:openai|httpx|requests|litellm)\.(?:exceptions\.)?[A-Z]\w{2,40}(?:Error|Exception)\b|\bTypeError: "
    r"|\bcurl: \(\d{1,2}\) "
)
"""What a client prints of a request that failed, or that it could not send."""


def words_before(lead: str) -> str | None:
    """The words on a line in front of the answer that begins within `lead`, "" where it begins the line; None where
    none begins there."""
    begin = _BEGINS.search(lead)
    return None if begin is None else lead[: begin.start()].strip(_MARKS)


def is_answer(line: str) -> bool:
    """Whether a line is such an answer, or what a client says of it: `gives {"error":"Unauthorized"}` too."""
    words = words_before(line)
    ends = line.rstrip(_MARKS).endswith(("}", "]"))
    return words == "" or _RAISED.search(line) is not None or (words is not None and ends and len(words) < _FARTHEST)
