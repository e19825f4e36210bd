"""What a checkpoint is made of: the architecture, the formats of its weights, groups of tensors with bytes."""

from bisect import bisect_left
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from msgspec import Struct, field
from msgspec.structs import force_setattr


class Component(StrEnum):
    """The parts of a Kimi checkpoint, by the names that `memory.weights` in the JSON of `plan` has."""

    ROUTED_EXPERTS = "routed_experts"
    SHARED_EXPERTS = "shared_experts"
    DENSE_MLP = "dense_mlp"
    Q_A = "q_a"
    Q_B = "q_b"
    KV_A = "kv_a"
    KV_B = "kv_b"
    O_PROJ = "o_proj"
    KDA = "kda"
    """Of a layer of Kimi Delta Attention what follows its heads: q, k and v, their convolutions, decay and beta."""
    KDA_LATENT = "kda_latent"
    """The narrow halves of its decay and of its gate, which every head reads."""
    OUTPUT_GATE = "output_gate"
    """What multiplies the output of attention; in Kimi-K3 in both kinds of layer."""
    EXPERT_LATENT = "expert_latent"
    """Down to the width that the routed experts of Kimi-K3 work in, and up again."""
    ROUTER = "router"
    NORMS = "norms"
    """The attention residuals of Kimi-K3 among them: a norm and a vector before each sublayer."""
    EMBED_TOKENS = "embed_tokens"
    LM_HEAD = "lm_head"
    VISION = "vision"
    ROTARY = "rotary"
    """`rotary_emb.inv_freq`: in the files of Kimi-K2, loaded by no engine."""
    DECODE_WEIGHTS = "decode_weights"
    """W_UK and W_UV in BF16, which engines keep beside kv_b; in no file."""
    DRAFT = "draft"
    LORA = "lora"
    """Buffers for adapters; in no file."""
    OTHER = "other"


class Sharding(StrEnum):
    """How an engine spreads a group over the ranks."""

    EXPERTS = "experts"
    """Whole experts over the expert-parallel ranks; each expert sliced over the rest of the ranks."""
    TENSOR = "tensor"
    REPLICATED = "replicated"
    NOT_LOADED = "not loaded"


class LinearAttention(Struct, frozen=True):
    """Kimi Delta Attention, which all layers but `mla_layers` (counted from 0, in order) have instead of MLA.

    A sequence has a state of a fixed size in each such layer, and no token has a KV cache there. A head has as many
    keys as values.
    """

    mla_layers: tuple[int, ...]
    heads: int
    head_dim: int
    kernel: int
    """Tokens that a short convolution reads, the present one among them."""
    full_gate: bool = False
    """The output gate is one matrix (Kimi-K3) and not two narrow ones."""
    decays: int = 0
    """How many values `A_log` has in the files: 128 for the 96 heads of Kimi-K3. 0: one a head."""
    fp32_convolution: bool = False
    """Convolutions and the output norm lie in FP32 in the files."""

    @property
    def width(self) -> int:
        return self.heads * self.head_dim


class Architecture(Struct, frozen=True):
    """The sizes of a DeepSeek-V3-like model, by the names of its config.json where they are short enough.

    `vision_parameters` counts the tower and the projector of a multimodal checkpoint, held in BF16; 0 for text alone.
    """

    model_type: str
    layers: int
    hidden: int
    heads: int
    q_lora_rank: int
    kv_lora_rank: int
    qk_nope_head_dim: int
    qk_rope_head_dim: int
    v_head_dim: int
    intermediate: int
    dense_layers: int
    """The first layers, which have an MLP instead of experts: `first_k_dense_replace`."""
    routed_experts: int
    experts_per_token: int
    shared_experts: int
    moe_intermediate: int
    vocabulary: int
    max_context: int
    tied_embeddings: bool = False
    vision_parameters: int = 0
    vision_heads: int = 0
    """Attention heads of the vision tower; 0: there is none, or they are not known."""
    nextn_layers: int = 0
    """Layers for multi-token prediction: 0 in the whole Kimi-K2 family."""
    topk_method: str = "noaux_tc"
    scoring: str = "sigmoid"
    linear: LinearAttention | None = None
    """None: every layer has MLA."""
    output_gate: bool = False
    """MLA multiplies its output by a gate."""
    expert_hidden: int = 0
    """The width that the routed experts read and write, with a norm behind it; 0: `hidden`."""
    attention_residuals: bool = False

    @property
    def moe_layers(self) -> int:
        return self.layers - self.dense_layers

    def is_mla(self, layer: int) -> bool:
        return self.linear is None or layer in self.linear.mla_layers

    def mla_between(self, first: int, end: int) -> int:
        """How many of the layers from `first` up to `end` have MLA, and with it a KV cache."""
        if self.linear is None:
            return end - first
        return bisect_left(self.linear.mla_layers, end) - bisect_left(self.linear.mla_layers, first)


class TensorFormat(Struct, frozen=True):
    """How a matrix of (rows, columns) = (output, input) features lies in a file.

    `bits` a weight; one scale of `scale_bytes` for each block of (rows, columns), the last ones cut short; none
    where `block` is None. `extra_bytes` is what else lies beside a matrix (a shape, a global scale). `extra_tensors`
    counts every tensor in the file beside the weight's own, the one of the scales among them.
    """

    name: str
    """`bf16`, `fp8`, `int4`, `nvfp4`, `mxfp4`, `int8` …"""
    bits: int
    block: tuple[int, int] | None = None
    scale_bytes: int = 0
    extra_bytes: int = 0
    extra_tensors: int = 0


BF16 = TensorFormat("bf16", 16)


class Quantization(Struct, frozen=True):
    """What the weights are: `method` as `quant_method` of config.json says it, "" for plain BF16.

    `formats` names the components that are not BF16. `scheme` is our short name for rules and people:
    `bf16`, `fp8`, `int4`, `w4a16`, `nvfp4`, `mxfp4`, `w8a8`, `w4a8`, `gguf`.
    """

    scheme: str
    method: str = ""
    formats: Mapping[Component, TensorFormat] = field(default_factory=dict)
    kv_cache: str | None = None
    """`fp8` where the checkpoint brings scales for an FP8 KV cache."""

    def __post_init__(self) -> None:
        force_setattr(self, "formats", MappingProxyType(dict(self.formats)))

    def format_of(self, component: Component) -> TensorFormat:
        return self.formats.get(component, BF16)


class TensorGroup(Struct, frozen=True):
    """The tensors of one component in one layer, `layer` None for what lies outside the layers.

    `parameters` counts weights without scales; `size_bytes` and `tensors` count everything in the files.
    """

    component: Component
    layer: int | None
    parameters: int
    size_bytes: int
    tensors: int
    loaded: bool = True

    @property
    def sharding(self) -> Sharding:
        return SHARDING.get(self.component, Sharding.REPLICATED) if self.loaded else Sharding.NOT_LOADED

    @property
    def before(self) -> bool:
        """Whether it stands before the layers (the embedding), and so on the first pipeline stage."""
        return self.component in (Component.EMBED_TOKENS, Component.VISION)


SHARDING: Final = {
    Component.ROUTED_EXPERTS: Sharding.EXPERTS,
    Component.SHARED_EXPERTS: Sharding.TENSOR,
    Component.DENSE_MLP: Sharding.TENSOR,
    Component.Q_B: Sharding.TENSOR,
    Component.KV_B: Sharding.TENSOR,
    Component.O_PROJ: Sharding.TENSOR,
    Component.KDA: Sharding.TENSOR,
    Component.OUTPUT_GATE: Sharding.TENSOR,
    Component.EMBED_TOKENS: Sharding.TENSOR,
    Component.LM_HEAD: Sharding.TENSOR,
    Component.ROTARY: Sharding.NOT_LOADED,
}
"""A component that is not named here is replicated on every tensor-parallel rank."""


class Checkpoint(Struct, frozen=True):
    """A model as it lies on a disk. `source` says where the knowledge comes from: a folder, or a row of the catalogue.

    `groups` is empty where only the size is known (GGUF): then `total_bytes` alone says something.
    """

    name: str
    architecture: Architecture
    quantization: Quantization
    groups: tuple[TensorGroup, ...]
    source: str
    total_bytes: int
    file: str = ""
    """The first file, for engines that take its path instead of the folder's; "" where there are several or none."""

    @property
    def parameters(self) -> int:
        return sum(group.parameters for group in self.groups)

    @property
    def tensors(self) -> int:
        return sum(group.tensors for group in self.groups)
