"""The program of a systemd unit by its bare name: systemd looks for it in its own folders, not in the unit's PATH."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.surrounding_names import ONE_PROCESS_A_NODE
from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import numbered
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_STARTS: Final = re.compile(r"[ \t]*ExecStart[ \t]*=[ \t]*[-@:+!|]*(?P<name>[A-Za-z][\w.-]*)(?=[ \t\\]|$)")
_STARTED: Final = re.compile(r"[ \t]*ExecStart[ \t]*=[ \t]*\S")
_TYPE: Final = re.compile(r"[ \t]*Type[ \t]*=[ \t]*(?P<type>notify(?:-reload)?|forking)[ \t]*$")
_FOLDER: Final = re.compile(
    r"[ \t]*Environment[ \t]*=.*?\b(?:PATH=(?P<path>[^\s\"':]{1,200}/bin)|VIRTUAL_ENV=(?P<venv>[^\s\"']{1,200}))"
)
_ENVIRONMENT: Final = re.compile(
    r"(?P<folder>(?:/|~/)[\w./-]{0,200}(?:\.?venv|envs/[\w.-]{1,60}|virtualenv))(?![\w-])|\bconda activate\b"
)
"""Where the text speaks of an environment of Python."""
_OTHER_SEARCH: Final = re.compile(r"^[ \t]*ExecSearchPath[ \t]*=|^[ \t]*RootDirectory[ \t]*=")
_LONGEST: Final = 1000
_OF_SYSTEM: Final = ("/usr/bin", "/usr/local/bin", "/bin", "/usr/sbin", "/usr/local/sbin", "/sbin")


def unit_program(case: Case) -> Iterator[Remark]:
    """`ExecStart=vllm serve …` of an environment in /opt: 203/EXEC, or with python the one of the system."""
    script, command = case.script, case.commands[0]
    if command.wrappers or not is_in_lines(_STARTS, script.lines, _LONGEST):
        return
    lines = list(numbered(script, 1, len(script.lines)))
    if any(_OTHER_SEARCH.search(text) for _, text in lines):
        return
    own = next(((number, match) for number, text in lines if (match := _STARTS.match(text[:_LONGEST]))), None)
    if own is None or abs(own[0] - command.line) > 1 or own[1]["name"] != command.words[0].text:
        return
    folder = _folder(lines)
    if folder is None:
        return
    name = own[1]["name"]
    message = (
        f"systemd looks for {name} in /usr/local/bin, /usr/bin and their like alone, not in the unit's PATH nor in "
    )
    message += "an environment of Python: 203/EXEC, or another program of that name"
    remedy = f"write its whole path: ExecStart={folder.rstrip('/') or '…'}/{name} …"
    remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, "ExecStart", message, remedy, word=command.words[0])
    yield replace(remark, command=0)


def unit_type(case: Case) -> Iterator[Remark]:
    """`Type=notify` over a server that sends systemd no sign."""
    script, command = case.script, case.commands[0]
    if command.wrappers or not is_in_lines(_STARTED, script.lines, _LONGEST):
        return
    lines = list(numbered(script, 1, len(script.lines)))
    start = next((number for number, text in lines if _STARTED.match(text[:_LONGEST])), 0)
    types = [(number, match["type"]) for number, text in lines if (match := _TYPE.match(text[:_LONGEST]))]
    if abs(start - command.line) > 1 or len(types) != 1 or case.base not in ONE_PROCESS_A_NODE:
        return
    number, kind = types[0]
    does = "a sign that it is ready" if kind.startswith("notify") else "the process that it started to end"
    message = (
        f"{script.where(number)}: Type={kind} waits for {does}, which this server never does: systemd ends it after "
    )
    message += "TimeoutStartSec (90 s where none is set)"
    remark = make_remark(Severity.WARNING, Code.CONFLICT, "Type", message, "write Type=simple or exec")
    yield replace(remark, command=None)


def _folder(lines: list[tuple[int, str]]) -> str | None:
    """Where the programs of the environment are, "" where the text does not say; None where it speaks of none."""
    for _, text in lines:
        if match := _FOLDER.match(text[:_LONGEST]):
            folder = match["path"] or f"{match['venv']}/bin"
            if folder not in _OF_SYSTEM:
                return folder
    for _, text in lines:
        if match := _ENVIRONMENT.search(text[:_LONGEST]):
            return f"{match['folder']}/bin" if match["folder"] else ""
    return None
