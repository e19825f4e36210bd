"""Switches of a build from source without which the library does not do what it is built for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_TRANSPORT: Final = re.compile(r"-DUSE_EFA(?::BOOL)?=(?:ON|1|TRUE)\b", re.IGNORECASE)
_DEVICES: Final = re.compile(r"-DUSE_(?:CUDA|HIP|MUSA|MACA|ASCEND\w*|NPU|NEURON)(?::BOOL)?=", re.IGNORECASE)
_MOST: Final = 40
_LONGEST: Final = 1000


def built_for_hosts(case: Case) -> Iterator[Remark]:
    """Mooncake's transport for EFA without the memory of devices, which is what servers hand over."""
    script = case.script
    if not is_first_server(case.commands, script):
        return
    script.budget.work(len(script.lines), "its builds")
    lines = [line[:_LONGEST] for line in script.lines]
    number = next((at for at, line in enumerate(lines) if _TRANSPORT.search(line)), None)
    if number is None or any(_DEVICES.search(line) for line in _command(lines, number)):
        return
    message = (
        f"{script.where(number + 1)}: a build with -DUSE_EFA=ON alone hands over the memory of the host: that of a "
    )
    message += "GPU, in which the KV cache is, ends in Bad address (EFAULT)"
    remark = make_remark(Severity.WARNING, Code.MISSING_FLAG, "-DUSE_EFA=ON", message, "add -DUSE_CUDA=ON to the build")
    yield replace(remark, command=None)


def _command(lines: Sequence[str], at: int) -> Sequence[str]:
    """The lines that a backslash joins to this one."""
    first, last = at, at
    while first > max(0, at - _MOST) and lines[first - 1].rstrip().endswith("\\"):
        first -= 1
    while last + 1 < min(len(lines), at + _MOST) and lines[last].rstrip().endswith("\\"):
        last += 1
    return lines[first : last + 1]
