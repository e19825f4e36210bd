"""The ranks that a launcher makes of the tasks of `srun` or `mpirun`, against the layout of the engine behind it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.engines.value_checks import whole
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.nodes.slurm_jobs import asked_job
from moonpad.explain.commands import Wrapper
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_PER_NODE: Final = "--ntasks-per-node"
_OF_PLACES: Final = ("--nodelist", "--overlap", "--gpus-per-task", "--ntasks-per-gpu")
"""Options by which a step has a part of the job alone, or counts its tasks by devices."""


def step_ranks(case: Case) -> Iterator[Remark]:
    """`srun -N 1 --ntasks-per-node=4 … launcher … --tp_size 8`: each task is a rank, and there are as many as that."""
    line = case.engine.command_line
    sizes = [case.option(line.options.get(name, "")) for name in ("tp", "pp")]
    if not line.launchers or sizes[0] is None or is_fragment(case.commands[0]):
        return
    values = [whole(place.value) if isinstance(place.value, str) else None for place in sizes if place is not None]
    command = case.commands[0]
    step = next((wrapper for wrapper in command.wrappers if wrapper.kind in ("srun", "mpirun")), None)
    begun = [word.text for wrapper in command.wrappers for word in wrapper.words] + [w.text for w in command.prefix]
    if step is None or None in values or not any(word in line.launchers for word in begun):
        return
    ranks, written = 1, " × ".join(str(value) for value in values)
    for value in values:
        ranks *= value or 1
    tasks = _tasks(step, case)
    if tasks is None or tasks == ranks or case.first.replicas > 1:
        return
    flag = sizes[0].written
    message = (
        f"{step.kind} starts {tasks} task{'s' * (tasks != 1)}, each of which is a rank, and the layout has {written}"
    )
    message += ": the start ends" if tasks < ranks else ": the others have nothing to do"
    remedy = f"write {flag} {tasks}, or start {ranks} tasks" if len(values) == 1 else f"start {ranks} tasks"
    remark = make_remark(Severity.WARNING, Code.ILLEGAL_LAYOUT, flag, message, remedy, at=sizes[0].index)
    yield replace(remark, command=0)


def _tasks(step: Wrapper, case: Case) -> int | None:
    """How many there are, by the step's own options, else by the header of the job; None where that is not certain."""
    if step.kind == "mpirun":
        return whole(next((value for name in ("-n", "-np", "--np") if (value := step.value(name))), ""))
    total, nodes, each = (step.value(name) for name in ("--ntasks", "--nodes", _PER_NODE))
    if total is not None:
        return whole(total)
    counted = whole(nodes or ""), whole(each or "")
    if nodes is None and each is None and not any(step.value(name) for name in _OF_PLACES):
        job = asked_job(case)
        return None if job is None else job.tasks or (job.nodes * job.per_node if job.nodes and job.per_node else None)
    return counted[0] * counted[1] if counted[0] is not None and counted[1] is not None else None
