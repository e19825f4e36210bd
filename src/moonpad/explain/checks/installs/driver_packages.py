"""Packages of NVIDIA's driver that do not know the devices of the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server, numbered
from moonpad.values.finding import Code, Severity
from moonpad.values.platform import Platform
from moonpad.values.records import replace

_BLACKWELL: Final = 100
_FIRST_DRIVER: Final = 570
_DRIVER: Final = re.compile(
    r"(?<![\w-])nvidia-(?:driver|dkms|headless)-(?P<branch>\d{3})(?P<kind>-server)?(?P<open>-open)?(?![\w-])"
)
_LONGEST: Final = 1000


def driver_of_blackwell(case: Case) -> Iterator[Remark]:
    """`nvidia-driver-550-server` on a B200, which 570 was the first for, and then by the open modules alone."""
    cluster, script = case.cluster, case.script
    if cluster is None or cluster.device.platform is not Platform.CUDA or not is_first_server(case.commands, script):
        return
    if (cluster.device.sm or 0) < _BLACKWELL:
        return
    script.budget.work(len(script.lines), "the driver that it installs")
    lines = ((number, text) for number, text in numbered(script, 1, len(script.lines)) if "nvidia-" in text)
    found = [(number, match) for number, text in lines if (match := _DRIVER.search(text[:_LONGEST])) is not None]
    found = [each for each in found if not script.lines[each[0] - 1].lstrip().startswith(("#", "//"))]
    kind = cluster.name.rpartition("x")[2]
    if not found:
        return
    number, match = found[0]
    where, package = script.where(number), match[0]
    if all(int(each["branch"]) < _FIRST_DRIVER for _, each in found):
        message = (
            f"{where}: {package} is of a branch before {_FIRST_DRIVER}, the first that knows {kind}: no device is "
        )
        message += "found"
        remedy = f"install nvidia-driver-580{match['kind'] or ''}-open, with the fabric manager of the same release"
    elif not any(each["open"] for _, each in found):
        message = f"{where}: {package} has the closed kernel modules, and Blackwell works with the open ones alone: no "
        message += "device is found"
        remedy = f"install {package}-open"
    else:
        return
    yield replace(make_remark(Severity.WARNING, Code.CONFLICT, package, message, remedy), command=None, stops=True)
