"""Compares the memory that a run's plan expects with what the engine's log reports afterwards."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final

from moonpad.catalog.calibrations import calibrations
from moonpad.checkpoints.draft import draft_of
from moonpad.engines.start_log import number_of, over_ranks
from moonpad.facts.device import DeviceFacts
from moonpad.facts.devices import detect_cluster
from moonpad.facts.probe import Unknown
from moonpad.plan.judgement import Judgement, judge
from moonpad.plan.logged_figures import logged_kv_bytes, measured_start
from moonpad.run.prepare import Prepared
from moonpad.run.startable import Startable
from moonpad.store.calibrations import keep_calibration, own_calibrations
from moonpad.store.run_folder import RunFolder
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Cluster
from moonpad.values.configuration import Configuration
from moonpad.values.finding import Code, Finding
from moonpad.values.memory import Memory
from moonpad.values.records import replace

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
    draft = draft_of(prepared.loaded)
    judgement = judge(
        Configuration(checkpoint, cluster, prepared.engine.facts, version, plan.layout, plan.settings, draft),
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


def keep_measured(folder: RunFolder, prepared: Startable, expected: Expected | Unknown) -> None:
    """Keeps the KV cache size that the engine reported, if it did, for later plans."""
    measured: dict[str, list[tuple[str, float]]] = {}
    for event in folder.events():
        for name in ("kv_gib", "kv_set_gib", "kv_tokens"):
            if name in event and (value := number_of(str(event[name]))) is not None:
                measured.setdefault(name, []).append(("", value))
    figures = {name: over_ranks(name, values, prepared.log) for name, values in measured.items()}
    if "kv_set_gib" in figures:
        figures.setdefault("kv_gib", figures["kv_set_gib"])
    if isinstance(expected, Unknown) or not figures.get("kv_gib", 0.0) > 0.01:
        return
    configuration = expected.judgement.configuration
    kv_bytes = logged_kv_bytes(figures, configuration, expected.memory)
    if kv_bytes is None:
        return
    calibration = measured_start(
        configuration,
        kv_bytes,
        int(figures["kv_tokens"]) if "kv_tokens" in figures else None,
        id=folder.run_id,
        source=f"run {folder.run_id}",
        checked=time.strftime("%Y-%m-%d"),
        standing="verified",
    )
    keep_calibration(calibration, expected.memory.kv_tokens.value)
