"""Whether the corrected commands of a deployment differ from what a shell makes of the text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Final

from moonpad.explain.commands import SURELY_WRONG, Command, Problem, Script
from moonpad.explain.results import Judged, Line, shortened
from moonpad.explain.shell.typo_repair import ONE_ITEM
from moonpad.report.explain_verdict import whole_names
from moonpad.values.finding import Severity

_MOST: Final = 3
"""Additions that are named."""
_DAY: Final = r"\$\(date(?:[ ][\w+%:=.'-]{1,40}){0,3}\)"
_TERMINAL: Final = 60
"""Columns of the narrowest terminal."""
_FILE: Final = rf"[ ]*(?:\"(?:[\w./ :@+-]|{_DAY}){{1,200}}\"|(?:[\w./:@+-]|{_DAY}){{1,200}})"
_BEHIND: Final = re.compile(
    rf"[ ]*(?:(?:2>&1|[12&]?>>?(?!&){_FILE}|\|&?[ ]*tee(?:[ ]+-a)?[ ]{_FILE})(?:[ ]+|$))+&?[ ]*", re.ASCII
)
"""Where a shell sends what the command prints, to files whose names are there in full."""


def is_changed(judged: Judged, script: Script) -> bool:
    """Whether there is a correction that differs from what a shell reads, in more than whole names of short ones."""
    differs = _argvs(judged.corrected) != _argvs(judged.commands) or misread(judged, script) is not None
    differs |= any(remark.sets or remark.unsets for remark in judged.remarks)
    return bool(judged.corrected) and differs


def sent_to(source: Command, script: Script) -> str:
    """`2>&1 | tee FILE` behind the last word of the command, as it is written; "" where it goes on in another way, or
    what it belongs to (`nohup`) is not shown."""
    last = max(source.argv, key=lambda word: (word.end_line, word.end_column), default=None)
    known = last is not None and last.end_column > 0 and source.line <= last.end_line <= len(script.lines)
    if last is None or not known or any(wrapper.kind == "nohup" for wrapper in source.wrappers):
        return ""
    behind = script.lines[last.end_line - 1][last.end_column :]
    continued = behind.strip() == "\\" and last.end_line < len(script.lines)
    behind = script.lines[last.end_line] if continued else behind
    if not continued and _is_broken(last.end_line, script):
        return ""  # a terminal has broken the line within the name of the file
    return " ".join(behind.split()) if behind.strip() and _BEHIND.fullmatch(behind.rstrip()) else ""


def _is_broken(line: int, script: Script) -> bool:
    """Whether the line and the one above are of one length, and another follows: broken at the width of a terminal."""
    above, own, below = (
        script.lines[at - 1] if 1 <= at <= len(script.lines) else "" for at in (line - 1, line, line + 1)
    )
    return bool(below.strip()) and len(own) >= _TERMINAL and len(above) == len(own)


def left_open(judged: Judged, script: Script) -> Iterator[str]:
    """What conditions of the script add to its commands or put in the place of a value, and is not judged."""
    added = {
        (each.name, line, words): f"{shortened(words)} ({each.name}, {script.where(line)})"
        for command in judged.sources
        for each in command.left_open
        for line, words in each.added
    }
    others: dict[str, dict[str, None]] = {}
    for each in (each for command in judged.sources for each in command.left_open if each.at >= 0):
        for line, words, switch in each.instead:
            value = (
                f"{shortened(words)} ({each.name}, " if words.startswith("-") else f"{each.name}={shortened(words)} ("
            )
            others.setdefault(switch, {})[f"{value}{script.where(line)})"] = None
    if added:
        yield f"Judged without what conditions add: {', '.join(_first([*added.values()]))}"
    if others:
        listed = [f"with {switch}: {', '.join(_first([*values]))}" for switch, values in others.items()]
        yield f"Judged by the script's own defaults; {'; '.join(_first(listed))}"


def _first(each: Sequence[str]) -> Sequence[str]:
    """The first few, the last of them with the number of the others."""
    if len(each) <= _MOST:
        return each
    return [*each[: _MOST - 1], f"{each[_MOST - 1]} and {len(each) - _MOST} more"]


def misread(judged: Judged, script: Script) -> Problem | None:
    """The first of the deployment at which a shell reads something else; None where there is none."""
    own = {line for source in judged.sources for line in own_lines(source, script)}
    of_shell = (problem for problem in script.problems if problem.code != ONE_ITEM)
    return min((problem for problem in of_shell if problem.line in own), key=attrgetter("line"), default=None)


def surely_misread(deployments: Sequence[Judged], script: Script) -> int:
    """How many lines of the commands a shell certainly ends where they go on. A blank behind a backslash may have come
    into a document by itself."""
    own = {line for judged in deployments for source in judged.sources for line in own_lines(source, script)}
    of_commands = (problem for problem in script.problems if problem.line in own)
    return len({problem.line for problem in of_commands if severity_of(problem, script) is Severity.ERROR})


def severity_of(problem: Problem, script: Script) -> Severity:
    """An error is what a shell certainly ends; the rest may have come with the copy of a page or a post."""
    sure = SURELY_WRONG - {"space-after-backslash"} if script.markdown else SURELY_WRONG
    return Severity.ERROR if problem.code in sure else Severity.WARNING


def own_lines(source: Command, script: Script) -> set[int]:
    words = (*source.prefix, *source.argv)
    lines = {line for word in words for line in range(word.line, word.end_line + 1)}
    inside = (problem.line for problem in script.problems if problem.code == "comment-in-command")
    lines |= {line for line in inside if _line_above(line, script) in lines}
    return {line for line in lines if 1 <= line <= len(script.lines)}


def _argvs(lines: Iterable[Line]) -> list[list[str]]:
    return [list(whole_names(line.argv)) for line in lines]


def _line_above(line: int, script: Script) -> int:
    """The one that a line of a command goes on from, over lines that hold nothing but a backslash."""
    above = line - 1
    while above > 1 and script.lines[above - 1].strip() == "\\":
        above -= 1
    return above
