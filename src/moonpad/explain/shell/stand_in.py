"""A configuration for questions that the devices have no part in, where none are known."""

from __future__ import annotations

from moonpad.catalog.clusters import parse_cluster
from moonpad.catalog.hardware import hardware
from moonpad.engines.base import Engine
from moonpad.explain.checks.check_case import Case
from moonpad.values.configuration import Configuration


def stand_in(case: Case) -> Configuration | None:
    """On eight devices of a kind that the engine runs on; None where the devices are known, or the model is not."""
    if case.checkpoint is None or case.cluster is not None:
        return None
    device = next((row for row in hardware().values() if _runs(case.engine, row.device)), None)
    if device is None:
        return None
    cluster, reading, facts = parse_cluster(f"8x{device.label}"), case.first, case.engine.facts
    return Configuration(case.checkpoint, cluster, facts, case.version, reading.layout, reading.settings)


def _runs(engine: Engine, device: object) -> bool:
    return getattr(device, "platform", None) in engine.platforms and getattr(device, "per_node", 0) >= 8
