"""What a spec would start: for `moonpad plan SPEC` and `moonpad up --dry-run`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from moonpad.catalog.clusters import parse_cluster
from moonpad.checkpoints.draft import draft_of
from moonpad.checkpoints.resolve import checkpoint_folder
from moonpad.cli.named_inputs import Model, find_model, typed_path
from moonpad.cli.output import emit, next_command, note_findings
from moonpad.cli.plan import PlanOptions
from moonpad.cli.plan_inputs import find_answer, make_request
from moonpad.engines import ENGINES
from moonpad.plan.from_spec import finished, request_of
from moonpad.plan.replicas import routed, router_of
from moonpad.plan.request import Request
from moonpad.report.plan_commands import commands_of
from moonpad.run.planning import cluster_of, known_checkpoint, plan_spec
from moonpad.spec.loader import LoadedSpec, load_spec
from moonpad.spec.schema import Spec
from moonpad.values.cluster import Cluster
from moonpad.values.deployment import Executable
from moonpad.values.finding import Code
from moonpad.values.plan_answer import Answer
from moonpad.values.records import replace
from moonpad.values.visible_text import shell_word


def answer_of_spec(
    loaded: LoadedSpec, named: str | None, options: PlanOptions, *, every: bool
) -> tuple[Model, Cluster, Request, Answer]:
    """What `up` would start, and what else would fit; the options override what the spec fixes."""
    spec = loaded.spec
    model = model_of_spec(loaded, named)
    cluster = parse_cluster(options.on) if options.on else cluster_of(spec)
    request = make_request(options, replace(request_of(spec), draft=draft_of(loaded)), every_layout=every)
    return model, cluster, request, find_answer(model, cluster, request, lambda plan: finished(spec, plan))


def model_of_spec(loaded: LoadedSpec, named: str | None) -> Model:
    """The model that the spec serves, or another that is named beside it."""
    if named is not None:
        return find_model(named, typed_path(named))
    spec, checkpoint, folder = loaded.spec, known_checkpoint(loaded), checkpoint_folder(loaded)
    argument = str(folder) if folder.is_dir() else checkpoint.name
    return Model(checkpoint, spec.model, argument, spec.trust_remote_code, folder.is_dir())


def router_of_spec(spec: Spec) -> dict[str, Any] | None:
    """The router that the spec has before several copies of the plan; None without one."""
    found = router_of(spec)
    if found is None:
        return None
    router, table = found
    return {"name": router.name, "policy": table.policy or router.policies[0], "replicas": table.replicas}


def router_sentence(router: Mapping[str, Any]) -> str:
    copies = "1 copy" if router["replicas"] == 1 else f"{router['replicas']} copies"
    return f"{copies} of the plan behind {router['name']} ({router['policy']}), each with its share of the machine."


def run_dry(spec: Path, despite: frozenset[Code], *, json: bool) -> None:
    """`moonpad up --dry-run`."""
    loaded = load_spec(spec)
    planned = plan_spec(loaded, despite=despite)
    engine = ENGINES[planned.plan.engine]
    runtime = Executable((engine.command,))
    if found := router_of(loaded.spec):
        deployment = routed(loaded.spec, engine, planned.plan, runtime, Executable((found[0].command,)))
    else:
        deployment = engine.processes(planned.plan, runtime)
    commands = commands_of(deployment, loaded.spec.model, here=True)
    findings = [finding.as_json() for finding in planned.findings]
    processes = [command.as_json() for command in commands]
    if not json:
        note_findings(planned.findings)
    text = "\n".join(line for command in commands for line in command.lines())
    emit(text, {"changed": False, "processes": processes, "findings": findings}, json=json)
    if not json:
        next_command(f"moonpad up {shell_word(spec)}")
