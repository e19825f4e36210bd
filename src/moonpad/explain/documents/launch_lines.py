"""Commands in the lines of a log, `… - INFO - Running command: vllm serve …`: what the logger wrote in front of one is
no part of it, and where the log's line wraps the command goes on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.foreign_names import SPEAKING
from moonpad.engines.log_lines import behind_front

_BLANK: Final = " "
_NEWLINE: Final = "\n"
_LONGEST: Final = 4_000
_MOST: Final = 200
"""Lines that may each be the beginning of one."""
_LEVELS: Final = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|SUCCESS)"
_RECORD: Final = re.compile(
    r"[ \t\0]*(?:[\[(]?(?:\d{2,4}[-/]\d\d[-/]?(?:\d\d(?:\d\d)?)?[ T_-])?\d\d:\d\d:\d\d(?!\w)"
    rf"|[\[(]?{_LEVELS}[\])]?(?=[ \t:|])|[\[(]{_LEVELS})"
)
"""How each line of a log begins: the time, or how bad it is."""
_VERB: Final = r"(?:run(?:s|ning)?|execut\w+|launch\w*|start\w*|spawn\w*|exec|invok\w+|command|cmd(?:line)?)"
_LABEL: Final = re.compile(rf"(?i:\b{_VERB})\b[^\n:：'\"]{{0,60}}[:：][ \t]+")
_BARE: Final = re.compile(
    rf"(?i:\b{_VERB})[ \t]+(?P<command>(?:[A-Z][A-Z0-9_]*=\S+[ \t]+)*(?:\S*/)?(?:python3?(?:\.\d+)?[ \t]+)?)\Z"
)
_GOES_ON: Final = re.compile(r"[ \t\0]*--?[A-Za-z][\w-]*(?:[ =]|$)")
_SAID_BEHIND: Final = re.compile(
    r"[ \t]+(?:[\[(](?:pid|PID|cwd|in|on)\b|(?:with|as)[ ](?:pid|PID)\b|in[ ](?:directory|cwd|/)).*$"
)


def with_launches(whole: str, unlogged: str) -> str:
    """`unlogged` is `whole` with blanks for what an engine has logged. A command that a launcher has logged stands
    there alone on its line, with the lines that it goes on in; where a shell's line starts an engine too, only of lines
    that are not blank."""
    if not SPEAKING.search(whole):
        return unlogged
    lines, shown = whole.split("\n"), unlogged.split("\n")
    found = list(_launches(lines))
    if not found:
        return unlogged
    places = {number for number, _, _ in found}
    spoken = any(SPEAKING.search(line[:_LONGEST]) for at, line in enumerate(shown) if at not in places)
    joined: set[int] = set()
    for number, begin, end in found:
        if spoken and not shown[number].strip():
            continue
        line = lines[number]
        shown[number] = " " * begin + line[begin:end] + " " * (len(line) - end)
        at = number + 1
        while at < len(lines) and at not in places and end == len(line) and _GOES_ON.match(lines[at]):
            shown[at] = lines[at]
            joined.add(at)
            at += 1
    return "".join(f"{_BLANK if at in joined else _NEWLINE}{line}" for at, line in enumerate(shown))[1:]


def _launches(lines: list[str]) -> Iterator[tuple[int, int, int]]:
    """The number of the line, from 0, and where the command begins and ends in it."""
    left = _MOST
    for number, whole in enumerate(lines):
        line = whole[:_LONGEST]
        if not left or ("serve" not in line and "-m " not in line and "launch_server" not in line):
            continue
        spoken = SPEAKING.search(line)
        if spoken is None:
            continue
        left -= 1
        record = _RECORD.match(line, behind_front(line)) or _RECORD.match(line)
        if record is None:
            continue
        before = line[: spoken.start()]
        labels = list(_LABEL.finditer(before, record.end()))
        bare = _BARE.search(before, record.end())
        begin = labels[-1].end() if labels else bare.start("command") if bare else -1
        if begin < 0:
            continue
        behind = _SAID_BEHIND.search(whole, spoken.end())
        yield number, begin, behind.start() if behind else len(whole.rstrip())
