"""The size of /dev/shm as a text shows it: of `docker inspect`, and of `df` in the container."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import image_names
from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_INSPECTED: Final = re.compile(r"[\"']ShmSize[\"'][ ]*:[ ]*(?P<bytes>\d{1,15})\b")
_MODE: Final = re.compile(r"[\"']IpcMode[\"'][ ]*:[ ]*[\"'](?:host|container:)")
_LISTED: Final = re.compile(r"^[ \t]*(?:shm|tmpfs)[ \t]+(?P<mb>\d{1,3})M[ \t].*[ \t]/dev/shm[ \t]*$")
_SIGN: Final = re.compile(r"ShmSize|/dev/shm[ \t]*$")
_ENOUGH: Final = 1_000_000_000
_MIB: Final = 1024 * 1024
_LONGEST: Final = 2000


def shown_memory(case: Case) -> Iterator[Remark]:
    """`"ShmSize": 67108864` beside `"IpcMode": "private"`, or `shm 64M … /dev/shm`, for several ranks."""
    lines, layout = case.script.lines, case.first.layout
    ranks = layout.tp * layout.pp
    if ranks < 2 or case.commands[0].program in image_names.ONE_PROCESS or not is_in_lines(_SIGN, lines, _LONGEST):
        return
    if is_in_lines(_MODE, lines, _LONGEST) or not is_first_server(case.commands, case.script):
        return
    case.script.budget.once("shown memory", 2 * len(lines), "the text around its engine commands")
    for number, line in enumerate(lines, 1):
        inspected, listed = _INSPECTED.search(line[:_LONGEST]), _LISTED.match(line[:_LONGEST])
        size = int(inspected["bytes"]) if inspected else int(listed["mb"]) * _MIB if listed else _ENOUGH
        if 0 < size < _ENOUGH:
            where = "/dev/shm"  # noqa: S108 - what is written
            message = (
                f"{case.script.where(number)}: the processes of {ranks} ranks share {size // _MIB} MiB of {where}: "
            )
            message += "NCCL ends by a bus error, or cannot make its segments"
            remedy = "start the container with --ipc=host, or --shm-size 16g"
            yield replace(make_remark(Severity.WARNING, Code.MEMORY_LOW, where, message, remedy), command=None)
            return
