"""The port at which ranks meet, against those that one server takes: for its processes, and for its API."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.engines.surrounding_names import PORT_OF_PROCESSES
from moonpad.engines.value_checks import whole
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity

_MASTER: Final = ("--master-port",)
_MEETING: Final = ("--dist-init-addr",)
_SEVERAL: Final = 2
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


def meeting_at_own_port(case: Case) -> Iterator[Remark]:
    """`--dist-init-addr 10.0.0.1:30000` beside the API's port 30000, on the machine where the ranks meet."""
    place = case.option(*_MEETING, *_MASTER)
    if place is None or not isinstance(place.value, str) or whole(case.text("--node-rank") or "0"):
        return
    text = place.value.strip("'\"")
    port = whole(text.rpartition(":")[2]) if ":" in text or place.written in _MASTER else None
    nodes = whole(case.text("--nnodes")) or 1
    if port is None or nodes < _SEVERAL or (case.option("--port") is None and case.open_ended):
        return
    own = case.text("--port").strip("'\"") if case.option("--port") is not None else str(case.engine.command_line.port)
    if own != str(port) or case.option("--headless") is not None:
        return
    message = (
        f"{port} is the port of the API too: the ranks meet there on the first machine, and the server that is to "
    )
    message += "listen on it finds it in use"
    remedy = f"take another port for {place.written}, the same on all machines"
    yield make_remark(Severity.WARNING, Code.CONFLICT, place.written, message, remedy, at=place.index)


MEETING_PORTS: Final = (master_behind_own_port, meeting_at_own_port)
