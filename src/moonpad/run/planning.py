"""The plan of a spec: one answer for `plan`, `up` and `render`, so that what one of them refuses none of them runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from moonpad.catalog.clusters import parse_cluster
from moonpad.checkpoints.draft import draft_of
from moonpad.checkpoints.resolve import checkpoint_findings, described
from moonpad.engines import ENGINES
from moonpad.facts.probe import Unknown
from moonpad.plan.from_spec import finished, in_words_of_the_spec, request_of, unjudged_plan
from moonpad.plan.judgement import forgive
from moonpad.plan.replicas import shared
from moonpad.plan.search import search
from moonpad.run.knowledge import knowledge, local_cluster
from moonpad.spec.loader import LoadedSpec
from moonpad.spec.schema import Spec
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Cluster
from moonpad.values.errors import CheckpointError, PreflightRefused, UsageError
from moonpad.values.finding import Code, Finding, Severity, errors_of
from moonpad.values.plan import Plan
from moonpad.values.plan_answer import Choice
from moonpad.values.records import replace


@dataclass(frozen=True, slots=True)
class PlannedSpec:
    """`choice` None: nothing was judged, because the checkpoint is not known and a person overrode that."""

    plan: Plan
    cluster: Cluster
    checkpoint: Checkpoint | Unknown
    choice: Choice | None
    findings: tuple[Finding, ...]


def plan_spec(
    loaded: LoadedSpec,
    contents: Checkpoint | Unknown | None = None,
    *,
    despite: frozenset[Code] = frozenset(),
    installed_version: str | None = None,
) -> PlannedSpec:
    """What the spec runs: what it fixes, and for the rest the planner's best choice.

    `contents`: what the checkpoint's folder holds, where its headers were read already. `installed_version`: of the
    engine that is here, where it is judged to be started here. `despite`: errors with these codes do not stop it.

    Raises:
        PreflightRefused: the judge refuses it, with the findings.
        CheckpointError: the checkpoint is not the one that the spec asks for.
        UsageError: the spec is of two pools, which `plan_pools` plans.
    """
    spec = loaded.spec
    if spec.prefill is not None:
        raise UsageError(
            "prefill and decode pools can be planned and rendered, and are not started here yet",
            remedy="moonpad render SPEC.toml --to shell (or slurm, kubernetes) --out DIR",
        )
    checkpoint, findings = spec_checkpoint(loaded, contents, despite)
    version = spec.engine.version or installed_version or ""
    finish = partial(finished, spec)
    return plan_checkpoint(loaded, checkpoint, findings, cluster_of(spec), version, finish, despite)


def plan_checkpoint(
    loaded: LoadedSpec,
    checkpoint: Checkpoint | Unknown,
    findings: tuple[Finding, ...],
    cluster: Cluster,
    version: str,
    finish: Callable[[Plan], Plan],
    despite: frozenset[Code] = frozenset(),
) -> PlannedSpec:
    """The same for a checkpoint that was found already, with `findings` on it; `finish` as `Known` has it.

    Raises:
        PreflightRefused: the judge refuses it, with the findings.
    """
    spec = loaded.spec
    if isinstance(checkpoint, Unknown):
        plan = finish(replace(unjudged_plan(spec, cluster), engine_version=version))
        return PlannedSpec(plan, cluster, checkpoint, None, findings)
    request = replace(request_of(spec, despite), engine_version=version, draft=draft_of(loaded))
    answer = search(checkpoint, cluster, request, replace(knowledge(), finish=finish))
    if not answer.fits:
        errors = errors_of(answer.refused[0].findings) if answer.refused else ()
        raise PreflightRefused(
            f"{spec.engine.name} cannot serve this spec on {cluster.name}",
            findings=tuple(in_words_of_the_spec(finding, spec) for finding in errors),
        )
    choice = answer.choices[0]
    # Nothing is assumed of an environment or an image whose version is not known.
    plan = replace(choice.plan, engine_version=version)
    return PlannedSpec(plan, cluster, checkpoint, choice, (*findings, *choice.findings))


def spec_checkpoint(
    loaded: LoadedSpec, contents: Checkpoint | Unknown | None = None, despite: frozenset[Code] = frozenset()
) -> tuple[Checkpoint | Unknown, tuple[Finding, ...]]:
    """The checkpoint of the spec, and what is odd about it. Unknown only where `despite` allows it.

    Raises:
        PreflightRefused: it is not known.
        CheckpointError: it is not the one that the spec asks for.
    """
    spec, checkpoint = loaded.spec, contents or described(loaded)
    findings = forgive(tuple(checkpoint_findings(loaded, checkpoint)), despite)
    if isinstance(checkpoint, Unknown):
        unknown = Finding(
            Severity.ERROR,
            Code.CHECKPOINT_UNKNOWN,
            "model",
            f"{checkpoint.reason}, so neither the layout nor the memory can be judged",
            "name the checkpoint's folder on this machine, or a checkpoint that `moonpad catalog models` lists; "
            f"--despite {Code.CHECKPOINT_UNKNOWN} runs the spec as it is",
        )
        findings = (*forgive((unknown,), despite), *findings)
        if errors := errors_of(findings):
            raise PreflightRefused(f"the contents of {spec.model} are unknown", findings=errors)
    elif errors := errors_of(findings):
        raise CheckpointError(f"{spec.model} is not what the spec asks for", findings=errors)
    return checkpoint, findings


def known_checkpoint(loaded: LoadedSpec) -> Checkpoint:
    """Raises as `spec_checkpoint` does where nothing is overridden."""
    checkpoint, _ = spec_checkpoint(loaded)
    if isinstance(checkpoint, Unknown):
        raise TypeError("an unknown checkpoint is refused")
    return checkpoint


def cluster_of(spec: Spec) -> Cluster:
    """What the spec names, else what there is here, one machine for each of its hosts; of several copies behind a
    router, the part of one. Raises PreflightRefused: it names none, and what this machine has is not known; or it does
    not divide among the copies."""
    if spec.hardware.cluster is not None:
        return shared(parse_cluster(spec.hardware.cluster), spec)
    here = local_cluster(ENGINES[spec.engine.name], 'set [hardware] cluster, as in cluster = "8xH200"')
    return shared(replace(here, nodes=len(spec.hosts) or here.nodes), spec)
