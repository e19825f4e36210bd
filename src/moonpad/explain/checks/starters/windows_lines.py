"""Lines that are typed into PowerShell or cmd.exe, and written as for a shell of Unix."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.starters.foreground import statement
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_FENCE: Final = re.compile(r"[ \t]*(?:`{3,}|~{3,})[ \t]*(?P<language>[\w+-]*)")
_POWERSHELL: Final = frozenset({"powershell", "pwsh", "ps1", "ps"})
_CMD: Final = frozenset({"cmd", "bat", "batch", "dosbatch"})
_PROMPT: Final = re.compile(r"[ \t]*(?P<power>PS[ ]+)?[A-Za-z]:\\[^>\n]{0,200}>")
_SIGN: Final = re.compile(
    r"\$env:\w+[ ]*=|^[ \t]*(?P<cmd>@?echo[ ]+off|set[ ]+\"?\w+=|rem[ ]|[^`\n]+[ ]\^$)", re.IGNORECASE
)
_OTHER_SHELL: Final = re.compile(r"(?:^|>)[ \t]*(?:wsl\b|ssh[ \t]|bash\b)|-it?[ \t].*\bbash[ \t]*$|^[ \t]*\w+@[\w.-]+:")
_LIST: Final = re.compile(r"\$env:(?P<name>\w+)[ \t]*=[ \t]*(?P<value>\d{1,3}(?:[ \t]*,[ \t]*\d{1,3})+)[ \t]*(?:;|$)")
_JSON: Final = re.compile(r"(?<![\w\"])'[ \t]*[{\[]")
_WINDOWS: Final = re.compile(r"\b[A-Za-z]:\\|\.exe\b|\$env:|%\w+%|\bwindows\b|powershell|docker desktop", re.IGNORECASE)
_LONGEST: Final = 1000
_FARTHEST: Final = 60


def backslash_of_unix(case: Case) -> Iterator[Remark]:
    """`docker run … \\` in a block of PowerShell, where a backtick continues a line, or of cmd.exe."""
    kind = _kind(case)
    first, last = statement(case) if kind else (0, 0)
    start = _first_of(case, first)
    line = case.script.lines[start - 1][:_LONGEST].rstrip() if kind and start > 0 else ""
    if line.endswith(" \\") and last > first - 1:
        name, sign = ("PowerShell", "a backtick") if kind == "power" else ("cmd.exe", "a caret")
        message = f"{case.script.where(start)}: {name} does not continue a line by a backslash, but by {sign}: the "
        message += "command ends here, and the lines below are commands of their own"
        right = "`" if kind == "power" else "^"
        remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, "\\", message, f"write {right} in its place")
        yield replace(remark, command=None)


def comma_of_powershell(case: Case) -> Iterator[Remark]:
    """`$env:CUDA_VISIBLE_DEVICES=0,1`: a list, which becomes `0 1`."""
    case.script.budget.once("lines of Windows", len(case.script.lines), "the text around its commands")
    for number, line in enumerate(case.script.lines, 1):
        match = _LIST.search(line[:_LONGEST]) if "$env:" in line else None
        if match is not None:
            value = match["value"].replace(" ", "")
            message = f"{case.script.where(number)}: without quotes {value} is a list to PowerShell, and the variable "
            message += f"becomes {value.replace(',', ' ')}"
            remedy = f'write $env:{match["name"]} = "{value}"'
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, match["name"], message, remedy)
            yield replace(remark, command=None)
            return


def quotes_of_unix(case: Case) -> Iterator[Remark]:
    """`'{"image": 4}'` for cmd.exe, which has double quotes alone."""
    if _kind(case) != "cmd":
        return
    first, last = statement(case)
    for number in range(first, last + 1):
        if _JSON.search(case.script.lines[number - 1][:_LONGEST]):
            message = (
                f"{case.script.where(number)}: cmd.exe has no single quotes: they reach the program, and the JSON is "
            )
            message += "cut at its blanks and loses its double quotes"
            remedy = 'write "{\\"key\\": 1}" for it'
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, "'", message, remedy)
            yield replace(remark, command=None)
            return


def _first_of(case: Case, own: int) -> int:
    """The line on which the statement begins: the server's words may stand below `docker run \\`."""
    lines, first = case.script.lines, own
    words = [word.line for wrapper in case.commands[0].wrappers for word in wrapper.words if word.line]
    first = min([first, *words]) if words else first
    return first if 0 < first <= len(lines) else 0


def _kind(case: Case) -> str:
    """`power` or `cmd` where the server's lines are for it, "" where that is not said."""
    lines, own = case.script.lines, case.commands[0].line
    if not 0 < own <= len(lines):
        return ""
    name = case.script.file_name.lower()
    kind = "power" if name.endswith(".ps1") else "cmd" if name.endswith((".bat", ".cmd")) else ""
    for number in range(own, max(0, own - _FARTHEST), -1):
        text = lines[number - 1][:_LONGEST]
        if _OTHER_SHELL.search(text):
            return ""
        if (prompt := _PROMPT.match(text)) is not None:
            return "power" if prompt["power"] else "cmd"
        if number < own and (fence := _FENCE.match(text)) is not None:
            language = fence["language"].lower()
            named = "power" if language in _POWERSHELL else "cmd" if language in _CMD else ""
            if (
                named
                and not kind
                and not any(_WINDOWS.search(line[:_LONGEST]) for line in lines if not _FENCE.match(line))
            ):
                return ""  # some pages call every command so
            return kind or named if named or not language else ""
        if not kind and (sign := _SIGN.search(text)) is not None:
            kind = "cmd" if sign["cmd"] else "power"
    return kind
