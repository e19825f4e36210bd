"""A launcher in Python that starts a process for each rank, and waits for it before it starts the next."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.launchers import is_template
from moonpad.explain.shell.own_lines import is_first, numbered
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_MADE: Final = re.compile(
    r"(?P<indent>[ \t]+)(?P<name>\w+)[ ]*=[ ]*(?:\w+\.)*Process\(.*\btarget[ ]*=[ ]*(?P<target>\w+)"
)
_LOOP: Final = re.compile(r"(?P<indent>[ \t]*)(?:for|while)\b.*:[ \t]*(?:#.*)?$")
_RUNS: Final = re.compile(r"\bsubprocess\.|\bos\.(?:system|exec\w+)\(|\bPopen\(")
_FARTHEST: Final = 40
"""Lines of a loop, or of a function."""


def started_in_turn(case: Case) -> Iterator[Remark]:
    """`p.start()` and `p.join()` in one round of the loop: a server does not end, so the next rank is never started."""
    script = case.script
    if not _is_started_by_it(case):
        return
    lines = [text for _, text in numbered(script, 1, len(script.lines))]
    for at, text in enumerate(lines):
        made = _MADE.match(text)
        if made is None or not _runs_program(lines, made["target"]) or not _in_loop(lines, at, len(made["indent"])):
            continue
        joined = _joined(lines, at, made["indent"], made["name"])
        if joined:
            call = f"{made['name']}.join()"
            message = f"{script.where(joined)}: {call} stands in the loop that starts the processes: a server does not "
            message += "end, so the next rank is not started, and the first waits for it"
            remedy = "keep the processes in a list, and call join() on each below the loop"
            yield replace(make_remark(Severity.WARNING, Code.CONFLICT, call, message, remedy), command=None)
            return


def _is_started_by_it(case: Case) -> bool:
    """Whether these commands are the first of the scripts that a launcher runs with `$1`, `$2` …; where none is such a
    script, the first of the text."""
    case.script.budget.once("scripts of launchers", len(case.script.commands), "its engine commands")
    launched = next((command.line for command in case.script.commands if is_template(command)), 0)
    if launched:
        return any(command.line == launched for command in case.commands)
    return is_first(case.commands, case.script)


def _joined(lines: Sequence[str], at: int, indent: str, name: str) -> int:
    """The number of the line of the same round that waits for the process that it started; 0 where none does."""
    started = False
    for number, text in enumerate(lines[at + 1 : at + _FARTHEST], at + 2):
        if text.strip() and not text.startswith(indent):
            return 0
        started = started or text.startswith(f"{indent}{name}.start()")
        if started and text.startswith(f"{indent}{name}.join()"):
            return number
    return 0


def _in_loop(lines: Sequence[str], at: int, indent: int) -> bool:
    """Whether the block that the line stands in is that of a loop."""
    for text in reversed(lines[max(0, at - _FARTHEST) : at]):
        outer = len(text) - len(text.lstrip())
        if text.strip() and outer < indent:
            return _LOOP.match(text) is not None
    return False


def _runs_program(lines: Sequence[str], target: str) -> bool:
    """Whether the function starts a program, as the server is one."""
    begin = next((at for at, text in enumerate(lines) if re.match(rf"[ \t]*def {target}\(", text)), None)
    if begin is None:
        return False
    outer = len(lines[begin]) - len(lines[begin].lstrip())
    for text in lines[begin + 1 : begin + _FARTHEST]:
        if text.strip() and len(text) - len(text.lstrip()) <= outer and not text.lstrip().startswith(")"):
            return False
        if _RUNS.search(text):
            return True
    return False
