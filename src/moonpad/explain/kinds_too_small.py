"""Several kinds of devices of a text, none of which holds the weights: so that it is all the same which is meant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from moonpad.catalog.hardware import hardware
from moonpad.engines.base import Engine, Reading
from moonpad.explain.checks.models.other_families import doubtful_name
from moonpad.explain.documents.device_mentions import cluster_named
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Cluster
from moonpad.values.platform import Platform

_MOST: Final = 3
"""Kinds; more are a list, of which the answer shows the first."""
_TIMES: Final = 2
"""So many times what the devices hold is no weights that somebody put on them."""


def largest_too_small(
    kinds: Sequence[str], used: tuple[int, int | None], engine: Engine, reading: Reading, checkpoint: Checkpoint | None
) -> Cluster | None:
    """So many of the kind with the most memory, where even they are too few for the weights alone; `used`: devices, and
    those of each node."""
    facts, settings = engine.facts, reading.settings
    helped = facts.host_experts or facts.gguf_only or settings.cpu_offload_gib or reading.left_to_engine
    if checkpoint is None or not checkpoint.groups or helped or reading.takes_all_devices or len(kinds) > _MOST:
        return None
    if doubtful_name(checkpoint, reading.model) or reading.model.casefold().endswith(".gguf"):
        return None
    devices, per_node = used
    nodes = devices // per_node if per_node else 1
    named = [cluster_named(f"{nodes}x{per_node}x{kind}" if nodes > 1 else f"{devices}x{kind}") for kind in kinds]
    known = [cluster for cluster in named if cluster is not None]
    if len(known) < len(named) or not known:
        return None
    largest = max(known, key=lambda cluster: cluster.device.usable_bytes)
    share = checkpoint.total_bytes / reading.layout.world_size
    if largest.device.platform is Platform.ASCEND or share > _largest_known(engine):
        return None  # whose memory is not judged; or no device holds it, which is said without any
    return largest if share > largest.device.usable_bytes > 0 else None


def is_far_too_small(cluster: Cluster, because: str, reading: Reading, checkpoint: Checkpoint | None) -> bool:
    """Whether the text does not count these devices, and so many of them as the command uses hold less than half of the
    weights: what it names is meant otherwise (`L4`, the fourth of a list), or is of another start."""
    if checkpoint is None or not because.endswith(f", the command uses {cluster.devices}"):
        return False
    helped = reading.settings.cpu_offload_gib or reading.left_to_engine or reading.takes_all_devices
    held = cluster.device.usable_bytes * cluster.devices
    return not helped and 0 < _TIMES * held < checkpoint.total_bytes


def _largest_known(engine: Engine) -> float:
    rows = (row.device for row in hardware().values() if row.device is not None)
    return max((device.usable_bytes for device in rows if device.platform in engine.platforms), default=0)
