"""Configurations as the tests write them, each part by itself, and what the planner says of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from moonpad.catalog.calibrations import Calibration
from moonpad.catalog.clusters import parse_cluster
from moonpad.engines import ENGINES
from moonpad.engines.attention_backends import chosen
from moonpad.plan import effective_settings, from_spec, layouts, memory, rules
from moonpad.plan.effective_settings import Limits
from moonpad.spec.schema import Spec
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Cluster, Device
from moonpad.values.configuration import Configuration
from moonpad.values.finding import Finding
from moonpad.values.memory import Memory
from moonpad.values.plan import Layout, Plan, Settings
from moonpad.values.platform import Platform


def configuration(
    checkpoint: Checkpoint, cluster: Cluster, engine: str, version: str, layout: Layout, settings: Settings
) -> Configuration:
    return Configuration(checkpoint, cluster, ENGINES[engine].facts, version, layout, settings)


def memory_of(
    checkpoint: Checkpoint,
    cluster: Cluster,
    engine: str,
    version: str,
    layout: Layout,
    settings: Settings,
    *,
    context: int | None = None,
    calibrations: Sequence[Calibration] = (),
) -> Memory:
    of = configuration(checkpoint, cluster, engine, version, layout, settings)
    return memory.memory_of(of, context=context, calibrations=calibrations)


def check(
    checkpoint: Checkpoint, cluster: Cluster, engine: str, version: str, layout: Layout, settings: Settings
) -> tuple[Finding, ...]:
    return rules.check(configuration(checkpoint, cluster, engine, version, layout, settings))


def legal_layouts(checkpoint: Checkpoint, cluster: Cluster, engine: str, version: str = "") -> Iterator[Layout]:
    return layouts.legal_layouts(configuration(checkpoint, cluster, engine, version, Layout(), Settings()))


def limits_of(
    checkpoint: Checkpoint, device: Device, engine: str, version: str, layout: Layout, settings: Settings
) -> Limits:
    cluster = Cluster(device.id, 1, 8, device)
    return effective_settings.limits_of(configuration(checkpoint, cluster, engine, version, layout, settings))


def default_settings(checkpoint: Checkpoint, device: Device, engine: str, version: str, layout: Layout) -> Settings:
    cluster = Cluster(device.id, 1, 8, device)
    return effective_settings.default_settings(configuration(checkpoint, cluster, engine, version, layout, Settings()))


def decoding_backend(
    checkpoint: Checkpoint, cluster: Cluster, engine: str, version: str, layout: Layout, settings: Settings
) -> str | None:
    backend = chosen(configuration(checkpoint, cluster, engine, version, layout, settings))
    return None if backend is None else backend.name


def make_plan(spec: Spec, weights_bytes: int = 0, scheme: str = "bf16") -> Plan:
    """What the spec says and nothing chosen for it, on the cluster that it names."""
    platform = ENGINES[spec.engine.name].platform
    default = "cpu" if platform is Platform.CPU else {Platform.ASCEND: "16xA3"}.get(platform, "8xH200")
    cluster = parse_cluster(spec.hardware.cluster or default)
    return from_spec.unjudged_plan(spec, cluster, weights_bytes, scheme)
