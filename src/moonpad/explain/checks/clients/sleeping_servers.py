"""A server that is sent to sleep at level 2 and woken up without its weights."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.foreign_names import EXPERTS_BY_VARIABLE
from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_DEEP: Final = re.compile(r"/sleep\?(?:[^\s\"'`]{0,60}&)?level=2(?!\d)|\bsleep\([^()]{0,40}\blevel[ ]*=[ ]*2\b")
_WAKES: Final = re.compile(r"/wake_up\b|\bwake_up\(")
_LOADED: Final = re.compile(
    r"collective_rpc|(?:re)?(?:load|update|sync|refit|broadcast|transfer|set|init|copy)_?\w{0,30}(?:weight|param)|"
    r"(?:weight|param)\w{0,20}_?(?:sync|update|transfer|load)|/(?:update|load)_weights",
    re.IGNORECASE,
)
_COMMENT: Final = re.compile(r"\s*(?:#|//|;)")
_LONGEST: Final = 2000


def weights_left_asleep(case: Case) -> Iterator[Remark]:
    """Level 2 throws the weights away, and waking up gives back memory that nothing is loaded into."""
    script = case.script
    if case.base != EXPERTS_BY_VARIABLE or not is_first(case.commands, script):
        return
    script.budget.once("deep sleep", 3 * len(script.lines), "the text around its engine commands")
    if not is_in_lines(_DEEP, script.lines, _LONGEST) or is_in_lines(_LOADED, script.lines, _LONGEST):
        return
    asleep = 0
    for number, line in enumerate(script.lines, 1):
        text = line[:_LONGEST]
        if _COMMENT.match(text):
            continue
        if asleep and _WAKES.search(text):
            message = (
                f"{script.where(asleep)}: a sleep of level 2 throws the weights away, and nothing loads them again "
            )
            message += f"after waking up ({script.where(number)}): answers are gibberish"
            remedy = "after /wake_up?tags=weights send reload_weights to /collective_rpc, then /wake_up?tags=kv_cache; "
            remedy += "or sleep at level 1, which keeps them in RAM"
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, "level=2", message, remedy)
            yield replace(remark, command=None)
            return
        if _DEEP.search(text):
            asleep = number
