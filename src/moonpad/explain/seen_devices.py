"""The devices of a machine that a command leaves to its process: `CUDA_VISIBLE_DEVICES=5`, `--gpus '"device=0,1"'`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from moonpad.engines.base import Reading
from moonpad.explain.checks.nodes.visible_devices import CUDA, by_runtime
from moonpad.explain.commands import Command, Script
from moonpad.explain.documents.device_mentions import cluster_named
from moonpad.explain.left_devices import listed_by
from moonpad.explain.started_ranks import ranks_of
from moonpad.values.cluster import Cluster
from moonpad.values.platform import Platform

_NAMES: Final = {
    Platform.CUDA: (CUDA,),
    Platform.ROCM: ("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", CUDA),
    Platform.ASCEND: ("ASCEND_RT_VISIBLE_DEVICES",),
}
"""What the libraries of each platform read."""
_RUNTIMES: Final = {Platform.CUDA: "NVIDIA_VISIBLE_DEVICES", Platform.ASCEND: "ASCEND_VISIBLE_DEVICES"}
"""What the runtime of containers reads."""


def seen_alone(
    cluster: Cluster, commands: Sequence[Command], first: Reading, script: Script
) -> tuple[Cluster, str] | None:
    """The devices of one machine that the commands see of it, and what says so; None where they see all, or fewer than
    they start ranks, which is a fault of its own."""
    if cluster.nodes > 1:
        return None
    seen: set[str] = set()
    for command in commands:
        own = _seen(command, cluster.device.platform, script)
        if own is None:
            return None
        devices, name = own
        seen |= devices
    if not ranks_of(first) <= len(seen) < cluster.devices:
        return None
    part = cluster_named(f"{len(seen)}x{cluster.name.rpartition('x')[2]}")
    if part is None or part.nodes > 1:
        return None
    return part, f"of which {name} leaves {len(seen)}"


def _seen(command: Command, platform: Platform, script: Script) -> tuple[set[str], str] | None:
    """The narrowest of what variables and container leave, and what leaves it."""
    names = [*_NAMES.get(platform, ())]
    if by_runtime(command, script) and platform in _RUNTIMES:
        names.append(_RUNTIMES[platform])
    found = [(devices, name) for name in names if (devices := listed_by(command, name))]
    granted = command.container.devices if command.container is not None else None
    if granted is not None and command.container is not None and command.container.kind == "docker run":
        found.append(({f"granted {number}" for number in range(granted)}, "--gpus"))
    return min(found, key=lambda each: len(each[0]), default=None)
