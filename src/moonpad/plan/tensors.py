"""The tensors of a Kimi checkpoint, calculated from its architecture and formats: the exact part of the memory.

The names and shapes are those of DeepSeek-V3 (transformers, `modeling_deepseek.py`), and of `modeling_kimi_linear.py`
for Kimi-Linear and Kimi-K3. With the published formats they give the published counts: 139,644 tensors in
1,029,173,263,552 bytes (Kimi-K2 FP8), 208,276 in 594,205,918,560 (INT4), 20,493 in 98,245,528,576 (Kimi-Linear) and
497,220 in 1,560,860,324,864 (Kimi-K3).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

from moonpad.catalog.model_row import Model
from moonpad.values.checkpoint import (
    BF16,
    Architecture,
    Checkpoint,
    Component,
    LinearAttention,
    Quantization,
    TensorFormat,
    TensorGroup,
)
from moonpad.values.errors import PreflightRefused
from moonpad.values.records import replace

MOONVIT_PARAMETERS: Final = 471_143_920
"""MoonViT with its projector, as Kimi-K2.5 has it: 27 layers of 1152 with an MLP of 4304, 16 heads, patches of 14."""
VISION_TENSORS: Final = {MOONVIT_PARAMETERS: 335, 447_545_840: 335, 447_358_976: 168}
"""By parameters. MoonViT, also with the narrower projector of Kimi-VL: 27 × 12 in the layers, 5 for patches, positions
and the last norm, 6 in the projector.
MoonViT-V2 of Kimi-K3, without biases: 27 × 6, 3, and 3."""

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
    # What a checkpoint keeps in FP32 beside weights of few bits lies in BF16 where all of it does.
    exact_bytes = _FP32_BYTES if quantization.method else _BF16_BYTES
    return _groups(architecture, tuple(quantization.formats.items()), exact_bytes, rotary_in_files)


def nextn_bytes(checkpoint: Checkpoint) -> int:
    """The layers for multi-token prediction, which are loaded where they propose tokens."""
    layers = checkpoint.architecture.layers
    groups = checkpoint.groups
    return sum(group.size_bytes for group in groups if group.layer is not None and group.layer >= layers)


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
def _groups(architecture: Architecture, formats: FormatKey, exact_bytes: int, rotary: bool) -> tuple[TensorGroup, ...]:
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
        mla, linear = architecture.is_mla(layer), architecture.linear
        for component, shapes in (
            _attention(architecture) if mla or linear is None else _linear_attention(linear, hidden)
        ):
            yield group(component, layer, shapes)
        # Before attention and before the MLP, and of both latents.
        latents = [latent for latent in (architecture.q_lora_rank, architecture.kv_lora_rank) if latent and mla]
        yield _plain(Component.NORMS, layer, 2 * hidden + sum(latents), 2 + len(latents))
        if linear is not None and not mla:
            yield from _linear_vectors(linear, layer)
        if architecture.attention_residuals:
            yield _plain(Component.NORMS, layer, 4 * hidden, 4)
        if layer < dense:
            yield group(Component.DENSE_MLP, layer, _mlp(hidden, architecture.intermediate))
        else:
            router = group(Component.ROUTER, layer, ((experts, hidden),))
            yield _with_bias(router, experts, exact_bytes) if architecture.topk_method == "noaux_tc" else router
            if architecture.shared_experts:
                shared = _mlp(hidden, architecture.moe_intermediate * architecture.shared_experts)
                yield group(Component.SHARED_EXPERTS, layer, shared)
            if latent := architecture.expert_hidden:
                yield group(Component.EXPERT_LATENT, layer, ((latent, hidden), (hidden, latent)))
                yield _plain(Component.NORMS, layer, latent, 1)
            inner = _mlp(architecture.expert_hidden or hidden, architecture.moe_intermediate)
            yield group(Component.ROUTED_EXPERTS, layer, inner, experts)
        if rotary:
            # As many values as a head of hidden / heads features would rotate, not as many as MLA does: 56 in Kimi-K2.
            values = hidden // architecture.heads // 2
            yield TensorGroup(Component.ROTARY, layer, values, values * exact_bytes, 1)

    vocabulary = ((architecture.vocabulary, hidden),)
    groups = [group(Component.EMBED_TOKENS, None, vocabulary)]
    if vision := architecture.vision_parameters:
        groups.append(_plain(Component.VISION, None, vision, VISION_TENSORS.get(vision, 1)))
    for layer in range(architecture.layers):
        groups.extend(in_layer(layer))
    groups.append(_plain(Component.NORMS, None, hidden, 1))
    if architecture.attention_residuals:
        groups.append(_plain(Component.NORMS, None, 2 * hidden, 2))
    if not architecture.tied_embeddings:
        groups.append(group(Component.LM_HEAD, None, vocabulary))
    for number in range(architecture.nextn_layers):
        groups.append(_prediction_layer(architecture, formats, exact_bytes, architecture.layers + number))
    return tuple(groups)


def _prediction_layer(architecture: Architecture, formats: FormatKey, exact_bytes: int, layer: int) -> TensorGroup:
    """A layer for multi-token prediction: a layer of experts with an embedding, an lm_head and a norm of its own, two
    more norms, and a matrix that joins both inputs. It is FP8 where the model is, and BF16 with other formats (NVIDIA's
    NVFP4 of DeepSeek-R1).
    """
    alone = replace(architecture, layers=1, dense_layers=0, nextn_layers=0, linear=None, vision_parameters=0)
    fp8 = any(form.name == "fp8" and form.block is not None for _, form in formats)
    groups = _groups(alone, formats if fp8 else (), exact_bytes, False)
    joined = 2 * architecture.hidden**2 + 2 * architecture.hidden
    return TensorGroup(
        Component.OTHER,
        layer,
        sum(group.parameters for group in groups) + joined,
        sum(group.size_bytes for group in groups) + joined * _BF16_BYTES,
        sum(group.tensors for group in groups) + 3,
        loaded=False,
    )


def _attention(architecture: Architecture) -> Iterator[tuple[Component, tuple[Shape, ...]]]:
    hidden, heads, latent = architecture.hidden, architecture.heads, architecture.kv_lora_rank
    queries = heads * (architecture.qk_nope_head_dim + architecture.qk_rope_head_dim)
    if architecture.q_lora_rank:
        yield Component.Q_A, ((architecture.q_lora_rank, hidden),)
    yield Component.Q_B, ((queries, architecture.q_lora_rank or hidden),)
    yield Component.KV_A, ((latent + architecture.qk_rope_head_dim, hidden),)
    yield Component.KV_B, ((heads * (architecture.qk_nope_head_dim + architecture.v_head_dim), latent),)
    yield Component.O_PROJ, ((hidden, heads * architecture.v_head_dim),)
    if architecture.output_gate:
        yield Component.OUTPUT_GATE, ((heads * architecture.v_head_dim, hidden),)


def _linear_attention(linear: LinearAttention, hidden: int) -> Iterator[tuple[Component, tuple[Shape, ...]]]:
    """Its matrices: q, k, v, the second half of the decay, beta; the first half, and that of the gate; the gate."""
    width, narrow = linear.width, (linear.head_dim, hidden)
    widened = (width, linear.head_dim)
    yield Component.KDA, (*((width, hidden),) * 3, widened, (linear.heads, hidden))
    yield Component.KDA_LATENT, (narrow,) if linear.full_gate else (narrow, narrow)
    yield Component.OUTPUT_GATE, ((width, hidden) if linear.full_gate else widened,)
    yield Component.O_PROJ, ((hidden, width),)


def _linear_vectors(linear: LinearAttention, layer: int) -> Iterator[TensorGroup]:
    """Three convolutions and the output norm; `A_log` and `dt_bias`, always in FP32."""
    each = _FP32_BYTES if linear.fp32_convolution else _BF16_BYTES
    taps = 3 * linear.width * linear.kernel
    yield TensorGroup(Component.KDA, layer, taps, taps * each, 3)
    decays = (linear.decays or linear.heads) + linear.width
    yield TensorGroup(Component.KDA, layer, decays, decays * _FP32_BYTES, 2)
    yield TensorGroup(Component.NORMS, layer, linear.head_dim, linear.head_dim * each, 1)


def _mlp(hidden: int, intermediate: int) -> tuple[Shape, ...]:
    """Gate, up and down."""
    return (intermediate, hidden), (intermediate, hidden), (hidden, intermediate)


def _plain(component: Component, layer: int | None, parameters: int, tensors: int) -> TensorGroup:
    return TensorGroup(component, layer, parameters, parameters * _BF16_BYTES, tensors)


def _with_bias(router: TensorGroup, experts: int, exact_bytes: int) -> TensorGroup:
    """With the bias that `noaux_tc` corrects its scores with: FP32, BF16 where the whole checkpoint is."""
    return replace(
        router,
        parameters=router.parameters + experts,
        size_bytes=router.size_bytes + experts * exact_bytes,
        tensors=router.tensors + 1,
    )
