"""A variable of the text's own that is read under another spelling than it is set under."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.options import ever_known_environment
from moonpad.engines.foreign_names import OWN_VARIABLES
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first, numbered
from moonpad.explain.slipped_variables import meant_by_words
from moonpad.values.finding import Code, Severity

_SET: Final = re.compile(
    r"(?:^|[\s;&|(])(?:export[ ]+|local[ ]+|readonly[ ]+|declare[ ]+(?:-\w+[ ]+)?)?(?P<name>[a-z][a-z0-9_]{3,40})\+?="
    r"|\b(?:for|read(?:[ ]+-\w+)*|getopts[ ]+\S+)[ ]+(?P<other>[a-z][a-z0-9_]{3,40})\b"
)
_USED: Final = re.compile(
    r"(?<![\\$\w])\$(?:(?P<bare>[a-z][a-z0-9_]{4,40})(?![\w-])|\{(?P<braced>[a-z][a-z0-9_]{4,40})\})"
)
_OWN: Final = re.compile(
    rf"[ \t]*(?:(?:export|ENV|-|-e|--env)[ ]+)?(?P<name>(?:{'|'.join(OWN_VARIABLES)})[A-Z0-9_]{{4,60}})[=:](?![=:])"
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


def words_in_another_order(case: Case) -> Iterator[Remark]:
    """`VLLM_USE_ROCM_AITER=1` in a file of variables that the text shows: of a command's own flags.py speaks."""
    script, env = case.script, case.commands[0].env
    if not is_first(case.commands, script):
        return
    known: frozenset[str] | None = None
    for number, text in numbered(script, 1, len(script.lines)):
        match = _OWN.match(text) if any(name in text for name in OWN_VARIABLES) else None
        if match is None or (name := match["name"]) in env:
            continue
        known = known if known is not None else ever_known_environment(case.engine.program)
        script.budget.work(len(known) // 8, "its variables")
        if name in known or (meant := meant_by_words(name, known)) == name:
            continue
        message = f"{script.where(number)}: no program that is known reads {name}: it is ignored without a warning"
        remark = make_remark(Severity.WARNING, Code.DEAD_ENV, name, message, f"did you mean {meant}?")
        yield Remark(remark.finding, command=None)
        return


def _by_one_letter(one: str, other: str) -> bool:
    """Whether a letter is missing, too much, another, or two have changed places."""
    matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
    alike = sum(block.size for block in matcher.get_matching_blocks())
    return alike >= max(len(one), len(other)) - 1
