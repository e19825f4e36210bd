"""Machines that a task may get beside the one that it is judged on: `accelerators: {H200: 8, A100-80GB: 8}`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.device_mentions import cluster_named
from moonpad.explain.documents.other_devices import OFFERED, offered
from moonpad.explain.results import Remark, make_remark
from moonpad.plan.judgement import judge
from moonpad.values.finding import Code, Severity
from moonpad.values.memory import Memory
from moonpad.values.records import replace

_CODES: Final = (Code.UNSUPPORTED_FORMAT, Code.DOES_NOT_FIT)
_MOST: Final = 6
_LESS: Final = 0.9
"""Less room than this share is worth a line."""


def offered_machine(case: Case) -> Iterator[Remark]:
    """The scheduler takes any of the list, and on another one of them the weights do not run, or do not fit: one line
    for each."""
    if case.subject is None or case.cluster is None or case.devices_asked:
        return
    configuration, context = case.subject.configuration, case.subject.context
    others = offered(case.cluster, case.script)[:_MOST]
    if not others:
        return
    case.script.budget.work(400 * len(others), "the machines that its task may get")
    first = judge(configuration, context=context, calibrations=case.subject.calibrations)
    known = {each.code for each in first.errors}
    for name in others:
        other = cluster_named(name)
        if other is None or other.devices != case.cluster.devices:
            continue
        judged = judge(replace(configuration, cluster=other), context=context)
        finding = next((each for each in judged.errors if each.code in _CODES and each.code not in known), None)
        if finding is None:
            yield from _room(name, judged.memory, first.memory)
            continue
        message = f"the task may get {name} as well, and there: {finding.message}"
        remedy = f"leave {name.rpartition('x')[2]} out of the list"
        yield make_remark(Severity.WARNING, finding.code, "accelerators", message, remedy)


def _room(name: str, there: Memory | None, here: Memory | None) -> Iterator[Remark]:
    """What the KV cache holds on the other machine, where that is less, or where this one is nearly full."""
    if there is None or here is None:
        return
    tokens, others = (max(0.0, memory.kv_tokens.value) for memory in (here, there))
    if others < _LESS * tokens or (here.tight and not there.tight):
        room = f"a KV cache of {others:,.0f} tokens" if others >= 1 else "perhaps nothing is left for the KV cache"
        message = f"on {name}, {OFFERED}: {room}, instead of {tokens:,.0f} tokens"
        yield make_remark(Severity.NOTE, Code.SUBOPTIMAL, "accelerators", message, "")
