"""A Windows program that a shell of WSL starts: it gets its arguments as they are, and has other paths. And what
PowerShell takes out of arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Command
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_DRIVE: Final = re.compile(r"(?:(?P<flag>--?[A-Za-z][\w-]*)=)?/mnt/(?P<drive>[a-z])(?P<rest>/\S.*)")
_LIST: Final = re.compile(r"\$\w+[ \t]*=[ \t]*@\(")
_GIVEN: Final = re.compile(r"(?:^|[\s&;|])[\w./:\\-]+[ \t]+(?:[\w-]+[ \t]+)?@\w+")
_JSON: Final = re.compile(r"\{[ \t]*\"\w+\"[ \t]*:")
_MOST_LINES: Final = 5000
_LONGEST: Final = 1000
_CONVERTED: Final = ("wslpath", "cygpath")


def caret_at_end(case: Case) -> Iterator[Remark]:
    """`vllm serve MODEL ^`, of servers that no cmd.exe starts."""
    command = case.commands[0]
    if (
        case.engine.facts.gguf_only
        or command.wrappers
        or command.embedded
        or not 0 < command.line <= len(case.script.lines)
    ):
        return
    if not case.script.lines[command.line - 1][-_LONGEST:].rstrip().endswith(" ^"):
        return
    message = (
        f"{case.script.where(command.line)}: a caret continues a line in cmd.exe alone: here the command ends, and "
    )
    message += "^ is an argument of it"
    remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, "^", message, "write a backslash in its place")
    yield replace(remark, command=None, read_as_meant=True)


def path_of_wsl(case: Case) -> Iterator[Remark]:
    """`./server.exe --model /mnt/d/x.gguf`: Windows reads that path from the root of the current drive."""
    for number, command in enumerate(case.commands):
        if not _is_windows(command):
            continue
        for at, word in enumerate(command.argv):
            match = _DRIVE.fullmatch(word.text)
            if match is None or any(name in text for text in (word.text, *word.unresolved) for name in _CONVERTED):
                continue
            before = command.argv[at - 1].text if at else ""
            where = match["flag"] or (before if before.startswith("-") else shortened(word.text, 40))
            path = word.text.partition("=")[2] if match["flag"] else word.text
            message = (
                f"a Windows program ({_name(command)}) does not have {shortened(path, 60)}, which is a path of WSL"
            )
            drive, rest = match["drive"].upper(), match["rest"].replace("/", "\\")
            remedy = (
                f"write '{shortened(f'{drive}:{rest}', 60)}', or \"$(wslpath -w PATH)\", or start a program of Linux"
            )
            yield replace(
                make_remark(Severity.WARNING, Code.INVALID_VALUE, where, message, remedy, at=at), command=number
            )
            break


def json_in_powershell(case: Case) -> Iterator[Remark]:
    """`--speculative-config`, `'{"method": "mtp"}'` in a list of PowerShell: before 7.3 it starts a program without the
    quotes that stand inside of an argument."""
    lines = case.script.lines
    if case.script.markdown or len(lines) > _MOST_LINES:
        return
    case.script.budget.work(len(lines), "its lists")
    if not any(_LIST.search(line[:_LONGEST]) for line in lines) or not any(
        _GIVEN.search(line[:_LONGEST]) for line in lines
    ):
        return
    for number, command in enumerate(case.commands):
        for at, word in enumerate(command.argv):
            value = word.text.partition("=")[2] if word.text.startswith("--") else word.text
            if not _JSON.match(value):
                continue
            flag = (
                word.text.partition("=")[0] if word.text.startswith("--") else command.argv[at - 1].text if at else ""
            )
            if not flag.startswith("--"):
                continue
            message = "PowerShell before 7.3 hands an argument to a program without the double quotes inside of it: "
            message += "the JSON arrives without any, and is refused"
            remedy = 'write \\" for each quote of the JSON, or start it with PowerShell 7.3 or later'
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, flag, message, remedy, at=at)
            yield replace(remark, command=number)


def _name(command: Command) -> str:
    return shortened(command.prefix[-1].text.rpartition("/")[2].rpartition("\\")[2], 40)


def _is_windows(command: Command) -> bool:
    return any(word.text.casefold().endswith(".exe") for word in command.prefix[-1:])
