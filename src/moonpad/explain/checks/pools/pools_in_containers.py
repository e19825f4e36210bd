"""Prefill and decode in containers of one machine, between which a cache is to go by NVLink."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.pools.pool_sides import by_side_channel
from moonpad.explain.commands import Command
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_DEVICES: Final = re.compile(r"device=(\d+(?:,\d+)*)")
_OF_HOST: Final = "--pid"
_MOST: Final = 40


def devices_apart(case: Case) -> Iterator[Remark]:
    """Each container has devices and a process namespace of its own."""
    command = case.commands[0]
    mine = _devices(command)
    if not mine:
        return
    for other in case.script.commands[:_MOST]:
        if other.line <= command.line or not (its := _devices(other)) or mine & its:
            continue
        message = (
            "prefill and decode are in two containers of one machine, each with its own devices and processes alone:"
        )
        message += (
            " UCX cannot open the other's memory (CUDA IPC), and the cache goes by TCP or the network, without a word"
        )
        remedy = "start both with --pid=host, and give each the other's devices too"
        yield replace(make_remark(Severity.NOTE, Code.SUBOPTIMAL, _OF_HOST, message, remedy), command=None)
        return


def _devices(command: Command) -> frozenset[str]:
    """Those of its container by their numbers, where it shares no processes and hands a cache over."""
    container = command.container
    if container is None or container.kind != "docker run" or not by_side_channel(command):
        return frozenset()
    words = [word.text for word in container.words]
    if any(word.partition("=")[0] == _OF_HOST for word in words):
        return frozenset()
    devices = next((match[1] for word in words if (match := _DEVICES.search(word))), "")
    return frozenset(devices.split(",")) if devices else frozenset()
