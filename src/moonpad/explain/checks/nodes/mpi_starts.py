"""Ranks that MPI starts of an engine whose own launcher lets one of them serve."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.engines.value_checks import whole
from moonpad.explain.checks.check_case import Case
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.programs import base_name
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity

_MPI: Final = "mpirun"
_RANKS: Final = "-np"


def ranks_that_all_serve(case: Case) -> Iterator[Remark]:
    """`mpirun -n 16 trtllm-serve …`: sixteen servers, where one is meant."""
    command, launchers = case.commands[0], case.engine.command_line.launchers
    wrapper = next((each for each in command.wrappers if each.kind == _MPI), None)
    if wrapper is None or not launchers or is_fragment(command) or command.custom:
        return
    ranks = whole(wrapper.value(_RANKS) or "") or 0
    if ranks < 2 or any(base_name(word) in launchers for word in command.words):
        return
    if not case.laid_out or case.first.layout.tp * case.first.layout.pp != ranks:
        return
    message = (
        f"each of the {ranks} ranks starts a server of its own, which starts its workers itself: ports and devices "
    )
    message += "are taken several times"
    remedy = f"write {launchers[0]} in front of the server, which lets one rank serve and the others work for it"
    yield make_remark(Severity.WARNING, Code.CONFLICT, _MPI, message, remedy)
