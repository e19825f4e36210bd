"""Bytes of weights on one device of each pipeline stage, as the engines spread them.

Tensor parallelism slices q_b, kv_b, o_proj, the dense MLP, shared experts, embedding and lm_head; q_a, kv_a, norms and
router lie whole on every rank. Of the routed experts each of `ep` ranks has its share whole, and slices each expert
over the ranks that are left (vLLM flattens data into tensor parallelism there: `FusedMoEParallelConfig.make`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Final

from msgspec import Struct

from moonpad.catalog.overhead import Pipeline
from moonpad.plan.tensors import MOONVIT_PARAMETERS, tensor_groups
from moonpad.values.checkpoint import BF16, Architecture, Checkpoint, Component, Quantization, Sharding, TensorGroup
from moonpad.values.configuration import UnpacksKvB
from moonpad.values.plan import Layout
from moonpad.values.records import replace

Stage = tuple[int, int]
"""The first layer of a pipeline stage, and the one after its last."""

VOCABULARY_STEP: Final = 64
"""Embedding and lm_head are padded to a multiple of it before they are sliced (vLLM: DEFAULT_VOCAB_PADDING_SIZE)."""
MOST_REDUNDANT: Final = 1 << 20
MOONVIT_SLICED_PARAMETERS: Final = 27 * (3 * 1152 * 1153 + 1152 * 1152 + 4304 * 1153 + 4304 * 1152)
"""What tensor parallelism slices of MoonViT: wqkv, wo, fc0 and fc1 of 27 layers, with the biases of wqkv and fc0."""
_BF16_BYTES: Final = 2


def stages_of(layers: int, pp: int, pipeline: Pipeline) -> tuple[Stage, ...]:
    """Which layers each stage has. 61 over 2 stages are 31 and 30 in vLLM, 30 and 31 in SGLang 0.5.

    Sources: `get_pp_indices` of vLLM 0.7.3 and of SGLang 0.4.9 (`last-all`), of vLLM 0.8 to 0.32 (`inner`), and of
    SGLang 0.5.23 (`last-each`).
    """
    if pipeline == "with-output":
        ends = tuple(min(layers, -(-(number + 1) * (layers + 1) // pp)) for number in range(pp))
        return tuple(zip((0, *ends[:-1]), ends, strict=True))
    counts = [layers // pp] * pp
    left = layers % pp
    if pipeline == "last-all":
        counts[-1] += left
        left = 0
    for number in range(left):
        place = {"inner": pp - 2 - number, "last-each": pp - 1 - number, "first-each": number}[pipeline]
        counts[place] += 1
    ends = tuple(accumulate(counts))
    return tuple(zip((0, *ends[:-1]), ends, strict=True))


class HostPart(Struct, frozen=True):
    """What of the weights lies in host RAM and not on the devices."""

    device_experts: int | None = None
    """Of each layer so many routed experts lie on the devices, the others in RAM; None: all on the devices."""
    expert_layers: int = 0
    """All routed experts of the first so many layers lie in RAM."""
    layers: int = 0
    """All of the first so many layers lies in RAM."""
    embedding: bool = False


def stage_weights(
    checkpoint: Checkpoint,
    layout: Layout,
    stages: Sequence[Stage],
    *,
    vision_sliced: bool,
    redundant_experts: int = 0,
    on_host: HostPart = HostPart(),
    text_only: bool = False,
    rest_bits: float = 16,
    unpacks_kv_b: UnpacksKvB = "always",
    whole_mlps: bool = False,
) -> tuple[Mapping[Component, int], ...]:
    """Bytes a device by component, for each stage.

    `vision_sliced`: the engine spreads the vision tower over tensor-parallel ranks where its heads allow it (vLLM),
    else every device has all of it, which is the upper bound. `text_only`: the vision tower is left out.
    `rest_bits`: see `groups_of`. `unpacks_kv_b`: see `EngineFacts`.
    `whole_mlps`: every rank has the whole of the dense MLP and of the shared experts, for its own tokens.
    """
    quantised = checkpoint.quantization.format_of(Component.KV_B) != BF16 or not checkpoint.groups
    moving = replace(layout, dcp=1)  # decode context parallelism shares out the KV cache alone
    return _stage_weights(
        ById(groups_of(checkpoint, rest_bits)),
        checkpoint.architecture,
        moving,
        tuple(stages),
        vision_sliced,
        redundant_experts,
        on_host,
        text_only,
        copies_kv_b=unpacks_kv_b == "always" or (unpacks_kv_b == "where quantised" and quantised),
        whole_mlps=whole_mlps,
    )


@lru_cache(maxsize=256)
def _stage_weights(
    groups: ById,
    architecture: Architecture,
    layout: Layout,
    stages: tuple[Stage, ...],
    vision_sliced: bool,
    redundant_experts: int,
    on_host: HostPart,
    text_only: bool,
    copies_kv_b: bool,
    whole_mlps: bool,
) -> tuple[Mapping[Component, int], ...]:
    sums = _sums(groups)
    share = _expert_share(architecture, layout, redundant_experts, on_host.device_experts)
    width = architecture.qk_nope_head_dim + architecture.v_head_dim
    decode_layer_bytes = architecture.heads * width * architecture.kv_lora_rank * _BF16_BYTES
    by_stage = []
    for number, (first, end) in enumerate(stages):
        held: dict[Component, int] = {}
        for (component, sharding), line in sums.layers.items():
            on_host_until = max(on_host.layers, on_host.expert_layers if sharding is Sharding.EXPERTS else 0)
            start = max(first, min(on_host_until, end))
            size = line[min(end, len(line) - 1)] - line[min(start, len(line) - 1)]
            whole = whole_mlps and component in (Component.DENSE_MLP, Component.SHARED_EXPERTS)
            _add(held, component, size if whole else _sharded(size, sharding, layout.tp, share))
        outside = [*(sums.before if number == 0 else ()), *(sums.after if number == len(stages) - 1 else ())]
        for group in outside:
            if on_host.embedding and group.component is Component.EMBED_TOKENS:
                continue
            _add(held, group.component, _outside(group, architecture, layout.tp))
        if sums.vision and not text_only:
            held[Component.VISION] = _vision(sums.vision, architecture, layout.tp if vision_sliced else 1)
        if architecture.tied_embeddings and number == len(stages) - 1 > 0:
            embedding = next((group for group in sums.before if group.component is Component.EMBED_TOKENS), None)
            if embedding is not None:
                _add(held, Component.LM_HEAD, _outside(embedding, architecture, layout.tp))
        if copies_kv_b:
            # W_UK and W_UV in BF16: engines unpack kv_b into them for decoding, and keep kv_b too.
            _add(
                held,
                Component.DECODE_WEIGHTS,
                math.ceil(architecture.mla_between(first, end) * decode_layer_bytes / layout.tp),
            )
        by_stage.append(held)
    return tuple(by_stage)


def routed_bytes(checkpoint: Checkpoint) -> int:
    """All routed experts of the checkpoint."""
    groups = groups_of(checkpoint)
    return sum(group.size_bytes for group in groups if group.component is Component.ROUTED_EXPERTS)


def groups_of(checkpoint: Checkpoint, rest_bits: float = 16) -> tuple[TensorGroup, ...]:
    """The checkpoint's groups. Where only the size is known (GGUF): all but the routed experts with `rest_bits` a
    weight, 16 where the engine unpacks it to BF16, an upper bound of what lies on the devices; the experts by their
    share of the parameters, or what the files have left for them.
    """
    return checkpoint.groups or _even_groups(checkpoint.architecture, checkpoint.total_bytes, rest_bits)


@lru_cache(maxsize=8)
def _even_groups(architecture: Architecture, total_bytes: int, rest_bits: float) -> tuple[TensorGroup, ...]:
    groups = tensor_groups(replace(architecture, nextn_layers=0), Quantization("bf16"))
    routed = sum(group.parameters for group in groups if group.component is Component.ROUTED_EXPERTS)
    everything = max(1, sum(group.parameters for group in groups))
    bits = 8 * total_bytes / everything
    if rest_bits < 16 and routed:
        bits = max(0.0, 8 * total_bytes - rest_bits * (everything - routed)) / routed
    sizes = {True: bits, False: rest_bits}
    return tuple(
        replace(group, size_bytes=math.ceil(group.parameters * sizes[group.component is Component.ROUTED_EXPERTS] / 8))
        for group in groups
    )


class ById:
    """Makes groups a key by identity: hashing hundreds of them costs more than the sums that are kept."""

    __slots__ = ("groups",)

    def __init__(self, groups: tuple[TensorGroup, ...]) -> None:
        self.groups = groups

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ById) and other.groups is self.groups

    def __hash__(self) -> int:
        return id(self.groups)


class _Sums(Struct, frozen=True):
    """`layers`: bytes of a component in the first n layers, at index n. `vision` apart: every stage holds it."""

    layers: Mapping[tuple[Component, Sharding], tuple[int, ...]]
    before: tuple[TensorGroup, ...]
    after: tuple[TensorGroup, ...]
    vision: int


@lru_cache(maxsize=16)
def _sums(key: ById) -> _Sums:
    count = 1 + max((group.layer for group in key.groups if group.layer is not None), default=-1)
    layers: dict[tuple[Component, Sharding], list[int]] = {}
    before: list[TensorGroup] = []
    after: list[TensorGroup] = []
    vision = 0
    for group in key.groups:
        if group.sharding is Sharding.NOT_LOADED:
            continue
        if group.component is Component.VISION:
            vision += group.size_bytes
        elif group.layer is None:
            (before if group.before else after).append(group)
        else:
            layers.setdefault((group.component, group.sharding), [0] * count)[group.layer] += group.size_bytes
    sums = {name: (0, *accumulate(sizes)) for name, sizes in layers.items()}
    return _Sums(sums, tuple(before), tuple(after), vision)


def _add(held: dict[Component, int], component: Component, size: int) -> None:
    if size:
        held[component] = held.get(component, 0) + size


def _sharded(size: int, sharding: Sharding, tp: int, share: float) -> int:
    if sharding is Sharding.EXPERTS:
        return math.ceil(size * share)
    return -(-size // tp) if sharding is Sharding.TENSOR else size


def _expert_share(
    architecture: Architecture, layout: Layout, redundant_experts: int, device_experts: int | None
) -> float:
    """Which part of a layer's routed experts one device holds."""
    experts = max(1, architecture.routed_experts)
    ep = min(layout.ep, layout.tp * layout.dp)
    slices = layout.tp * layout.dp // ep
    if device_experts is not None:
        return max(0, min(device_experts, experts)) / experts / slices / ep
    redundant = max(0, min(redundant_experts, MOST_REDUNDANT))
    return -(-(experts + redundant) // ep) / experts / slices


def _outside(group: TensorGroup, architecture: Architecture, tp: int) -> int:
    if group.sharding is not Sharding.TENSOR:
        return group.size_bytes
    if group.component not in (Component.EMBED_TOKENS, Component.LM_HEAD) or not architecture.vocabulary:
        return -(-group.size_bytes // tp)
    words = math.ceil(architecture.vocabulary / VOCABULARY_STEP) * VOCABULARY_STEP
    return math.ceil(group.size_bytes * words / architecture.vocabulary / tp)


def _vision(size: int, architecture: Architecture, tp: int) -> int:
    """vLLM (0.32) builds the tower on every stage and slices it where its 16 heads divide, else it is whole."""
    if architecture.vision_parameters != MOONVIT_PARAMETERS or architecture.vision_heads % tp:
        return size
    sliced = round(size * MOONVIT_SLICED_PARAMETERS / MOONVIT_PARAMETERS)
    return size - sliced + -(-sliced // tp)
