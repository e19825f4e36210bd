"""The tensors of a Kimi-K2 checkpoint, calculated from its architecture and formats: the exact part of the memory.

The names and shapes are those of DeepSeek-V3 (transformers, `modeling_deepseek.py`). With the published formats they
give the published counts: 139,644 tensors in 1,029,173,263,552 bytes (FP8), 208,276 in 594,205,918,560 (INT4).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Final

from moonpad.catalog.model_row import Model
from moonpad.values.checkpoint import BF16, Architecture, Checkpoint, Component, Quantization, TensorFormat, TensorGroup
from moonpad.values.errors import PreflightRefused

MOONVIT_PARAMETERS: Final = 471_143_920
"""MoonViT with its projector, as Kimi-K2.5 has it: 27 layers of 1152 with an MLP of 4304, 16 heads, patches of 14."""
MOONVIT_TENSORS: Final = 335
"""27 × 12 in the layers, 5 for patches, positions and the last norm, 6 in the projector."""

_BF16_BYTES: Final = 2
_FP32_BYTES: Final = 4

Shape = tuple[int, int]
"""(output, input) features."""
FormatKey = tuple[tuple[Component, TensorFormat], ...]


def tensor_groups(
    architecture: Architecture, quantization: Quantization, *, rotary_in_files: bool = False
) -> tuple[TensorGroup, ...]:
    """One group for each component of each layer, in the order of the layers.

    `rotary_in_files`: each layer brings a `rotary_emb.inv_freq`, as the files of Kimi-K2 do; no engine loads it.
    """
    bias_bytes = _FP32_BYTES if quantization.method else _BF16_BYTES
    return _groups(architecture, tuple(quantization.formats.items()), bias_bytes, rotary_in_files)


def catalog_checkpoint(model: Model) -> Checkpoint:
    """A checkpoint of the catalogue. Without groups where nothing but the size of the files is known (GGUF).

    Raises:
        PreflightRefused: moonpad cannot plan this model; the catalogue says why.
    """
    architecture, quantization = model.architecture, model.quantization
    if model.refused or architecture is None or quantization is None or model.total_bytes is None:
        reason = model.refused or f"The catalogue knows too little of {model.id} to plan it."
        raise PreflightRefused(reason, remedy="moonpad catalog models lists what can be planned")
    source = f"catalogue ({model.standing}: {model.source})"
    if not model.formats_known:
        return Checkpoint(model.id, architecture, quantization, (), source, model.total_bytes)
    groups = tensor_groups(architecture, quantization, rotary_in_files=model.rotary_in_files)
    return checkpoint_of(model.id, architecture, quantization, groups, source)


def checkpoint_of(
    name: str, architecture: Architecture, quantization: Quantization, groups: tuple[TensorGroup, ...], source: str
) -> Checkpoint:
    return Checkpoint(name, architecture, quantization, groups, source, sum(group.size_bytes for group in groups))


def matrix_bytes(shape: Shape, form: TensorFormat) -> int:
    """Bytes of one matrix in the files, with its scales and what else lies beside it."""
    rows, columns = shape
    size = -(-rows * columns * form.bits // 8)
    if form.block is not None:
        size += -(-rows // form.block[0]) * -(-columns // form.block[1]) * form.scale_bytes
    return size + form.extra_bytes


@cache
def _groups(architecture: Architecture, formats: FormatKey, bias_bytes: int, rotary: bool) -> tuple[TensorGroup, ...]:
    hidden, dense, experts = architecture.hidden, architecture.dense_layers, architecture.routed_experts
    form_of = dict(formats)

    def group(component: Component, layer: int | None, shapes: tuple[Shape, ...], times: int = 1) -> TensorGroup:
        form = form_of.get(component, BF16)
        return TensorGroup(
            component,
            layer,
            times * sum(rows * columns for rows, columns in shapes),
            times * sum(matrix_bytes(shape, form) for shape in shapes),
            times * len(shapes) * (1 + form.extra_tensors),
        )

    def in_layer(layer: int) -> Iterator[TensorGroup]:
        for component, shape in _attention(architecture):
            yield group(component, layer, (shape,))
        # Before attention and before the MLP, and of both latents.
        latents = [latent for latent in (architecture.q_lora_rank, architecture.kv_lora_rank) if latent]
        yield _plain(Component.NORMS, layer, 2 * hidden + sum(latents), 2 + len(latents))
        if layer < dense:
            yield group(Component.DENSE_MLP, layer, _mlp(hidden, architecture.intermediate))
        else:
            router = group(Component.ROUTER, layer, ((experts, hidden),))
            yield _with_bias(router, experts, bias_bytes) if architecture.topk_method == "noaux_tc" else router
            if architecture.shared_experts:
                shared = _mlp(hidden, architecture.moe_intermediate * architecture.shared_experts)
                yield group(Component.SHARED_EXPERTS, layer, shared)
            yield group(Component.ROUTED_EXPERTS, layer, _mlp(hidden, architecture.moe_intermediate), experts)
        if rotary:
            # As many values as a head of hidden / heads features would rotate, not as many as MLA does: 56 in Kimi-K2.
            values = hidden // architecture.heads // 2
            yield TensorGroup(Component.ROTARY, layer, values, values * _FP32_BYTES, 1)

    vocabulary = ((architecture.vocabulary, hidden),)
    groups = [group(Component.EMBED_TOKENS, None, vocabulary)]
    if vision := architecture.vision_parameters:
        groups.append(_plain(Component.VISION, None, vision, MOONVIT_TENSORS if vision == MOONVIT_PARAMETERS else 1))
    for layer in range(architecture.layers):
        groups.extend(in_layer(layer))
    groups.append(_plain(Component.NORMS, None, hidden, 1))
    if not architecture.tied_embeddings:
        groups.append(group(Component.LM_HEAD, None, vocabulary))
    return tuple(groups)


def _attention(architecture: Architecture) -> Iterator[tuple[Component, Shape]]:
    heads, latent = architecture.heads, architecture.kv_lora_rank
    queries = heads * (architecture.qk_nope_head_dim + architecture.qk_rope_head_dim)
    if architecture.q_lora_rank:
        yield Component.Q_A, (architecture.q_lora_rank, architecture.hidden)
    yield Component.Q_B, (queries, architecture.q_lora_rank or architecture.hidden)
    yield Component.KV_A, (latent + architecture.qk_rope_head_dim, architecture.hidden)
    yield Component.KV_B, (heads * (architecture.qk_nope_head_dim + architecture.v_head_dim), latent)
    yield Component.O_PROJ, (architecture.hidden, heads * architecture.v_head_dim)


def _mlp(hidden: int, intermediate: int) -> tuple[Shape, ...]:
    """Gate, up and down."""
    return (intermediate, hidden), (intermediate, hidden), (hidden, intermediate)


def _plain(component: Component, layer: int | None, parameters: int, tensors: int) -> TensorGroup:
    return TensorGroup(component, layer, parameters, parameters * _BF16_BYTES, tensors)


def _with_bias(router: TensorGroup, experts: int, bias_bytes: int) -> TensorGroup:
    """With the bias that `noaux_tc` corrects its scores with: FP32, BF16 where the whole checkpoint is."""
    return replace(
        router,
        parameters=router.parameters + experts,
        size_bytes=router.size_bytes + experts * bias_bytes,
        tensors=router.tensors + 1,
    )
