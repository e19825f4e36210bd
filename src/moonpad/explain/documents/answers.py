"""Answers by which a server refused a request, as people paste them: the request failed, and the server goes on."""

from __future__ import annotations

import re
from typing import Final

ANSWERED: Final = "a request failed: "
"""How a finding begins that such an answer gives."""
_CODE: Final = r"(?:(?:\w{1,60}\.){0,8}\w{1,60}Error: ?)?Error code: [45]\d\d - \{"
_BODY: Final = r"\{[\"'](?:error|object|detail|message)[\"']: ?[\[{\"']"
_STATUS: Final = r"(?:HTTP(?:/[\d.]{1,3})? ?)?[45]\d\d(?: [A-Z][\w ]{2,30})?(?::|(?=[ ]\{)) ?[\[{]"
_BEFORE: Final = re.compile(rf"\W{{0,4}}(?:[\w .,'()-]{{1,60}}[:, ] ?)?(?:{_CODE}|{_BODY}|{_STATUS})")
_RAISED: Final = re.compile(
    r"(?:openai|httpx|requests|litellm)\.(?:exceptions\.)?[A-Z]\w{2,40}(?:Error|Exception)\b|\bTypeError: "
    r"|\bcurl: \(\d{1,2}\) "
)
"""What a client prints of a request that failed, or that it could not send."""


def is_before_answer(lead: str) -> bool:
    """Whether what stands before an error on its line is the beginning of an answer that refuses a request."""
    return _BEFORE.match(lead) is not None


def is_answer(line: str) -> bool:
    """Whether a line is such an answer, or what a client says of it."""
    return _BEFORE.match(line) is not None or _RAISED.search(line) is not None or _ends_with_body(line)


def _ends_with_body(line: str) -> bool:
    """`gives {"error":"Unauthorized"}`."""
    begin = re.search(_BODY, line)
    return begin is not None and line.rstrip().endswith(("}", "]")) and begin.start() < 80
