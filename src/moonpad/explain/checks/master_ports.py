"""The port at which ranks meet, against those that the processes of one server take for themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.engines.surrounding_names import PORT_OF_PROCESSES
from moonpad.engines.value_checks import whole
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity

_MASTER: Final = ("--master-port",)
_NEAR: Final = 10
"""Ports that a server with a few ranks takes, and those that it finds taken."""


def master_behind_own_port(case: Case) -> Iterator[Remark]:
    """`VLLM_PORT=25001` beside `--master-port 25002`: the next port that a process asks for is the master's."""
    place = case.option(*_MASTER)
    master, own = whole(case.text(*_MASTER)), whole(case.variable(PORT_OF_PROCESSES))
    if place is None or master is None or own is None or not 0 <= master - own < _NEAR:
        return
    message = f"{PORT_OF_PROCESSES}={own} is the first port of those that the processes of this server take, and they "
    message += f"count up from there to {master}, where the ranks meet: address already in use, or a start that hangs"
    remedy = f"give {PORT_OF_PROCESSES} a range of its own, or leave it out"
    yield make_remark(Severity.WARNING, Code.CONFLICT, "--master-port", message, remedy, at=place.index)
