"""RAM of the host, for engines whose weights or KV cache lie there."""

from __future__ import annotations

import math

from moonpad.catalog.overhead import host_processes
from moonpad.plan.weights import routed_bytes
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Cluster
from moonpad.values.memory import HostMemory
from moonpad.values.plan import Settings

KTRANSFORMERS = "ktransformers"


def experts_in_host_bytes(checkpoint: Checkpoint, settings: Settings) -> int:
    """Routed experts that KTransformers keeps in RAM: those beyond `gpu_experts` of each layer."""
    experts = max(1, checkpoint.architecture.routed_experts)
    on_devices = min(device_experts(settings), experts)
    return math.ceil(routed_bytes(checkpoint) * (experts - on_devices) / experts)


def device_experts(settings: Settings) -> int:
    """KTransformers puts none on the devices unless it is told."""
    return max(0, settings.gpu_experts or 0)


def ktransformers_host(checkpoint: Checkpoint, cluster: Cluster, settings: Settings) -> HostMemory:
    """The weights as they lie in the files (`RAWINT4`, or a GGUF), with what the documentation asks for beside them."""
    needed = experts_in_host_bytes(checkpoint, settings) + host_processes()[KTRANSFORMERS].process_bytes
    return HostMemory(round(needed), cluster.host.memory_bytes)


def cpu_host(engine: str, cluster: Cluster, ranks: int, weights_bytes: int, kv_bytes: float) -> HostMemory:
    """Weights and KV cache of the ranks on a node, and the engine's processes."""
    needed = ranks * (weights_bytes + kv_bytes) + host_processes()[engine].process_bytes
    return HostMemory(round(needed), cluster.host.memory_bytes)
