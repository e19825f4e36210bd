"""Weights in the host's RAM: what that costs, and where it is not done although it was asked for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.engines.argv_reader import Occurrence
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Edit, Remark, make_remark
from moonpad.plan.judgement import judge
from moonpad.values.finding import Code, Severity
from moonpad.values.platform import Platform
from moonpad.values.units import GIB, gib
from moonpad.values.versions import since

_OFF: Final = ("0", "false", "False")
_warning = partial(make_remark, Severity.WARNING)


def cpu_offload(case: Case) -> Iterator[Remark]:
    """What is said of an offload that is asked for; nothing where the engine keeps experts in RAM by its nature."""
    place, size = case.option(names.OFFLOAD), case.first.settings.cpu_offload_gib
    if place is None or not size or case.engine.facts.host_experts:
        return
    leave_out = [Edit(place.index, place.length, ())]
    warning = partial(_warning, at=place.index)
    if why := offload_ignored(case):
        yield warning(Code.REDUNDANT_FLAG, names.OFFLOAD, why, _instead(case))
        return
    if case.base == names.EXPERTS_BY_OPTION and case.checkpoint is not None:
        message = "by reports latent attention ends in an error with it: what is derived from weights stays in RAM"
        yield warning(Code.CONFLICT, names.OFFLOAD, message, "try one request before you rely on it")
    if (spared := _spared(case)) is not None:
        message = f"the weights and a sequence of {spared:,} tokens fit without it, and each step reads RAM for it"
        yield warning(Code.SUBOPTIMAL, names.OFFLOAD, message, "leave it out", edits=leave_out)
        return
    yield from _costs(case, place, size)


def _costs(case: Case, place: Occurrence, size: float) -> Iterator[Remark]:
    message = f"{size:g} GiB for each device"
    held = None
    if case.subject is not None:
        configuration = case.subject.configuration
        message += f", {size * configuration.ranks_per_node:,.0f} GiB of RAM on each machine"
        plain = judge(configuration.with_settings(cpu_offload_gib=None), context=1).memory
        held = plain.weights_bytes if plain else None
    message += ", which the steps read over the link to the host: slow"
    remedy = "take more devices or smaller weights; plan for up to twice the RAM, since pinned memory is rounded up"
    yield _warning(Code.SUBOPTIMAL, names.OFFLOAD, message, remedy, at=place.index)
    if held is not None and size * GIB > held:
        message = f"{size:g} GiB is more than the {gib(held)} of weights that a device has: it counts for each device"
        remedy = "write what one device cannot hold"
        yield _warning(Code.INVALID_VALUE, names.OFFLOAD, message, remedy, at=place.index)


def offload_ignored(case: Case) -> str:
    """Why the engine leaves the weights on the devices, or gains nothing by moving them; "" where it does as asked."""
    device = case.cluster.device if case.cluster is not None else None
    if device is not None and device.unified:
        return f"nothing is gained: the memory of {device.product} is the host's own"
    if case.engine.name != names.EXPERTS_BY_VARIABLE or not case.version or since(case.version, names.RUNNER_OFFLOADS):
        return ""
    runner, on_rocm = case.variable(names.RUNNER), device is not None and device.platform is Platform.ROCM
    model_type = case.checkpoint.architecture.model_type if case.checkpoint is not None else ""
    first = names.RUNNER_BY_DEFAULT.get(model_type, "")
    by_default = not runner and first and since(case.version, first) and not on_rocm
    if by_default or (runner and runner not in _OFF):
        return f"ignored without a word: model runner V2 moves weights to RAM from {names.RUNNER_OFFLOADS} on"
    return ""


def _instead(case: Case) -> str:
    if case.cluster is not None and case.cluster.device.unified:
        return "leave it out"
    return f"take {names.RUNNER_OFFLOADS} or later, or set {names.RUNNER}=0"


def _spared(case: Case) -> int | None:
    """The context that fits without it; None where none does, or what fits is not known."""
    subject = case.subject
    if subject is None:
        return None
    subject.budget.work(400, "its engine commands")
    configuration = subject.configuration.with_settings(cpu_offload_gib=None)
    judgement = judge(configuration, context=subject.context, calibrations=subject.calibrations)
    memory = judgement.memory
    fits = memory is not None and memory.fits and not memory.tight and not judgement.errors
    return memory.context if memory is not None and fits else None
