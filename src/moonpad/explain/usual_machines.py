"""Which of the devices that many people have hold a command that names none: what can be said without asking."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from moonpad.engines.base import Engine, Reading
from moonpad.explain.documents.device_mentions import cluster_named
from moonpad.explain.documents.logged_caches import tells_of_answers, tells_of_cache
from moonpad.explain.documents.sized_devices import sizes_counted
from moonpad.explain.proposed_devices import (
    ALIKE,
    COUNTED,
    FAR_SMALLER,
    NO_AMD_DEVICE,
    NO_DEVICES,
    example_of,
    of_ranks,
    pod_for_a_larger_machine,
)
from moonpad.explain.results import Remark
from moonpad.explain.started_ranks import ranks_of
from moonpad.explain.suggestions import Subject
from moonpad.plan.judgement import judge
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Cluster
from moonpad.values.finding import OF_MEMORY, Code, Finding, Severity
from moonpad.values.memory import Memory
from moonpad.values.platform import Platform
from moonpad.values.units import GIB

_KINDS: Final = {Platform.CUDA: ("H100", "H200", "B200"), Platform.ROCM: ("MI300X", "MI355X")}
"""Met most in machines for such models; the smallest first. Of Ascend no start was measured."""


def on_usual_machines(
    because: str,
    lines: tuple[str, ...],
    engine: Engine,
    reading: Reading,
    nodes: int | None,
    checkpoint: Checkpoint | None,
    subject_on: Callable[[Checkpoint, Cluster], Subject],
    told: Sequence[Remark],
) -> Iterator[Remark]:
    """A note where one kind is too small, and a warning where all are, and of a pod that no machine has room for;
    `subject_on`: the command with a checkpoint on devices; `told`: what is said already. Raises UsageError when the
    budget is spent."""
    yield from pod_for_a_larger_machine(because)
    ranks, facts = ranks_of(reading), engine.facts
    helped = facts.host_experts or facts.gguf_only or reading.left_to_engine or reading.takes_all_devices
    counted = because.startswith(COUNTED)
    if (
        not (counted or because in (NO_DEVICES, NO_AMD_DEVICE) or because.endswith(FAR_SMALLER))
        or checkpoint is None
        or helped
        or ranks < 2
        or tells_of_cache(lines)
    ):
        return
    if any(remark.finding.code is Code.DOES_NOT_FIT for remark in told):
        return
    proposed = cluster_named(example_of(ranks, engine, because, nodes, checkpoint))
    kinds = _KINDS.get(proposed.device.platform, ()) if proposed is not None else ()
    sizes = sizes_counted(lines, ranks // (nodes or 1))
    if counted:  # nothing is to be said of others
        kinds = tuple(kind for kind in kinds if any(_has(kind, size) for size in sizes))
    clusters = [cluster for kind in kinds if (cluster := cluster_named(of_ranks(kind, ranks, nodes))) is not None]
    judged = [(cluster, memory) for cluster in clusters if (memory := _memory(subject_on(checkpoint, cluster)))]
    small = [(cluster, memory) for cluster, memory in judged if memory.kv_tokens.high < 1]
    if not small or len(judged) < len(kinds):
        return
    names = " and ".join(cluster.name for cluster, _ in small[-2:])
    least = min(memory.weights_bytes + memory.overhead.low for _, memory in small)
    message = f"too large for {names}: each device gets {least / GIB:,.0f} GiB at the least before any KV cache"
    rest = [(cluster, memory) for cluster, memory in judged if memory.kv_tokens.high >= 1]
    if rest:
        message += f"; on {rest[0][0].name} {_held(rest[0][1])}"
    own = [size for size in sizes if any(_has(cluster.name.rpartition("x")[2], size) for cluster, _ in small)]
    if own:
        message += f"; the text counts devices of {' and '.join(f'{size} GB' for size in own)}"
    severity = Severity.NOTE if (rest and not own) or tells_of_answers(lines) else Severity.WARNING
    if not rest:
        remedy = "take more devices, smaller weights, or name larger devices with --on"
    elif own:
        cluster, memory = rest[0]
        larger = sizes[-1] if sizes[-1] not in own else round(cluster.device.driver_bytes / GIB)
        remedy = f"take {'devices' if memory.kv_tokens.value >= memory.context else 'more devices'} of {larger} GB"
    else:
        remedy = ""
    yield Remark(Finding(severity, Code.DOES_NOT_FIT, "memory", message, remedy), None)


def _has(kind: str, size: int) -> bool:
    """Whether a device of the kind is sold with so many GB."""
    cluster = cluster_named(f"1x{kind}")
    return cluster is not None and abs(size * GIB - cluster.device.driver_bytes) < ALIKE * cluster.device.driver_bytes


def _memory(subject: Subject) -> Memory | None:
    """None where no layout is possible, the engine does not take the format, or the machine lacks memory of its own."""
    subject.budget.work(300, "the machines that many people have")
    judgement = judge(subject.configuration, context=subject.context, calibrations=subject.calibrations)
    memory = judgement.memory
    refused = any(finding.code not in OF_MEMORY for finding in judgement.errors)
    return None if memory is None or refused or not memory.host_fits else memory


def _held(memory: Memory) -> str:
    tokens = f"{memory.kv_tokens.value:,.0f} tokens of KV cache"
    wanted = "" if memory.kv_tokens.value >= memory.context else f", not the {memory.context:,} of one whole sequence,"
    return f"{tokens}{wanted} fit, estimated"
