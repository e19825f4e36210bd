"""Shared memory of a server that the chart of vLLM's production stack starts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity

_SPECS: Final = re.compile(r"[ ]*modelSpec:[ \t]*(?:#.*)?$")
_ITEM: Final = re.compile(r"(?P<indent>[ ]*)-[ ]")
_MODEL: Final = re.compile(r"[ -]*modelURL:[ ]")
_MOUNTS: Final = re.compile(r"[ -]*(?:tensorParallelSize|raySpec|enablePD):|.*/dev/shm|.*\{\{")
"""What gives the container its memory: the chart's own key, Ray's part of the chart, the host's
namespace where prefill and decode are apart, a volume; a template may."""
_LONGEST: Final = 500


def memory_of_stack(case: Case) -> Iterator[Remark]:
    """The chart mounts memory at /dev/shm where vllmConfig says how many ranks there are, and nowhere else."""
    command, flag = case.commands[0], case.engine.command_line.options.get("tp", "")
    place, ranks = case.option(flag) if flag else None, case.first.layout.tp * case.first.layout.pp
    if place is None or not case.laid_out or command.more or ranks < 2:
        return
    case.script.budget.once("values of charts", 2 * len(case.script.lines), "its containers")
    lines = _item(case.script.lines, command.line)
    if not any(map(_MODEL.match, lines)) or any(map(_MOUNTS.match, lines)):
        return
    message = f"the chart mounts memory at /dev/shm only where vllmConfig has tensorParallelSize: the {ranks} ranks "
    message += "share the container's 64 MB, whatever shmSize says"
    remedy = f"write tensorParallelSize: {case.first.layout.tp} in vllmConfig, and leave {flag} out of extraArgs"
    yield make_remark(Severity.WARNING, Code.MISSING_FLAG, flag, message, remedy, at=place.index)


def _item(whole: Sequence[str], number: int) -> list[str]:
    """The lines of the list's item that a line stands in, where the list is that of the chart's models."""
    lines = [line[:_LONGEST] for line in whole]
    specs = next((at for at in range(number - 1, -1, -1) if _SPECS.match(lines[at])), None)
    begins = next((match for line in lines[(specs or 0) + 1 :] if (match := _ITEM.match(line))), None)
    if specs is None or begins is None:
        return []
    mark = begins["indent"] + "- "
    starts = [at for at, line in enumerate(lines) if at > specs and line.startswith(mark)]
    first = max((at for at in starts if at < number), default=None)
    if first is None:
        return []
    last = min((at for at in starts if at >= number), default=len(lines))
    return lines[first:last]
