"""Too little memory is an error only if the start surely fails; else a warning that says what is not known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from moonpad.catalog.calibrations import Calibration
from moonpad.engines.foreign_names import BUILT_ELSEWHERE
from moonpad.explain.documents.other_devices import APART, BESIDE, OFFERED
from moonpad.plan.judgement import Judgement, judge
from moonpad.values.cluster import Cluster
from moonpad.values.configuration import Configuration, EngineFacts
from moonpad.values.finding import OF_MEMORY, Code, Finding, Severity
from moonpad.values.memory import Memory
from moonpad.values.platform import Platform
from moonpad.values.records import replace


def as_sure(
    finding: Finding,
    configuration: Configuration,
    memory: Memory | None,
    context: int | None,
    calibrations: Sequence[Calibration],
    *,
    others: Iterable[tuple[Cluster, str]],
) -> Finding:
    """The finding as it is, or as a warning. `others`: devices that may be meant as well, and why."""
    engine, platform = configuration.engine, configuration.device.platform
    if finding.code is Code.PLATFORM_UNSUPPORTED and (engine.name, platform.value) in BUILT_ELSEWHERE:
        message = f"{engine.title} has a build for {configuration.device.product}, which moonpad does not judge"
        return replace(finding, severity=Severity.NOTE, message=message, remedy="")
    if finding.code is Code.UNSUPPORTED_FORMAT and finding.severity is Severity.ERROR:
        return _of_one_machine(finding, configuration, context, others)
    if finding.code is not Code.DOES_NOT_FIT or finding.severity is not Severity.ERROR or memory is None:
        return finding
    if doubt := _doubt(finding, configuration, memory, context, calibrations, others):
        return replace(finding, severity=Severity.WARNING, message=f"{finding.message}; {doubt}")
    return finding


def _of_one_machine(
    finding: Finding, configuration: Configuration, context: int | None, others: Iterable[tuple[Cluster, str]]
) -> Finding:
    """An error that does not hold on another machine that the task may get, or that the text names beside it."""
    for cluster, why in others:
        if why not in (OFFERED, BESIDE, APART):
            continue
        errors = judge(replace(configuration, cluster=cluster), context=context).errors
        if not any((each.code, each.where) == (finding.code, finding.where) for each in errors):
            message = f"{finding.message}; on {cluster.name}, {why}, this does not hold"
            kind = configuration.cluster.name.rpartition("x")[2]
            of_list = f"leave {kind} out of the list" if why == OFFERED else f"take {cluster.name}"
            remedy = of_list + (f", or {finding.remedy}" if finding.remedy else "")
            return replace(finding, severity=Severity.WARNING, message=message, remedy=remedy)
    return finding


def _doubt(
    finding: Finding,
    configuration: Configuration,
    memory: Memory,
    context: int | None,
    calibrations: Sequence[Calibration],
    others: Iterable[tuple[Cluster, str]],
) -> str:
    facts = configuration.engine
    if finding.where == "max_model_len" and starts_shorter(memory, facts):
        return "the engine starts, and takes no longer request than that"
    holds_weights = memory.weights_bytes < memory.device_bytes  # else no fraction is enough
    if finding.where == facts.memory_fraction_name and holds_weights and _chooses_fraction(configuration):
        return "the engine chooses this fraction itself, and by another rule in some releases"
    if configuration.device.platform is Platform.ASCEND and not memory.measured:
        # No start on such devices was measured, so only what weights and cache take is certain.
        tokens = memory.kv_tokens.value
        cache = memory.kv_bytes.value * memory.context / tokens if tokens >= 1 else 0.0
        if memory.weights_bytes + cache <= memory.budget_bytes:
            return "what else is needed was not measured on such devices"
    for cluster, why in others:
        there = replace(configuration, cluster=cluster)
        other = judge(there, context=context, calibrations=tuple(calibrations))
        if other.memory is not None and other.memory.fits:
            but = _refused_there(other, configuration, context)
            return f"on {cluster.name}, {why}, it fits" + (f", but there {but}" if but else "")
    return ""


def _refused_there(other: Judgement, configuration: Configuration, context: int | None) -> str:
    """What ends the start on other devices alone, as a kernel that they do not have; "" for nothing."""
    errors = [each for each in other.errors if each.code not in OF_MEMORY]
    here = {(each.code, each.where) for each in judge(configuration, context=context).errors} if errors else set()
    error = next((each for each in errors if (each.code, each.where) not in here), None)
    if error is None:
        return ""
    return f"{error.message} ({error.remedy})" if error.remedy else error.message


def starts_shorter(memory: Memory, facts: EngineFacts) -> bool:
    """Whether an engine starts with what is left, and takes no longer request than that."""
    return not facts.needs_whole_context and not facts.reserves_kv and memory.kv_tokens.high >= 1


def _chooses_fraction(configuration: Configuration) -> bool:
    facts = configuration.engine
    is_static = facts.memory_fraction_name == "gpu_memory_utilization" and not facts.needs_whole_context
    return is_static and configuration.settings.gpu_memory_utilization is None


def beside_memory(judgement: Judgement) -> tuple[Finding, ...]:
    """What holds whatever the memory is."""
    of_all = OF_MEMORY | {Code.ILLEGAL_LAYOUT}
    counted = ("tp", "pp", "dp")  # idle devices
    return tuple(
        finding for finding in judgement.findings if finding.code not in of_all and finding.where not in counted
    )


def but_memory(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(finding for finding in findings if finding.code not in OF_MEMORY)


def as_started(judgement: Judgement, facts: EngineFacts, held: int | None, is_said: Callable[[], bool]) -> Judgement:
    """Without an estimate that a log of the text contradicts, which holds so many tokens (None: there is none), or that
    the text does."""
    memory = judgement.memory
    short = memory is not None and not memory.fits and not starts_shorter(memory, facts)
    if memory is None or not (short or memory.tight) or not (held is not None or is_said()):
        return judgement
    if not short:
        return _but_tight_outside(judgement)
    return replace(judgement, memory=None, unjudged=started(held), findings=but_memory(judgement.findings))


def _but_tight_outside(judgement: Judgement) -> Judgement:
    """Without doubt of what runs outside of the memory fraction, where the text says that it runs."""
    memory = judgement.memory
    if memory is None or memory.outside is None or not memory.tight or memory.outside.lacks or memory.outside.told:
        return judgement
    kept = replace(memory, outside=None)
    findings = tuple(finding for finding in judgement.findings if not _is_of_outside(finding))
    return judgement if kept.tight else replace(judgement, memory=kept, findings=findings)


def _is_of_outside(finding: Finding) -> bool:
    return finding.code is Code.TIGHT and "outside of the memory fraction" in finding.message


def started(tokens: int | None) -> str:
    """Why an estimate is not shown that a log contradicts, or what the text says (None)."""
    if tokens is None:
        return "by moonpad's estimate it does not fit, by the text it starts: the text counts"
    held = f" with a KV cache of {tokens:,} tokens" if tokens else ""
    return f"by moonpad's estimate it does not fit, by the log in the text it started{held}: the log counts"
