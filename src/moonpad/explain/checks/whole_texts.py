"""Whether a text has every option that a command is started with."""

from __future__ import annotations

from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.dynamo.dynamo_workers import is_worker
from moonpad.explain.commands import Command
from moonpad.explain.flag_lists import is_fragment

_AND_MORE: Final = ("...", "…", "....", "etc.")
_MANY: Final = 8


def is_whole(case: Case) -> bool:
    """Whether no option can be there that is not in the text."""
    return has_all_words(case) and not is_worker(case.commands[0], case.script)


def has_all_words(case: Case) -> bool:
    """Whether the text has all that is written for it; the program that starts a worker may add to that."""
    command = case.commands[0]
    more = case.open_ended or is_fragment(command) or command.more
    return not more and not _goes_on(command)


def is_long_list(case: Case) -> bool:
    """Whether options stand without their program, and are so many that they will be all of them."""
    command = case.commands[0]
    if case.open_ended or command.more or not is_fragment(command) or _goes_on(command):
        return False
    return sum(word.text.startswith("--") for word in command.argv) >= _MANY


def _goes_on(command: Command) -> bool:
    return any(word.text.strip("[]{}()<> ") in _AND_MORE for word in command.argv)
