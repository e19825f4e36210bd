"""RAM of the host, for engines whose weights or KV cache lie there."""

from __future__ import annotations

import math

from moonpad.catalog.overhead import host_processes
from moonpad.plan.effective_settings import reserved_sequences
from moonpad.plan.kv_cache import layer_bytes_per_token
from moonpad.plan.memory_budget import Demand
from moonpad.plan.weights import HostPart, groups_of
from moonpad.values.checkpoint import Checkpoint, Component
from moonpad.values.configuration import Configuration
from moonpad.values.memory import HostMemory


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
    else:
        return None
    processes = host_processes()[configuration.engine.name].process_bytes
    return HostMemory(round(needed_bytes + processes), configuration.cluster.host.memory_bytes)


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
