"""RAM of the host, for engines whose weights or KV cache lie there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from moonpad.catalog.overhead import host_processes
from moonpad.plan.effective_settings import MOST, reserved_sequences
from moonpad.plan.kv_cache import layer_bytes_per_token
from moonpad.plan.memory_budget import Demand
from moonpad.plan.weights import HostPart, groups_of
from moonpad.values.checkpoint import Checkpoint, Component
from moonpad.values.configuration import Configuration
from moonpad.values.memory import HostMemory
from moonpad.values.plan import Settings
from moonpad.values.units import GIB

OUTSIDE_LAYERS: Final = frozenset(
    {
        *(Component.EMBED_TOKENS, Component.LM_HEAD, Component.DECODE_WEIGHTS),
        *(Component.DRAFT, Component.LORA),
    }
)


def host_memory(demand: Demand, kv_bytes: float, context: int) -> HostMemory | None:
    """What a machine needs beside its devices: the weights that do not lie on them, as they lie in the files; on a
    processor the weights and the KV cache of its ranks. None where only the devices count. `context`: tokens of a
    sequence, whose KV cache lies in RAM for the layers that do."""
    configuration = demand.configuration
    if configuration.engine.host_experts:
        part = host_part(configuration)
        needed_bytes: float = weights_on_host_bytes(configuration.checkpoint, part, configuration.engine.gguf_rest_bits)
        layer_bytes = layer_bytes_per_token(configuration.architecture, bits=demand.limits.kv_bits)
        needed_bytes += part.layers * layer_bytes * context * reserved_sequences(configuration)
    elif demand.limits.budget == "told":
        needed_bytes = configuration.ranks_per_node * (max(demand.weights) + kv_bytes)
    elif offloaded := _offloaded_bytes(demand, kv_bytes):
        return HostMemory(round(offloaded), configuration.cluster.host.memory_bytes)
    else:
        return None
    processes = host_processes()[configuration.engine.name].process_bytes
    return HostMemory(round(needed_bytes + processes), configuration.cluster.host.memory_bytes)


def off_device(weights: Mapping[Component, int], settings: Settings) -> Mapping[Component, int]:
    """The weights that stay on a device, those of the layers largest first: engines move whole layers' tensors until
    `cpu_offload_gib` are in RAM, and none of what lies outside the layers."""
    left, held = _bytes(settings.cpu_offload_gib, GIB), {name: size for name, size in weights.items() if size}
    for name in sorted(held.keys() - OUTSIDE_LAYERS, key=lambda name: -held[name]):
        moved = min(left, held[name])
        held[name], left = held[name] - moved, left - moved
    return held


def _offloaded_bytes(demand: Demand, kv_bytes: float) -> float:
    """Of a machine: weights that its ranks moved off their devices, and their copies of the KV cache."""
    configuration = demand.configuration
    settings, ranks, layout = configuration.settings, configuration.ranks_per_node, configuration.layout
    copies = ranks * max(0.0, kv_bytes) * (settings.kv_offload_ratio or 0)
    if settings.kv_offload_size and configuration.engine.kv_offload_by_replica:
        copies = _bytes(settings.kv_offload_size, GIB) * ranks * layout.dp / layout.world_size
    elif settings.kv_offload_size:
        copies = ranks * _bytes(settings.kv_offload_size, 10**9)
    return ranks * demand.moved_bytes + copies


def _bytes(size: float | None, unit: int) -> int:
    return round(min(max(0.0, size or 0.0), MOST) * unit)


def host_part(configuration: Configuration) -> HostPart:
    """What of the weights lies in host RAM. No expert lies on the devices unless an engine is told so that places them
    one by one; those that are placed by layers lie on the devices unless it is told otherwise."""
    engine, settings = configuration.engine, configuration.settings
    each_layer = engine.host_experts == "of each layer"
    return HostPart(
        device_experts=max(0, settings.gpu_experts or 0) if each_layer else None,
        expert_layers=max(0, settings.host_expert_layers or 0) if engine.host_experts and not each_layer else 0,
        layers=layers_on_host(configuration),
        embedding=engine.embedding_on_host,
    )


def layers_on_host(configuration: Configuration) -> int:
    """How many layers, from the first, lie in host RAM with their part of the KV cache."""
    on_devices = configuration.settings.device_layers
    layers = configuration.architecture.layers
    return 0 if on_devices is None else max(0, layers + 1 - max(0, on_devices))  # the output counts as a layer


def weights_on_host_bytes(checkpoint: Checkpoint, part: HostPart, rest_bits: float = 16) -> int:
    """Routed experts and the token embedding, as far as they lie in RAM."""
    experts = max(1, checkpoint.architecture.routed_experts)
    share = 1.0 if part.device_experts is None else (experts - min(part.device_experts, experts)) / experts
    total = 0.0
    for group in groups_of(checkpoint, rest_bits):
        if group.layer is not None and group.layer < part.layers:
            total += group.size_bytes
        elif group.component is Component.ROUTED_EXPERTS and group.layer is not None:
            placed = part.device_experts is not None or group.layer < part.expert_layers
            total += group.size_bytes * share if placed else 0
        elif group.component is Component.EMBED_TOKENS and part.embedding:
            total += group.size_bytes
    return math.ceil(total)
