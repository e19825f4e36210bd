"""A server that is sent to sleep at level 2 and woken up without its weights."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import library_names as library
from moonpad.engines.foreign_names import EXPERTS_BY_VARIABLE
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.whole_texts import is_whole
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Edit, Remark, make_remark
from moonpad.explain.shell.own_lines import is_first, is_first_server
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_DEEP: Final = re.compile(r"/sleep\?(?:[^\s\"'`]{0,60}&)?level=2(?!\d)|\bsleep\([^()]{0,40}\blevel[ ]*=[ ]*2\b")
_WAKES: Final = re.compile(r"/wake_up\b|\bwake_up\(")
_LOADED: Final = re.compile(
    r"collective_rpc|(?:re)?(?:load|update|sync|refit|broadcast|transfer|set|init|copy)_?\w{0,30}(?:weight|param)|"
    r"(?:weight|param)\w{0,20}_?(?:sync|update|transfer|load)|/(?:update|load)_weights",
    re.IGNORECASE,
)
_SENT: Final = re.compile(
    r"(?:\bcurl\b|\bhttp\b|\bwget\b|\.post\().{0,200}?(?::\d{2,5}|[\w}])/sleep(?:\?[^\s\"'`]{0,80})?(?=[\s\"'`)]|$)"
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


def asleep_unprepared(case: Case) -> Iterator[Remark]:
    """A server that is asked to sleep, and was not started with memory that it can give back."""
    script, command = case.script, case.commands[0]
    if case.base != EXPERTS_BY_VARIABLE or command.embedded or not is_first_server(case.commands, script):
        return
    if case.option(library.SLEEPS) is not None or len(case.commands) > 1 or not is_whole(case):
        return
    script.budget.once("requests to sleep", len(script.lines), "the text around its engine commands")
    if any(library.SLEEPS in line or "level=0" in line for line in script.lines):
        return
    for number, line in enumerate(script.lines, 1):
        text = line[:_LONGEST]
        if "/sleep" in text and _SENT.search(text) and not _COMMENT.match(text):
            message = (
                f"{script.where(number)} asks the server to sleep, and without {library.SLEEPS} it was started with "
            )
            message += "memory that it cannot give back: nothing is freed, or the request fails"
            edit = Edit(len(command.argv), 0, (library.SLEEPS,))
            remedy = f"add {library.SLEEPS}"
            yield make_remark(Severity.WARNING, Code.MISSING_FLAG, library.SLEEPS, message, remedy, edits=(edit,))
            return
