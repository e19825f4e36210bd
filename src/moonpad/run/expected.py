"""What the plan of a run expects of its memory, and what the engine's log says of it afterwards."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace

from moonpad.catalog.calibrations import calibrations
from moonpad.catalog.clusters import parse_cluster
from moonpad.facts.device import DeviceFacts
from moonpad.facts.devices import detect_cluster, this_host
from moonpad.facts.probe import Unknown
from moonpad.plan.limits import default_settings
from moonpad.plan.memory import memory_of
from moonpad.plan.shortfall import sentence
from moonpad.run.prepare import Prepared
from moonpad.store.calibrations import keep_calibration, measured, own_calibrations
from moonpad.store.run_folder import RunFolder
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Cluster
from moonpad.values.errors import PreflightRefused
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.memory import Memory
from moonpad.values.plan import Layout, Settings


@dataclass(frozen=True, slots=True)
class Expected:
    checkpoint: Checkpoint
    cluster: Cluster
    memory: Memory


def expect(prepared: Prepared, there: DeviceFacts | Unknown | None) -> Expected | Unknown:
    """The planned memory of what is about to run here, from its own checkpoint and the devices that are there.

    `there` None: the engine runs on a CPU.
    """
    cluster = _cluster(there)
    if isinstance(cluster, Unknown):
        return cluster
    plan, checkpoint = prepared.plan, prepared.described
    if isinstance(checkpoint, Unknown):
        return checkpoint
    try:
        memory = memory_of(
            checkpoint,
            cluster,
            plan.engine,
            prepared.engine_version or plan.engine_version,
            plan.layout,
            plan.settings,
            calibrations=(*calibrations(), *own_calibrations()),
        )
    except PreflightRefused as refused:
        return Unknown(refused.message)
    return Expected(checkpoint, cluster, memory)


def memory_findings(expected: Expected | Unknown, layout: Layout) -> tuple[Finding, ...]:
    """An engine that finds out by itself that its memory is too small does so minutes after the start."""
    if isinstance(expected, Unknown):
        return ()
    memory = expected.memory
    if memory.fits and not memory.tight:
        return ()
    where = "settings.max_model_len"
    if memory.fits:
        return (Finding(Severity.WARNING, Code.TIGHT, where, sentence(memory, layout), "lower it to be sure"),)
    longest = int(memory.max_context.high)
    remedy = f"set max_model_len to at most {longest}" if longest > 0 else "moonpad plan says what would fit"
    return (Finding(Severity.ERROR, Code.DOES_NOT_FIT, where, sentence(memory, layout), remedy),)


def write_expected(folder: RunFolder, expected: Expected | Unknown) -> None:
    """What `status` shows beside what was measured."""
    document = (
        {"unknown": expected.reason}
        if isinstance(expected, Unknown)
        else {"checkpoint": expected.checkpoint.name, "cluster": expected.cluster.name, **expected.memory.as_json()}
    )
    folder.write_memory(document)


def keep_measured(folder: RunFolder, prepared: Prepared, expected: Expected | Unknown) -> None:
    """Keeps what the engine said of its KV cache, for the plans to come. Nothing where it said nothing."""
    figures: dict[str, str] = {}
    for event in folder.events():
        figures |= {name: str(event[name]) for name in ("kv_gib", "kv_set_gib", "kv_tokens") if name in event}
    kv_gib = figures.get("kv_gib") or figures.get("kv_set_gib")
    if isinstance(expected, Unknown) or kv_gib is None or not float(kv_gib) > 0.01:
        return
    one = measured(
        run_id=folder.run_id,
        engine=prepared.plan.engine,
        engine_version=prepared.engine_version or prepared.plan.engine_version,
        model=expected.checkpoint.name,
        scheme=expected.checkpoint.quantization.scheme,
        device=expected.cluster.device.id,
        layout=prepared.plan.layout,
        settings=_in_force(expected, prepared),
        kv_gib=float(kv_gib),
        kv_tokens=int(figures["kv_tokens"]) if "kv_tokens" in figures else None,
        checked=time.strftime("%Y-%m-%d"),
    )
    keep_calibration(one, expected.memory.kv_tokens.value)


def _in_force(expected: Expected, prepared: Prepared) -> Settings:
    """The plan's settings, with the engine's own defaults where it says nothing."""
    plan, version = prepared.plan, prepared.engine_version or prepared.plan.engine_version
    defaults = default_settings(expected.checkpoint, expected.cluster.device, plan.engine, version, plan.layout)
    said = {name: value for name, value in asdict(plan.settings).items() if value is not None}
    return replace(defaults, **said)


def _cluster(there: DeviceFacts | Unknown | None) -> Cluster | Unknown:
    if there is None:
        return replace(parse_cluster("cpu"), host=this_host(), detected=True)
    return detect_cluster(there, this_host())
