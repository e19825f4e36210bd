"""Too little memory that is certain although the layout, or the release, leaves the rest open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from moonpad.catalog.options import newest
from moonpad.engines.base import Engine
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.models.other_families import doubtful_name
from moonpad.explain.documents.other_devices import also_meant
from moonpad.explain.flag_lists import LAYOUT, is_fragment
from moonpad.explain.own_flags import in_own_flags
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.started_ranks import ranks_of_mpi
from moonpad.explain.suggestions import Subject, improvements
from moonpad.explain.unknowns import CONTEXT, STEP
from moonpad.plan.capacity_errors import needed_bytes
from moonpad.plan.judgement import judge
from moonpad.plan.rules.layout import largest_divisor
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.configuration import Configuration
from moonpad.values.finding import Code, Severity
from moonpad.values.memory import Memory
from moonpad.values.plan import Layout
from moonpad.values.records import replace
from moonpad.values.units import gib

_LARGEST_SHARE: Final = 97
"""Per cent of a device that an engine may be given: the driver needs some of it."""
_LEFT_OPEN: Final = frozenset({*LAYOUT, CONTEXT, *STEP})
_LEAST: Final[Mapping[str, int]] = {"max_num_seqs": 1, "max_num_batched_tokens": 1024}
"""Of what is not known, the values that need the least memory."""


def best_layout(case: Case) -> Iterator[Remark]:
    """What does not fit over all devices that are named fits with no layout on them."""
    checkpoint, cluster, reading = case.checkpoint, case.cluster, case.first
    if checkpoint is None or cluster is None or case.laid_out or case.unknown - _LEFT_OPEN or not checkpoint.groups:
        return
    facts, nodes = case.engine.facts, reading.node.nodes or 1
    settings = replace(reading.settings, **{name: least for name, least in _LEAST.items() if name in case.unknown})
    if nodes not in (1, cluster.nodes) or facts.host_experts or settings.cpu_offload_gib or reading.takes_all_devices:
        return
    if (
        (is_fragment(case.commands[0]) and not _is_of_container(case))
        or _doubtful(case, checkpoint)
        or ranks_of_mpi(case.commands) > cluster.devices
    ):
        return
    tp = largest_divisor(checkpoint.architecture.heads, cluster.devices)
    if tp != cluster.devices:
        return
    context = settings.max_model_len
    if context is None and CONTEXT not in case.unknown and facts.needs_whole_context:
        context = checkpoint.architecture.max_context
    over_all = Configuration(checkpoint, cluster, facts, case.version, Layout(tp=tp), settings)
    for remark in _short_of(case, over_all, context, f"even with tensor parallelism over all of {cluster.name}"):
        larger = () if case.devices_asked else also_meant(cluster, case.script, case.commands[0].line)
        held = (other for other, _ in larger if not [*_short_of(case, replace(over_all, cluster=other), context, "")])
        other = next(held, None)
        beside = f"take {other.name}, which the text means as well, or more devices" if other is not None else ""
        yield replace(remark, finding=replace(remark.finding, remedy=beside)) if beside else remark


def _is_of_container(case: Case) -> bool:
    """Whether its options are the variables of a container, `docker run -e TENSOR_PARALLEL_SIZE=8`."""
    own = case.commands[0]
    return any(other.line == own.line and other.container is not None for other in case.script.commands)


def _doubtful(case: Case, checkpoint: Checkpoint) -> bool:
    """Whether other weights than these may be meant: a folder of their whole name, with the format in it, is not."""
    own, written = (name.casefold().rstrip("/").rpartition("/")[2] for name in (checkpoint.name, case.first.model))
    return doubtful_name(checkpoint, case.first.model) and not (own == written and "bf16" in own)


def other_release(case: Case) -> Iterator[Remark]:
    """The memory of a deployment whose release does not serve the model: another release alone would not help."""
    if case.subject is None or not case.version:
        return
    configuration, context = case.subject.configuration, case.subject.context
    judged = judge(configuration, context=context, calibrations=case.subject.calibrations)
    if judged.memory is not None or [finding.where for finding in judged.errors] != ["engine"]:
        return
    later = replace(configuration, version="")
    for remark in _short_of(case, later, context, "in a release that serves it too"):
        way = _settings_of(replace(case.subject, configuration=later, found={}), case.engine)
        yield replace(remark, finding=replace(remark.finding, remedy=way)) if way else remark


def _settings_of(subject: Subject, engine: Engine) -> str:
    """With which settings the devices are enough in the newest release; "" where with none."""
    ways, options = improvements(subject, subject.memory()), engine.command_line.options
    if not ways or any(name not in options for name, _ in ways[0].changes):
        return ""
    words = (f"{options[name]} {value}" if value is not None else options[name] for name, value in ways[0].changes)
    return f"with {engine.facts.title} {newest(engine.program)}, write {' '.join(words)}: {ways[0].why}"


def _way_out(case: Case, memory: Memory, layout: Layout) -> str:
    """A shorter context helps where weights and the rest leave something for the cache, else a larger share of each
    device, as far as that is enough."""
    if memory.kv_bytes.high > 0:
        return "take more devices, or a shorter context"
    least = memory.weights_bytes + memory.overhead.low + needed_bytes(memory, layout)
    share = -(-100 * least // memory.device_bytes)
    flag = case.engine.command_line.options.get("gpu_memory_utilization", "")
    if flag and share <= _LARGEST_SHARE:
        return f"take more devices, or write {flag} {share / 100:g}, which leaves next to nothing"
    return "take more devices"


def _short_of(case: Case, configuration: Configuration, context: int | None, how: str) -> Iterator[Remark]:
    case.script.budget.work(400, "its engine commands")
    judged = judge(configuration, context=context)
    memory = judged.memory
    finding = next((each for each in judged.errors if each.code is Code.DOES_NOT_FIT), None)
    if memory is None or finding is None:
        return
    flag = case.engine.command_line.options.get(finding.where, finding.where)
    place = case.option(flag)
    message = f"{how}, {finding.message}"
    if memory.weights_bytes < memory.budget_bytes and context is not None and case.first.settings.max_model_len is None:
        message = f"{how}, {gib(memory.weights_bytes)} of weights leave too little on each device for the model's own "
        message += f"context of {context:,} tokens: {finding.message}"
    at = place.index if place is not None else None
    remedy = in_own_flags(finding.remedy, case.engine.command_line) or _way_out(case, memory, configuration.layout)
    yield make_remark(Severity.WARNING, Code.DOES_NOT_FIT, flag, message, remedy, at=at)
