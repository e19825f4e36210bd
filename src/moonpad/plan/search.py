"""Every engine and layout for a checkpoint on a cluster: what fits, best first, and what does not, with its reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct, field

from moonpad.catalog.calibrations import Calibration
from moonpad.catalog.models import native_siblings
from moonpad.engines import ENGINES
from moonpad.engines.base import Engine
from moonpad.plan.candidate import Candidate
from moonpad.plan.capacity_errors import larger_clusters, missing_bytes, ways_out
from moonpad.plan.layout_plan import Fit, layouts_of, plan_layout
from moonpad.plan.nearest_results import nearest_published
from moonpad.plan.ranking import rank
from moonpad.plan.reasons import reasons_of
from moonpad.plan.request import Request
from moonpad.plan.siblings import sibling_of
from moonpad.plan.tensors import catalog_checkpoint
from moonpad.plan.trade import trade_of
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Cluster
from moonpad.values.configuration import Configuration
from moonpad.values.deployment import Executable
from moonpad.values.errors import PreflightRefused, UsageError
from moonpad.values.finding import Code, errors_of
from moonpad.values.plan import Layout, Plan, Settings
from moonpad.values.plan_answer import Answer, Choice, Published, Refused, Sibling
from moonpad.values.records import replace


class Known(Struct, frozen=True):
    """What the catalogue and the machine know. `code_in_checkpoint`: it brings Python that the engine must run."""

    version_of: Callable[[Engine], str] = lambda engine: ""
    calibrations: tuple[Calibration, ...] = ()
    published: Sequence[Published] = ()
    code_in_checkpoint: bool = False
    engines: Mapping[str, Engine] = field(default_factory=lambda: ENGINES)
    finish: Callable[[Plan], Plan] = lambda plan: plan
    """What a spec says of a plan besides layout and settings: its name, its endpoint, the engine's own arguments."""


def search(checkpoint: Checkpoint, cluster: Cluster, request: Request, known: Known) -> Answer:
    """All that fits, and of what does not the nearest miss of each engine; with `every_layout` all of both.

    Raises:
        UsageError: no engine has the name.
    """
    fits: list[Fit] = []
    misses: list[Miss] = []
    for candidate in _candidates(checkpoint, cluster, request, known):
        for layout in layouts_of(candidate):
            outcome = plan_layout(candidate, layout, known.finish)
            if isinstance(outcome, Fit):
                fits.append(outcome)
            else:
                misses.append((candidate, outcome))
    fits.sort(key=lambda fit: rank(fit.choice, request.goal, cluster, checkpoint.architecture))
    shown, unwritable = _shown(fits, request)
    engines = tuple(dict.fromkeys(fit.choice.plan.engine for fit in shown))
    # Of hundreds of plans only the first one's trade is shown.
    choices = tuple(
        _explained(fit, known.published, trade=place == 0 or not request.every_layout)
        for place, fit in enumerate(shown)
    )
    refused = tuple(_nearest_misses([*misses, *unwritable], engines, request))
    siblings = tuple(_siblings(checkpoint, cluster, request, known, shown))
    return Answer(checkpoint.name, cluster.name, request.goal, choices, refused, siblings)


def _siblings(
    checkpoint: Checkpoint, cluster: Cluster, request: Request, known: Known, shown: Sequence[Fit]
) -> Iterator[Sibling]:
    """With the layout and settings of the first plan; where that is none for it, with the best of its own."""
    for model in native_siblings(checkpoint.name, cluster.device):
        sibling = catalog_checkpoint(model)
        beside = None
        if shown and not shown[0].choice.experts_on_host:
            beside = sibling_of(model, replace(shown[0].candidate.base, checkpoint=sibling), shown[0].choice)
        if beside is not None and beside.memory is not None:
            yield beside
        elif choices := search(sibling, cluster, replace(request, every_layout=False), known).choices:
            plan, memory = choices[0].plan, choices[0].memory
            about = sibling.quantization.scheme, plan.engine, plan.layout, memory, ()
            yield Sibling(model.id, *about, model.source, model.standing, model.hub)
        elif beside is not None:
            yield beside


Miss = tuple[Candidate, Refused]


def _candidates(checkpoint: Checkpoint, cluster: Cluster, request: Request, known: Known) -> Iterator[Candidate]:
    for engine in _engines(checkpoint, cluster, request, known):
        version = request.engine_version or known.version_of(engine)
        base = Configuration(checkpoint, cluster, engine.facts, version, Layout(), Settings(), request.draft)
        yield Candidate(base, engine, request, known.calibrations, known.code_in_checkpoint)


def _engines(checkpoint: Checkpoint, cluster: Cluster, request: Request, known: Known) -> tuple[Engine, ...]:
    if request.engine == "auto":
        here = [engine for engine in known.engines.values() if cluster.device.platform in engine.platforms]
        able = [engine for engine in here if not engine.facts.gguf_only or checkpoint.quantization.scheme == "gguf"]
        return tuple(sorted(able, key=lambda engine: engine.facts.preference))
    if request.engine not in known.engines:
        raise UsageError(f"there is no engine {request.engine}", remedy=f"one of {', '.join(known.engines)}")
    return (known.engines[request.engine],)


def _shown(fits: Sequence[Fit], request: Request) -> tuple[list[Fit], list[Miss]]:
    """Those to show, in order. Without `every_layout` no two that differ in how far experts or the KV cache are spread,
    none that is tight where others are not.

    An engine that cannot be told a plan refuses it here.
    """
    shown: list[Fit] = []
    unwritable: list[Miss] = []
    kinds: set[tuple[object, ...]] = set()
    for fit in fits:
        plan, layout = fit.choice.plan, fit.choice.plan.layout
        kind = (plan.engine, layout.tp, layout.pp, layout.dp, layout.dcp > 1)
        if not request.every_layout:
            tight = fit.choice.confidence == "tight" and bool(shown) and shown[0].choice.confidence != "tight"
            if kind in kinds or tight:
                continue
        try:
            fit.candidate.engine.processes(plan, Executable((fit.candidate.engine.command,)))
        except PreflightRefused as error:
            refused = Refused(plan.engine, layout, error.findings, fit.choice.memory)
            unwritable.append((fit.candidate, refused))
            continue
        kinds.add(kind)
        shown.append(fit)
    return shown, unwritable


def _explained(fit: Fit, published: Sequence[Published], *, trade: bool) -> Choice:
    checkpoint, cluster, plan = fit.candidate.checkpoint, fit.candidate.cluster, fit.choice.plan
    references = nearest_published(published, checkpoint.name, cluster, plan.engine, plan.layout)
    return replace(
        fit.choice,
        reasons=tuple(reasons_of(fit, published)),
        references=references,
        trade=trade_of(fit.candidate, plan.layout, plan.settings, fit.choice.memory) if trade else (),
    )


def _nearest_misses(misses: Sequence[Miss], fitting: Sequence[str], request: Request) -> Iterator[Refused]:
    """By how much they miss, the nearest first; without `every_layout` one of each engine that has no plan.

    Where nothing fits, the nearest ones say what would help.
    """
    reported: set[str] = set(() if request.every_layout else fitting)
    for candidate, refused in sorted(misses, key=lambda miss: (*_distance(miss[1]), miss[1].layout.ep)):
        if refused.engine in reported and not request.every_layout:
            continue
        first = refused.engine not in reported
        reported.add(refused.engine)
        yield _with_remedy(candidate, refused) if first and not fitting else refused


def _distance(refused: Refused) -> tuple[bool, bool, float]:
    """What misses memory alone stands before what no rule allows; what was measured before what was calculated."""
    if refused.memory is None or any(finding.code is not Code.DOES_NOT_FIT for finding in errors_of(refused.findings)):
        return (True, True, 0.0)
    return (False, not refused.memory.measured, missing_bytes(refused.memory, refused.layout))


def _with_remedy(candidate: Candidate, refused: Refused) -> Refused:
    if all(finding.code is not Code.DOES_NOT_FIT for finding in refused.findings):
        return refused
    remedy = ways_out(candidate, refused.layout, lambda: _smallest(candidate))
    findings = tuple(replace(finding, remedy=finding.remedy or remedy) for finding in refused.findings)
    return replace(refused, findings=findings)


def _smallest(candidate: Candidate) -> Cluster | None:
    """The smallest cluster of the same devices on which the same engine surely or likely fits what was asked for."""
    request = replace(candidate.request, layout={}, every_layout=False)
    for cluster in larger_clusters(candidate.cluster):
        larger = replace(candidate, base=replace(candidate.base, cluster=cluster), request=request)
        for layout in layouts_of(larger):
            outcome = plan_layout(larger, layout)
            if isinstance(outcome, Fit) and outcome.choice.confidence != "tight":
                return cluster
    return None
