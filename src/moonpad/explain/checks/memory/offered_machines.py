"""Machines that a task may get beside the one that it is judged on: `accelerators: {H200: 8, A100-80GB: 8}`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.device_mentions import cluster_named
from moonpad.explain.results import Remark, make_remark
from moonpad.plan.judgement import judge
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_CODES: Final = (Code.UNSUPPORTED_FORMAT, Code.DOES_NOT_FIT)
_MOST: Final = 6


def offered_machine(case: Case) -> Iterator[Remark]:
    """The scheduler takes any of the list, and on one of them the weights do not run, or do not fit."""
    if case.subject is None or case.cluster is None or case.devices_asked:
        return
    configuration, context = case.subject.configuration, case.subject.context
    line = min((at for _, at in case.script.asked), default=0)
    offered = [machine for machine, at in sorted(case.script.asked) if at == line]
    if case.cluster.name not in offered or len(offered) > _MOST or len({at for _, at in case.script.asked}) != 1:
        return
    case.script.budget.work(400 * len(offered), "the machines that its task may get")
    first = judge(configuration, context=context, calibrations=case.subject.calibrations)
    if first.errors:
        return
    for name in offered:
        other = cluster_named(name)
        if other is None or name == case.cluster.name or other.devices != case.cluster.devices:
            continue
        judged = judge(replace(configuration, cluster=other), context=context)
        finding = next((each for each in judged.errors if each.code in _CODES), None)
        if finding is None:
            continue
        message = f"the task may get {name} as well, and there: {finding.message}"
        remedy = f"leave {name.rpartition('x')[2]} out of the list"
        yield make_remark(Severity.WARNING, finding.code, "accelerators", message, remedy)
        return
