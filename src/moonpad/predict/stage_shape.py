"""What one pipeline stage of a rank reads and multiplies: bytes and weights by part, from the plan's own sharding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from moonpad.plan.effective_settings import limits_of
from moonpad.plan.host_memory import host_part
from moonpad.plan.kv_cache import layer_bytes_per_token
from moonpad.plan.memory import dealt_weights
from moonpad.plan.weights import ById, groups_of, routed_bytes
from moonpad.predict.device_rates import arithmetic_of
from moonpad.values.checkpoint import Architecture, Checkpoint, Component
from moonpad.values.configuration import Configuration

DENSE: Final = (
    *(Component.Q_A, Component.Q_B, Component.KV_A, Component.O_PROJ, Component.OUTPUT_GATE),
    *(Component.KDA, Component.KDA_LATENT, Component.DENSE_MLP, Component.SHARED_EXPERTS, Component.EXPERT_LATENT),
    *(Component.ROUTER, Component.NORMS),
)
"""Read whole in each step, and multiplied with every token."""


@dataclass(frozen=True, slots=True)
class Matrices:
    """`weights` by the arithmetic that multiplies them."""

    size_bytes: float
    weights: Mapping[str, float]

    @property
    def count(self) -> float:
        return sum(self.weights.values())


@dataclass(frozen=True, slots=True)
class StageShape:
    """One rank of one stage. `decode_kv_b` and `prefill_kv_b`: W_UK and W_UV as decoding multiplies them, and kv_b."""

    layers: int
    mla_layers: int
    moe_layers: int
    dense: Matrices
    decode_kv_b: Matrices
    prefill_kv_b: Matrices
    routed: Matrices
    head: Matrices


@dataclass(frozen=True, slots=True)
class HostExperts:
    """What the processors of a machine compute in each step."""

    routed_bytes: float
    routed_weights: float
    whole_bytes: float
    """Of whole layers, what is not routed experts."""
    layers: int


def stage_shapes(configuration: Configuration) -> tuple[StageShape, ...]:
    """Raises PreflightRefused where memory cannot be planned either."""
    checkpoint, architecture = configuration.checkpoint, configuration.architecture
    stages, held_by_stage = dealt_weights(configuration)
    per_byte = _weights_per_byte(ById(groups_of(checkpoint, configuration.engine.gguf_rest_bits)))
    shapes = []
    for (first, end), held in zip(stages, held_by_stage, strict=True):
        shapes.append(
            StageShape(
                layers=end - first,
                mla_layers=architecture.mla_between(first, end),
                moe_layers=max(0, end - max(first, architecture.dense_layers)),
                dense=_matrices(checkpoint, held, per_byte, DENSE),
                decode_kv_b=_decode_kv_b(checkpoint, held, per_byte),
                prefill_kv_b=_matrices(checkpoint, held, per_byte, (Component.KV_B,)),
                routed=_matrices(checkpoint, held, per_byte, (Component.ROUTED_EXPERTS,)),
                head=_matrices(checkpoint, held, per_byte, _head(architecture)),
            )
        )
    return tuple(shapes)


def host_experts(configuration: Configuration) -> HostExperts | None:
    """None where the devices hold everything."""
    part, checkpoint, architecture = host_part(configuration), configuration.checkpoint, configuration.architecture
    experts, moe_layers = max(1, architecture.routed_experts), max(1, architecture.moe_layers)
    layers = max(0, min(part.layers, architecture.layers))
    placed = max(0, max(layers, min(part.expert_layers, architecture.layers)) - architecture.dense_layers)
    share = placed / moe_layers
    if part.device_experts is not None:
        share = 1 - min(part.device_experts, experts) / experts
    if not share and not layers:
        return None
    every = routed_bytes(checkpoint) * share
    weights = 3 * (architecture.expert_hidden or architecture.hidden) * architecture.moe_intermediate * experts
    rest = sum(
        group.size_bytes
        for group in groups_of(checkpoint, configuration.engine.gguf_rest_bits)
        if group.layer is not None and group.layer < layers and group.component is not Component.ROUTED_EXPERTS
    )
    of_layers = moe_layers if part.device_experts is not None else placed
    return HostExperts(every, weights * moe_layers * share, float(rest), of_layers)


def kv_bytes_per_layer(configuration: Configuration) -> int:
    return layer_bytes_per_token(configuration.architecture, bits=limits_of(configuration).kv_bits)


def expert_arithmetic(checkpoint: Checkpoint) -> str:
    """`int4`, `fp8`, `fp4` or `bf16`: which constant says how fast routed experts are multiplied."""
    name = checkpoint.quantization.format_of(Component.ROUTED_EXPERTS).name
    if checkpoint.quantization.scheme == "gguf" or name in ("int4", "w4a16"):
        return "int4"
    return {"fp8": "fp8", "int8": "fp8", "nvfp4": "fp4", "mxfp4": "fp4"}.get(name, "bf16")


def _head(architecture: Architecture) -> tuple[Component, ...]:
    return (Component.EMBED_TOKENS,) if architecture.tied_embeddings else (Component.LM_HEAD,)


@lru_cache(maxsize=16)
def _weights_per_byte(key: ById) -> Mapping[Component, float]:
    sizes: dict[Component, int] = {}
    counts: dict[Component, int] = {}
    for group in key.groups:
        sizes[group.component] = sizes.get(group.component, 0) + group.size_bytes
        counts[group.component] = counts.get(group.component, 0) + group.parameters
    return {name: counts[name] / size for name, size in sizes.items() if size}


def _matrices(
    checkpoint: Checkpoint,
    held: Mapping[Component, int],
    per_byte: Mapping[Component, float],
    components: tuple[Component, ...],
) -> Matrices:
    weights: dict[str, float] = {}
    size = 0
    for component in components:
        if of_rank := held.get(component, 0):
            size += of_rank
            arithmetic = arithmetic_of(checkpoint.quantization.format_of(component).name)
            weights[arithmetic] = weights.get(arithmetic, 0.0) + of_rank * per_byte.get(component, 0.5)
    return Matrices(size, weights)


def _decode_kv_b(
    checkpoint: Checkpoint, held: Mapping[Component, int], per_byte: Mapping[Component, float]
) -> Matrices:
    if copies := held.get(Component.DECODE_WEIGHTS, 0):
        return Matrices(copies, {"bf16": copies / 2})
    return _matrices(checkpoint, held, per_byte, (Component.KV_B,))
