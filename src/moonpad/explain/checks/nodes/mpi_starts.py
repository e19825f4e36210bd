"""Ranks that MPI starts of an engine whose own launcher lets one of them serve."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.value_checks import whole
from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Wrapper
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.programs import base_name
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity

_MPI: Final = "mpirun"
_RANKS: Final = "-np"
_SRUN: Final = "srun"
_TASKS: Final = ("--ntasks", "-n")
_HEADER: Final = re.compile(r"[ \t]*#SBATCH[ \t]+(?:--ntasks[ =]|-n[ ]?)(\d{1,5})(?!\d)")
_LONGEST: Final = 300


def ranks_that_all_serve(case: Case) -> Iterator[Remark]:
    """`mpirun -n 16 trtllm-serve …`, or srun with as many tasks: sixteen servers, where one is meant."""
    command, launchers = case.commands[0], case.engine.command_line.launchers
    wrapper = next((each for each in command.wrappers if each.kind in (_MPI, _SRUN)), None)
    if wrapper is None or not launchers or is_fragment(command) or command.custom:
        return
    ranks = _tasks(wrapper, case) if wrapper.kind == _SRUN else whole(wrapper.value(_RANKS) or "") or 0
    if ranks < 2 or any(base_name(word) in launchers for word in command.words):
        return
    if not case.laid_out or case.first.layout.tp * case.first.layout.pp != ranks:
        return
    message = (
        f"each of the {ranks} ranks starts a server of its own, which starts its workers itself: ports and devices "
    )
    message += "are taken several times"
    remedy = f"write {launchers[0]} in front of the server, which lets one rank serve and the others work for it"
    yield make_remark(Severity.WARNING, Code.CONFLICT, wrapper.kind, message, remedy)


def _tasks(wrapper: Wrapper, case: Case) -> int:
    """Of srun, or of the header of the batch script that it stands in; 0 where neither says it."""
    given = next((value for name in _TASKS if (value := wrapper.value(name))), "")
    case.script.budget.work(len(case.script.lines), "the header of its batch script")
    header = {match[1] for line in case.script.lines if (match := _HEADER.match(line[:_LONGEST])) is not None}
    return whole(given or (header.pop() if len(header) == 1 else "")) or 0
