"""RAM of the host, for engines whose weights or KV cache lie there."""

from __future__ import annotations

import math

from moonpad.catalog.overhead import host_processes
from moonpad.plan.memory_budget import Demand
from moonpad.plan.weights import routed_bytes
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.memory import HostMemory
from moonpad.values.plan import Settings


def host_memory(demand: Demand, kv_bytes: float) -> HostMemory | None:
    """What a machine needs beside its devices: the experts that do not lie on them, as they lie in the files; on a
    processor the weights and the KV cache of its ranks. None where only the devices count."""
    configuration = demand.configuration
    if configuration.engine.experts_on_host:
        needed_bytes: float = experts_in_host_bytes(configuration.checkpoint, configuration.settings)
    elif demand.limits.budget == "told":
        needed_bytes = configuration.ranks_per_node * (max(demand.weights) + kv_bytes)
    else:
        return None
    processes = host_processes()[configuration.engine.name].process_bytes
    return HostMemory(round(needed_bytes + processes), configuration.cluster.host.memory_bytes)


def experts_in_host_bytes(checkpoint: Checkpoint, settings: Settings) -> int:
    """Routed experts that lie in RAM: those beyond `gpu_experts` of each layer."""
    experts = max(1, checkpoint.architecture.routed_experts)
    on_devices = min(device_experts(settings), experts)
    return math.ceil(routed_bytes(checkpoint) * (experts - on_devices) / experts)


def device_experts(settings: Settings) -> int:
    """None of them lies on the devices unless the engine is told so."""
    return max(0, settings.gpu_experts or 0)
