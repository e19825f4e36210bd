"""Devices that a text names beside others only to say that the model does not fit them: `8x H100 (640 GB) | ❌ does not
fit`, `a single H100 node cannot run it`, `not on 8x H100`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.explain.documents import device_patterns
from moonpad.explain.documents.device_mentions import Mention, kind_of, names_in

_LONGEST: Final = 500
"""A longer line is data, not prose."""
_SIGN: Final = re.compile(
    r"(?:not|n['’]t)\b|cannot|too[ ](?:small|large|big|little)|insufficient|❌|✗|✘|不下|不了|不够", re.IGNORECASE
)
"""What a line must have at all."""
_VERB: Final = r"(?:fit|run|hold|serve|load|host|do|suffice|work)"
_OTHER_SIZE: Final = (
    r"(?![^|.;。；\n]{0,60}\b(?:context|tokens?|KV|cache|batch|sequences?|concurren\w+|fast|well|yet|\d{2,}k)\b)"
)
"""What does not fit may be the context alone."""
_REFUSED: Final = (
    rf"(?:(?:can(?:not|[ ]not|['’]t)|wo(?:n['’]t)|will[ ]not|do(?:es)?(?:[ ]not|n['’]t))[ ](?:even[ ])?{_VERB}\b"
    r"|(?:(?:is|are)[ ])?(?:(?:far|much)[ ])?too[ ](?:small|little)\b"
    r"|(?:(?:is|are)[ ])?not[ ](?:big[ ]|large[ ])?enough\b"
    r"|(?:(?:is|are)[ ])?insufficient\b|放不下|装不下|跑不了|跑不动|不够)"
)
_SIZE: Final = r"(?:[ ,-]{0,2}[(（]?[0-9][0-9.,]*[ ]?(?:[x×*][ ]?[0-9]+[ ]?)?[GT]i?B[^()（）|\n]{0,30}[)）]?){0,2}"
_BEHIND: Final = re.compile(
    rf"[`*_]{{0,3}}{_SIZE}[`*_]{{0,3}}(?:[ ](?:SXM5?|node|nodes|cards?|GPUs?|machines?|servers?|box(?:es)?)){{0,2}}"
    rf"[ ]?[:：–—-]?[ ]?(?:simply[ ]|just[ ]|also[ ])?{_REFUSED}{_OTHER_SIZE}",
    re.IGNORECASE,
)
_BEFORE: Final = re.compile(
    rf"(?:{_REFUSED}[^.,;|\n]{{0,40}}?[ ](?:on|in|into|onto|with)|\btoo[ ](?:large|big)[ ]for"
    r"|\b(?:but|and|—|-|,)?[ ]?not[ ](?:on|for|with))[ ]"
    r"(?:an?[ ]|the[ ]|one[ ]|single[ ]|any[ ])?(?:[0-9]{1,2}[ ]?[x×*-][ ]?|8-?GPU[ ])?(?:NVIDIA[ ]|AMD[ ])?\Z",
    re.IGNORECASE,
)
_CELL: Final = re.compile(
    rf"\|[ ]?(?:❌|✗|✘|:x:|no\b|\**no\**[ ])?[ ,:]{{0,2}}(?:{_REFUSED}{_OTHER_SIZE}|doesn['’]t[ ]fit\b|OOM[ ]?\|)",
    re.IGNORECASE,
)
_GOOD: Final = re.compile(r"[✅✓✔]|\byes\b", re.IGNORECASE)
_OWN: Final = re.compile(r"\b(?:I|we|my|our|I['’]m|we['’]re)\b|我|本机|我们")
"""Of his own devices somebody tells that it does not fit: they are those that he asks about."""


def _may_say_so(line: str) -> bool:
    """Whether it is worth a search: a line of prose or of a table that says no to something."""
    return len(line) <= _LONGEST and _SIGN.search(line) is not None and _OWN.search(line) is None


def _is_too_small(line: str, start: int, end: int) -> bool:
    """Whether the device that stands there is said to be too small for the model; in a table by a later cell."""
    if _BEHIND.match(line, end) is not None:
        return True
    if _BEFORE.search(line, max(0, start - 90), start) is not None and not _otherwise(line, start):
        return True
    in_table = line.lstrip().startswith("|")
    return in_table and _CELL.search(line, end) is not None and _GOOD.search(line) is None


def _otherwise(line: str, start: int) -> bool:
    """`does not fit FP8 on one; use 8x H200`: what is asked for behind a refusal."""
    return re.search(r"\b(?:use|take|needs?|requires?|want)\b[^.|]{0,40}\Z", line[:start], re.IGNORECASE) is not None


def without_too_small(named: Sequence[Mention], lines: Sequence[str]) -> Sequence[Mention]:
    """Those that the text does not call too small, and of such a kind none without its number, `or several nodes of
    H100`; all where it would leave no device that the catalogue knows."""
    small = [each for each in named if _says_so_of(each, lines[each.line - 1])]
    kinds = {each.kind for each in small}
    left = [each for each in named if each not in small and (each.machine is not None or each.kind not in kinds)]
    return left if any(each.known for each in left) else named


def _says_so_of(mention: Mention, line: str) -> bool:
    if not _may_say_so(line):
        return False
    written = device_patterns.alone(names_in(line.lower())).finditer(line)
    own = next((match for match in written if mention.kind in (kind_of(match["device"]), match["device"])), None)
    return own is not None and _is_too_small(line, *own.span("device"))
