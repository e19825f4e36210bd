"""Compares the memory that a run's plan expects with what the engine's log reports afterwards."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from typing import Final

from moonpad.catalog.calibrations import Calibration, calibrations
from moonpad.facts.device import DeviceFacts
from moonpad.facts.devices import detect_cluster
from moonpad.facts.probe import Unknown
from moonpad.plan.effective_settings import default_settings
from moonpad.plan.judgement import Judgement, judge
from moonpad.run.prepare import Prepared
from moonpad.store.calibrations import keep_calibration, kv_bytes_of_log, own_calibrations
from moonpad.store.run_folder import RunFolder
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Cluster
from moonpad.values.configuration import Configuration
from moonpad.values.finding import Code, Finding
from moonpad.values.memory import Memory
from moonpad.values.plan import Settings

OF_THE_DEVICES: Final = frozenset({Code.DOES_NOT_FIT, Code.TIGHT, Code.MEMORY_LOW})


@dataclass(frozen=True, slots=True)
class Expected:
    """What the devices that are here hold, as `judgement` has it."""

    judgement: Judgement
    memory: Memory

    @property
    def checkpoint(self) -> Checkpoint:
        return self.judgement.configuration.checkpoint

    @property
    def cluster(self) -> Cluster:
        return self.judgement.configuration.cluster


def expect(prepared: Prepared, there: DeviceFacts | Unknown | None) -> Expected | Unknown:
    """The planned memory of what is about to run here, from its own checkpoint and the detected devices.

    `there` None: the engine runs on a CPU.
    """
    cluster = detect_cluster(DeviceFacts() if there is None else there)
    plan, checkpoint = prepared.plan, prepared.planned.checkpoint
    if isinstance(cluster, Unknown):
        return cluster
    if isinstance(checkpoint, Unknown):
        return checkpoint
    version = prepared.engine_version or plan.engine_version
    judgement = judge(
        Configuration(checkpoint, cluster, prepared.engine.facts, version, plan.layout, plan.settings),
        calibrations=(*calibrations(), *own_calibrations()),
        despite=prepared.despite,
    )
    if judgement.memory is None:
        return Unknown(judgement.unjudged)
    return Expected(judgement, judgement.memory)


def start_findings(prepared: Prepared, expected: Expected | Unknown) -> tuple[Finding, ...]:
    """What the judge says of this start: on the devices that are here, where they are known."""
    planned = prepared.planned.findings
    if isinstance(expected, Unknown):
        return planned
    here = tuple(replace(finding, where=f"settings.{finding.where}") for finding in expected.judgement.findings)
    return (*(finding for finding in planned if finding.code not in OF_THE_DEVICES), *here)


def write_expected(folder: RunFolder, expected: Expected | Unknown) -> None:
    """What `status` shows beside what was measured."""
    document = (
        {"unknown": expected.reason}
        if isinstance(expected, Unknown)
        else {"checkpoint": expected.checkpoint.name, "cluster": expected.cluster.name, **expected.memory.as_json()}
    )
    folder.write_memory(document)


def keep_measured(folder: RunFolder, prepared: Prepared, expected: Expected | Unknown) -> None:
    """Keeps the KV cache size that the engine reported, if it did, for later plans."""
    figures: dict[str, str] = {}
    for event in folder.events():
        figures |= {name: str(event[name]) for name in ("kv_gib", "kv_set_gib", "kv_tokens") if name in event}
    kv_gib = figures.get("kv_gib") or figures.get("kv_set_gib")
    if isinstance(expected, Unknown) or kv_gib is None or not float(kv_gib) > 0.01:
        return
    kv_bytes, low, high = kv_bytes_of_log(float(kv_gib))
    calibration = Calibration(
        id=folder.run_id,
        engine=prepared.plan.engine,
        engine_version=prepared.engine_version or prepared.plan.engine_version,
        model=expected.checkpoint.name,
        scheme=expected.checkpoint.quantization.scheme,
        device=expected.cluster.device.id,
        layout=prepared.plan.layout,
        settings=_in_force(expected, prepared),
        kv_bytes=kv_bytes,
        kv_bytes_low=low,
        kv_bytes_high=high,
        source=f"run {folder.run_id}",
        checked=time.strftime("%Y-%m-%d"),
        standing="verified",
        kv_tokens=int(figures["kv_tokens"]) if "kv_tokens" in figures else None,
    )
    keep_calibration(calibration, expected.memory.kv_tokens.value)


def _in_force(expected: Expected, prepared: Prepared) -> Settings:
    """The plan's settings, with the engine's own defaults where it says nothing."""
    named = {name: value for name, value in asdict(prepared.plan.settings).items() if value is not None}
    return replace(default_settings(expected.judgement.configuration), **named)
