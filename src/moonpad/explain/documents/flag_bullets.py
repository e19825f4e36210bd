"""Items of a list that begin with an option: in backticks, or bare with a remark behind it, `- --max-model-len 16384
(start small)`; and lines of options below the words that call them so, `serve args:`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

_IN_TICKS: Final = re.compile(r"[ \t]*[-*+][ \t]+(?:\*\*)?(`+)((?:--?[A-Za-z]|[A-Z][A-Z0-9_]*=[^\s`])[^`\n]*)\1")
"""A list's item that begins with a flag or a variable in backticks."""
_PROSE: Final = (
    r"(?:are|as|by|enabled?|disabled?|for|from|if|in|is|must|needed|on|optional|or|recommended|required|to|when|will"
    r"|with)\b"
)
_VALUE: Final = (
    rf"(?:'[^'\n]{{1,300}}'|\"[^\"\n]{{1,300}}\"|(?!{_PROSE}|-)[^\s()`'\"—–→←#|][^\s()`]{{0,300}}?(?=[,;:]?(?:\s|$)))"
)
_OPTION: Final = rf"--[a-z][\w.-]{{1,60}}(?:=(?:{_VALUE})|[ ]{_VALUE})?"
_REMARK: Final = r"(?:[ \t]+(?:\(|[—–→←#|]|//|-[ \t])[^\n]*|[ \t]?[,;:][ \t][^\n]*|[ \t.,;]*)"
_BARE: Final = re.compile(
    rf"(?:(?P<mark>[ ]{{0,3}}[-*+])[ \t]+|[ \t]{{0,12}})(?P<code>{_OPTION}(?:[ ]{_OPTION}){{0,6}}){_REMARK}"
)
_LEAD: Final = re.compile(
    r"[ ]{0,3}(?:(?P<title>#{1,6})[ \t]+\S.*|\*\*[^*\n]{2,100}\*\*:?|[^\s#>|-][^\n:]*[ ][^\n:]*[:：])[ \t]*"
)
"""A title, or the end of a sentence: a key of YAML is one word."""
_NEXT: Final = re.compile(r"[ ]{2,}\S|[ ]{0,3}[-*+][ \t]+\S")
"""What stands between items: the rest of one, or another one."""
_ANY: Final = re.compile(r"^(?:[ ]{0,3}[-*+][ \t]+|[ \t]{0,12})--[a-z]", re.MULTILINE)
_FEWEST: Final = 3
_FIRST: Final = 20
"""Characters in which the first option of an item begins."""
_LONGEST: Final = 600


def flag_in_ticks(line: str) -> tuple[int, str] | None:
    """Where the code of an item begins in its line, and the code."""
    match = _IN_TICKS.match(line)
    return (match.start(2), match[2]) if match is not None else None


def bare_flags(text: str) -> Mapping[int, tuple[int, str]]:
    """By the offset of its line, the same of each item without backticks. A list of them has three or more, and stands
    below a title or a sentence: what stands below a key, `args:`, is YAML."""
    if not _ANY.search(text):
        return {}
    return {offset: flag for flags in _lists(text) if len(flags) >= _FEWEST for offset, flag in flags.items()}


def _lists(text: str) -> Iterator[dict[int, tuple[int, str]]]:
    flags: dict[int, tuple[int, str]] = {}
    offset, lead, blank = 0, "", True
    for line in text.split("\n"):
        item = _BARE.fullmatch(line[:_LONGEST]) if "--" in line[:_FIRST] else None
        if item is not None and (flags or _leads(lead, blank, marked=item["mark"] is not None)):
            flags[offset] = item.start("code"), item["code"]
        elif line.strip() and not (flags and _NEXT.match(line)):
            if flags:
                yield flags
            flags, lead, blank = {}, line, False
        elif not line.strip():
            blank = True
        offset += len(line) + 1
    if flags:
        yield flags


def _leads(line: str, blank: bool, *, marked: bool) -> bool:
    """Whether a list may follow on this line; `blank`: whether a blank line is between. A comment of YAML looks like a
    title, and so do those among the options of an array, which have no marks of a list."""
    match = _LEAD.fullmatch(line[:_LONGEST])
    if match is None or match["title"] is None:
        return match is not None
    return blank or (marked and match["title"] != "#")
