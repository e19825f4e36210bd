"""A variable of the text's own that is read under another spelling than it is set under."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first, numbered
from moonpad.values.finding import Code, Severity

_SET: Final = re.compile(
    r"(?:^|[\s;&|(])(?:export[ ]+|local[ ]+|readonly[ ]+|declare[ ]+(?:-\w+[ ]+)?)?(?P<name>[a-z][a-z0-9_]{3,40})\+?="
    r"|\b(?:for|read(?:[ ]+-\w+)*|getopts[ ]+\S+)[ ]+(?P<other>[a-z][a-z0-9_]{3,40})\b"
)
_USED: Final = re.compile(
    r"(?<![\\$\w])\$(?:(?P<bare>[a-z][a-z0-9_]{4,40})(?![\w-])|\{(?P<braced>[a-z][a-z0-9_]{4,40})\})"
)
_QUOTED: Final = re.compile(r"'[^']*'")
_COMMENT: Final = re.compile(r"\s*(?:#|//)")
_ALIKE: Final = 0.85
_MOST: Final = 60


def misspelt_variable(case: Case) -> Iterator[Remark]:
    """`nic_name=eth0` and `$nic_nme`. Small letters alone: others often come from the environment."""
    script = case.script
    if script.objects or script.files or not is_first(case.commands, script):
        return
    known, used = set[str](), dict[str, int]()
    for number, text in numbered(script, 1, len(script.lines)):
        if "{%" in text or "{{" in text:
            return
        if _COMMENT.match(text):
            continue
        known |= {match["name"] or match["other"] for match in _SET.finditer(text)}
        if "$" in text:
            for match in _USED.finditer(_QUOTED.sub("", text)):
                used.setdefault(match["bare"] or match["braced"], number)
    if not known or len(known) > _MOST:
        return
    for name, number in used.items():
        near = difflib.get_close_matches(name, sorted(known), n=2, cutoff=_ALIKE) if name not in known else []
        if (
            len(near) != 1
            or not _by_one_letter(name, near[0])
            or re.sub(r"\d+", "", name) == re.sub(r"\d+", "", near[0])
        ):
            continue
        message = f"{script.where(number)}: ${name} is set nowhere, and is empty: the text sets {near[0]}"
        remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, f"${name}", message, f"write ${near[0]}")
        yield Remark(remark.finding, command=None)
        return


def _by_one_letter(one: str, other: str) -> bool:
    """Whether a letter is missing, too much, another, or two have changed places."""
    matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
    alike = sum(block.size for block in matcher.get_matching_blocks())
    return alike >= max(len(one), len(other)) - 1
