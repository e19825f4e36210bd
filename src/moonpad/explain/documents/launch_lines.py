"""Commands in the lines of a log, `… - INFO - Running command: vllm serve …`: what the logger wrote in front of one is
no part of it, and where the log's line wraps the command goes on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.foreign_names import MENTION, QUOTED_START, SPEAKING
from moonpad.engines.log_lines import behind_front
from moonpad.explain.documents.printed_lists import as_commands_of_lists
from moonpad.explain.source_text import InputText

_BLANK: Final = " "
_NEWLINE: Final = "\n"
_LONGEST: Final = 4_000
_LOOKED_AT: Final = 60
_WORDS: Final = ("serve", "-m ", "launch_server", "docker run")
"""One of which stands in each start that is looked for."""
_MOST: Final = 200
"""Lines that may each be the beginning of one."""
_LEVELS: Final = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|SUCCESS)"
_RECORD: Final = re.compile(
    r"[ \t\0]*(?:[\[(]?(?:\d{2,4}[-/]\d\d[-/]?(?:\d\d(?:\d\d)?)?[ T_-])?\d\d:\d\d:\d\d(?!\w)"
    rf"|[\[(]?{_LEVELS}[\])]?(?=[ \t:|])|[\[(]{_LEVELS})"
)
"""How each line of a log begins: the time, or how bad it is."""
_VERB: Final = r"(?:run(?:s|ning)?|execut\w+|launch\w*|start\w*|spawn\w*|exec|invok\w+|command|cmd(?:line)?)"
_LABEL: Final = re.compile(rf"(?i:\b{_VERB})\b[^\n:：'\"]{{0,60}}[:：][ \t]+|(?i:\b(?:cmd|command|cmdline))=")
_RUN: Final = re.compile(r"\bdocker run (?=[^\n]*?[ ]--model)")
_BARE: Final = re.compile(
    rf"(?i:\b{_VERB})[ \t]+(?P<command>(?:[A-Z][A-Z0-9_]*=\S+[ \t]+)*(?:\S*/)?(?:python3?(?:\.\d+)?[ \t]+)?)\Z"
)
_GOES_ON: Final = re.compile(r"[ \t\0]*--?[A-Za-z][\w-]*(?:[ =]|$)")
_OPEN: Final = re.compile(r"[ \t]--[a-z][\w-]*[ \t]*\Z")
"""An option at the end of a line, whose value may stand on the next."""
_IS_VALUE: Final = re.compile(r"[ \t\0]*[\w./{'\"][^\s]*(?=[ \t]*$|[ \t]+--?[a-z])")
_SAID_BEHIND: Final = re.compile(
    r",[ \t]+(?:pid|cwd|timeout|log\w*|env)[=:].*$"
    r"|[ \t]+(?:[\[(](?:pid|PID|cwd|in|on)\b|(?:with|as)[ ](?:pid|PID)\b|in[ ](?:directory|cwd|/)).*$"
)
_WORD: Final = r"(?:'[^'\n]{0,400}'|\"[^\"\n]{0,400}\")"
_LIST: Final = re.compile(rf"\[{_WORD}(?:, {_WORD}){{2,200}}\]")
_COMMA: Final = re.compile(rf"({_WORD}),")
_FENCE: Final = re.compile(r"[ \t>]*(?:`{3,}|~{3,})")
_PROMPT: Final = re.compile(r"[ \t]*\$ ")


def with_launches(source: InputText, unlogged: str) -> str:
    """`unlogged` is the text with blanks for what an engine has logged. A command that a launcher has logged stands
    there alone on its line, with the lines that it goes on in; where a shell's line starts an engine too, only of lines
    that are not blank."""
    whole = as_commands_of_lists(source.clean)
    source.budget.work(len(whole) // 40, "its logs")
    if not any(word in whole for word in _WORDS):
        return unlogged
    lines, shown = [_as_words(line) for line in whole.split("\n")], unlogged.split("\n")
    found = list(_launches(lines))
    if not found:
        return unlogged
    places = {number for number, _, _ in found}
    spoken = any(_starts(line[:_LONGEST]) is not None for at, line in enumerate(shown) if at not in places)
    joined: set[int] = set()
    for number, begin, end in found:
        if spoken and not shown[number].strip():
            continue
        line = lines[number]
        lead = "$ ".rjust(begin) if begin > 1 and _is_of_session(lines, number) else " " * begin
        shown[number] = lead + line[begin:end] + " " * (len(line) - end)
        at = number + 1
        while at < len(lines) and at not in places and end == len(line) and _goes_on(lines[at - 1], lines[at]):
            shown[at] = lines[at]
            joined.add(at)
            at += 1
    return "".join(f"{_BLANK if at in joined else _NEWLINE}{line}" for at, line in enumerate(shown))[1:]


def _as_words(line: str) -> str:
    """A list of words as Python prints it, in quotes that a shell reads too, each character at its place."""
    if "', '" not in line and '", "' not in line:
        return line
    return _LIST.sub(lambda match: " " + _COMMA.sub(r"\1 ", match[0][1:-1]) + " ", line)


def _is_of_session(lines: list[str], number: int) -> bool:
    """Whether a line above it in the same block has a prompt: those without one are outputs."""
    for line in reversed(lines[max(0, number - _LOOKED_AT) : number]):
        if _FENCE.match(line[:_LONGEST]):
            return False
        if _PROMPT.match(line[:_LONGEST]):
            return True
    return False


def _starts(line: str) -> re.Match[str] | None:
    run = _RUN.search(line) if MENTION.search(line.casefold()) else None
    return run or SPEAKING.search(line) or QUOTED_START.search(line)


def _goes_on(line: str, below: str) -> bool:
    if _RECORD.match(below[:_LONGEST]):
        return False
    is_value = _OPEN.search(line[-_LONGEST:]) is not None and _IS_VALUE.match(below[:_LONGEST]) is not None
    return is_value or _GOES_ON.match(below[:_LONGEST]) is not None


def _launches(lines: list[str]) -> Iterator[tuple[int, int, int]]:
    """The number of the line, from 0, and where the command begins and ends in it."""
    left = _MOST
    for number, whole in enumerate(lines):
        line = whole[:_LONGEST]
        if not left or not any(word in line for word in _WORDS):
            continue
        spoken = _starts(line)
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
