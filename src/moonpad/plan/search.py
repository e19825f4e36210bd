"""Every engine and layout for a checkpoint on a cluster: what fits, best first, and what does not, with its reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from moonpad.catalog.calibrations import Calibration
from moonpad.engines import ENGINES
from moonpad.engines.base import Engine
from moonpad.plan.candidate import Candidate
from moonpad.plan.judge import Found, judge, layouts_of
from moonpad.plan.order import PREFERENCE, rank
from moonpad.plan.reasons import reasons_of
from moonpad.plan.references import nearest_published
from moonpad.plan.request import Request
from moonpad.plan.shortage import larger_clusters, missing_bytes, ways_out
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.choice import Answer, Choice, Published, Refused
from moonpad.values.cluster import Cluster
from moonpad.values.deployment import Executable
from moonpad.values.errors import PreflightRefused, UsageError
from moonpad.values.finding import Code


@dataclass(frozen=True, slots=True)
class Known:
    """What the catalogue and the machine know. `code_in_checkpoint`: it brings Python that the engine must run."""

    version_of: Callable[[Engine], str] = lambda engine: ""
    calibrations: tuple[Calibration, ...] = ()
    published: Sequence[Published] = ()
    code_in_checkpoint: bool = False
    engines: Mapping[str, Engine] = field(default_factory=lambda: ENGINES)


def search(checkpoint: Checkpoint, cluster: Cluster, request: Request, known: Known) -> Answer:
    """All that fits, and of what does not the nearest miss of each engine; with `every_layout` all of both.

    Raises:
        UsageError: the engine that was named is none.
    """
    found: list[Found] = []
    refused: list[tuple[Candidate, Refused]] = []
    for candidate in _candidates(checkpoint, cluster, request, known):
        for layout in layouts_of(candidate):
            judged = judge(candidate, layout)
            if isinstance(judged, Found):
                found.append(judged)
            else:
                refused.append((candidate, judged))
    found.sort(key=lambda one: rank(one.choice, request.goal, cluster, checkpoint.architecture))
    kept, unsaid = _kept(found, request)
    refused += unsaid
    engines = tuple(dict.fromkeys(one.choice.plan.engine for one in kept))
    choices = tuple(_explained(one, engines, known) for one in kept)
    return Answer(
        checkpoint.name, cluster.name, request.goal, choices, tuple(_misses(refused, engines, request, known))
    )


def _candidates(checkpoint: Checkpoint, cluster: Cluster, request: Request, known: Known) -> Iterator[Candidate]:
    for name in _engine_names(cluster, request, known):
        engine = known.engines[name]
        version = request.engine_version or known.version_of(engine)
        yield Candidate(checkpoint, cluster, engine, version, request, known.calibrations, known.code_in_checkpoint)


def _engine_names(cluster: Cluster, request: Request, known: Known) -> tuple[str, ...]:
    if request.engine == "auto":
        platform = cluster.device.platform
        return tuple(name for name in PREFERENCE if name in known.engines and platform in known.engines[name].platforms)
    if request.engine not in known.engines:
        raise UsageError(f"there is no engine {request.engine}", remedy=f"one of {', '.join(known.engines)}")
    return (request.engine,)


def _kept(found: Sequence[Found], request: Request) -> tuple[list[Found], list[tuple[Candidate, Refused]]]:
    """Those to show, in order. Without `every_layout` no two that differ in how far experts or the KV cache are spread,
    none that is tight where others are not.

    An engine that cannot be told a plan refuses it here.
    """
    kept: list[Found] = []
    unsaid: list[tuple[Candidate, Refused]] = []
    kinds: set[tuple[object, ...]] = set()
    for one in found:
        plan = one.choice.plan
        layout = plan.layout
        kind = (plan.engine, layout.tp, layout.pp, layout.dp, layout.dcp > 1)
        if not request.every_layout:
            tight = one.choice.confidence == "tight" and bool(kept) and kept[0].choice.confidence != "tight"
            if kind in kinds or tight:
                continue
        try:
            one.candidate.engine.processes(plan, Executable((one.candidate.engine.command,)))
        except PreflightRefused as error:
            findings = error.findings
            unsaid.append((one.candidate, Refused(plan.engine, layout, findings, one.choice.memory)))
            continue
        kinds.add(kind)
        kept.append(one)
    return kept, unsaid


def _explained(found: Found, engines: Sequence[str], known: Known) -> Choice:
    candidate, plan = found.candidate, found.choice.plan
    references = nearest_published(
        known.published, candidate.checkpoint.name, candidate.cluster, plan.engine, plan.layout
    )
    return replace(found.choice, reasons=reasons_of(found, engines, known.published), references=references)


def _misses(
    refused: Sequence[tuple[Candidate, Refused]], fitting: Sequence[str], request: Request, known: Known
) -> Iterator[Refused]:
    """By how much they miss, the nearest first; without `every_layout` one of each engine that has no plan.

    Where nothing fits, the nearest ones say what would help.
    """
    by_need = sorted(refused, key=lambda one: (*_distance(one[1]), one[1].layout.ep))
    said: set[str] = set(() if request.every_layout else fitting)
    for candidate, one in by_need:
        if one.engine in said and not request.every_layout:
            continue
        first = one.engine not in said
        said.add(one.engine)
        yield _with_remedy(candidate, one, known) if first and not fitting else one


def _distance(one: Refused) -> tuple[bool, bool, float]:
    """What misses memory alone stands before what no rule allows; what was measured before what was calculated."""
    if one.memory is None or not any(finding.code is Code.DOES_NOT_FIT for finding in one.findings):
        return (True, True, 0.0)
    return (False, not one.memory.measured, missing_bytes(one.memory, one.layout))


def _with_remedy(candidate: Candidate, one: Refused, known: Known) -> Refused:
    if not any(finding.code is Code.DOES_NOT_FIT for finding in one.findings):
        return one
    remedy = ways_out(candidate, one.layout, lambda: _smallest(candidate))
    return replace(one, findings=tuple(replace(finding, remedy=finding.remedy or remedy) for finding in one.findings))


def _smallest(candidate: Candidate) -> Cluster | None:
    """The smallest cluster of the same devices on which the same engine surely or likely fits what was asked for."""
    request = replace(candidate.request, layout={}, every_layout=False)
    for cluster in larger_clusters(candidate.cluster):
        larger = replace(candidate, cluster=cluster, request=request)
        for layout in layouts_of(larger):
            judged = judge(larger, layout)
            if isinstance(judged, Found) and judged.choice.confidence != "tight":
                return cluster
    return None
