"""What a spec needs of each of its hosts; as much as is known where its checkpoint or its engine is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from moonpad.checkpoints.completeness import inspect
from moonpad.checkpoints.resolve import checkpoint_folder
from moonpad.doctor.examine import Host
from moonpad.doctor.need import Need
from moonpad.engines import ENGINES
from moonpad.environments.installed import InstalledEngine
from moonpad.plan.from_spec import unjudged_plan
from moonpad.run.planning import PlannedSpec, cluster_of, plan_spec
from moonpad.run.prepare import find_engine
from moonpad.run.ssh_hosts import SshHost
from moonpad.spec.loader import LoadedSpec
from moonpad.spec.schema import HostTable, Spec
from moonpad.values.deployment import Deployment, Executable, Process, Role
from moonpad.values.errors import MoonpadError, PreflightRefused, UsageError
from moonpad.values.finding import Code, Finding
from moonpad.values.plan import Plan

THIS: Final = "this host"


@dataclass(frozen=True, slots=True)
class Needs:
    """`findings` are those of the spec itself, which hold on every host."""

    hosts: tuple[Host, ...]
    of_node: dict[str, Need]
    findings: tuple[Finding, ...] = ()


def nothing_needed() -> Needs:
    """Without a spec: this host alone."""
    return Needs((Host(THIS),), {THIS: Need()})


def needs_of(loaded: LoadedSpec) -> Needs:
    """What stands in the way of a plan is among the findings.

    Raises:
        SpecError: the spec cannot be read.
        UsageError: it has prefill and decode pools, whose hosts it does not name.
    """
    spec = loaded.spec
    if spec.prefill is not None:
        raise UsageError(
            "prefill and decode pools are rendered for hosts that the spec does not name",
            remedy="moonpad doctor --host NAME looks at each of them",
        )
    plan, findings = _plan(loaded)
    installed = find_engine(loaded)
    if isinstance(installed, PreflightRefused) and not spec.engine.image:
        findings = (*findings, *installed.findings)
    engine = ENGINES[spec.engine.name]
    version = plan.engine_version or (installed.version if isinstance(installed, InstalledEngine) else "")
    files = inspect(checkpoint_folder(loaded))
    findings += tuple(
        each for each in files.findings if each.code is not Code.CHECKPOINT_MISSING
    )  # each host says that
    here = str(installed.path) if isinstance(installed, InstalledEngine) else ""
    tables: list[HostTable | None] = [*spec.hosts] or [None]
    names = tuple(dict.fromkeys(table.address for table in spec.hosts))
    deployment = _deployment(spec, plan)
    hosts, of_node = [], {}
    for rank, table in enumerate(tables):
        node = f"node-{rank}" if spec.hosts else THIS
        processes = [each for each in deployment if each.rank == rank or not spec.hosts]
        engines = [each for each in processes if each.role is not Role.ROUTER]
        first = engines[0].needs if engines else None
        of_node[node] = Need(
            engine=engine.name,
            version=version.partition("+")[0],
            platform=plan.platform,
            devices=first.devices if first else None,
            nodes=len(tables),
            tp=min(plan.layout.tp, first.devices or 1) if first else 1,
            checkpoint=_of(table, "checkpoint_folder") or str(files.folder),
            weights_bytes=files.weights_bytes or None,
            load_budget_s=plan.start_budget_s or None,
            memory_bytes=sum(each.needs.memory_bytes for each in engines),
            engine_folder="" if spec.engine.image else _of(table, "engine_folder") or here,
            image=spec.engine.image or "",
            ports=_ports(processes),
            address=table.address if table else "",
            names=names,
        )
        ssh = SshHost(node, table.ssh, table.port, table.jump) if table and table.ssh else None
        wanted = tuple(
            port.preferred for each in engines for port in each.ports if port.reach == "cluster" and port.preferred
        )
        hosts.append(Host(node, table.address if table else "", ssh, wanted))
    return Needs(tuple(hosts), of_node, findings)


def _plan(loaded: LoadedSpec) -> tuple[Plan, tuple[Finding, ...]]:
    try:
        planned: PlannedSpec = plan_spec(loaded)
        return planned.plan, ()
    except MoonpadError as error:
        findings = getattr(error, "findings", ())
        return unjudged_plan(loaded.spec, cluster_of(loaded.spec)), findings


def _deployment(spec: Spec, plan: Plan) -> tuple[Process, ...]:
    engine = ENGINES[spec.engine.name]
    deployment: Deployment = engine.processes(plan, Executable((engine.command,)))
    return deployment.processes


def _ports(processes: list[Process]) -> dict[int, str]:
    return {
        port.preferred: f"{port.name} of {process.name}"
        for process in processes
        for port in process.ports
        if port.preferred
    }


def _of(table: HostTable | None, name: str) -> str:
    return str(getattr(table, name) or "") if table else ""
