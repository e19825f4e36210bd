"""One way to serve one checkpoint, and what every judgement of it has to know of the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, Literal

from msgspec import Struct, field
from msgspec.structs import force_setattr

from moonpad.values.checkpoint import Architecture, Checkpoint, Quantization
from moonpad.values.cluster import Cluster, Device
from moonpad.values.draft import DraftSizes
from moonpad.values.finding import Finding
from moonpad.values.plan import Layout, Settings
from moonpad.values.platform import Platform
from moonpad.values.pools import PoolFacts
from moonpad.values.records import replace
from moonpad.values.versions import since

ExpertDegrees = Literal["all ranks", "divisors", "none"]
"""Over how many ranks an engine can share whole experts: all of the group or one, any divisor of it, or one alone."""


HostExperts = Literal["", "of each layer", "of the first layers"]
UnpacksKvB = Literal["always", "where quantised", "never"]


class EngineFacts(Struct, frozen=True):
    """What planning and judging have to know of an engine. Its defaults and overheads are rows of `overhead.toml`."""

    name: str
    title: str
    """As its makers write it: `TensorRT-LLM`."""
    platforms: tuple[Platform, ...]
    preference: int
    """Which engine comes first where nothing else decides; smaller is earlier."""
    example: str = "SPEC.toml"
    """A spec of this repository that starts it."""
    parsers_built_in: bool = False
    """It knows how a model writes tool calls and thinking from its chat template, and takes no name of a parser."""
    first_versions: Mapping[str, str] = field(default_factory=dict)
    """`model_type` → the first version that serves it, where that is known; "" where every recorded one does."""
    asked_versions: Mapping[str, str] = field(default_factory=dict)
    """`model_type` → the version that its publisher asks for, where that is a later one."""
    setting_names: Mapping[str, str] = field(default_factory=dict)
    """The engine's own names of settings and parallel sizes → ours. `!` before ours: the switch means the opposite."""

    # Parallelism
    attention_dp: bool = False
    """Data parallelism is that of attention alone; the other layers share one group of tp × dp ranks."""
    experts_over_dp: bool = False
    """Data-parallel ranks share the experts although each has a tensor-parallel group of its own."""
    gathers_tokens: bool = True
    """Where data-parallel ranks share the experts, each gets the tokens of all; else those for its own experts."""
    dispatching: tuple[str, ...] = ()
    """How the names of those `all2all_backend` begin that send a rank the tokens of its own experts alone."""
    expert_degrees: ExpertDegrees = "divisors"
    uneven_experts: bool = False
    """Ranks may hold different numbers of experts."""
    balances_experts: bool = True
    """It can place copies of experts (`redundant_experts`)."""
    pipelines: bool = True
    tensor_parallel: bool = True
    """False: the devices share out the layers alone, as pipeline stages of one process."""
    one_machine: bool = False
    dcp_since: str | None = None
    """The first version with decode context parallelism; None: it has none."""
    linear_dcp_since: str | None = None
    """The first version that has it with layers of linear attention too."""
    no_dcp_because: str = ""
    dcp_unasked: bool = False
    """Its decode context parallelism is common enough to be suggested to those who did not ask for it."""
    stages_since: str = ""
    """The first version that is known to have pipeline parallelism; "" where all have it."""
    native_nodes_since: str = ""
    """The first version that joins machines without Ray; "" where it always did."""
    fits_mlp_itself: bool = False
    """It shares the dense MLP and the shared experts over as many ranks as their sizes allow."""
    pads_slices: bool = False
    """It fills heads and columns up to a number that its ranks can share."""

    # Memory
    vision_sliced: bool = False
    """The vision tower is known to be tensor-parallel."""
    vision_heads_until: Mapping[str, str] = field(default_factory=dict)
    """`model_type` → the first version that gives each rank the whole vision tower where its heads do not divide; "":
    none does so unasked. Before it the start ends."""
    whole_vision_since: str = ""
    """The first version that serves with the whole tower on each rank when asked for it (`mm_encoder_tp_mode`)."""
    host_experts: HostExperts = ""
    """Routed experts may lie in host RAM, where the processors compute them: some of each layer, or those of the first
    layers. "": they may not."""
    kv_bytes_since: str = ""
    """The first version that can be told how many bytes of each device the KV cache gets; "": none can."""
    embedding_on_host: bool = False
    """The token embedding lies in host RAM, beside the devices."""
    unpacks_kv_b: UnpacksKvB = "always"
    """Whether it keeps W_UK and W_UV in BF16 beside kv_b for decoding: a copy always, or only where kv_b is quantised
    and so has to be unpacked, and a view of it where it is BF16."""
    workspace_of_sequences_until: str | None = None
    """The first version whose workspace of MLA prefill no longer grows with a block for each sequence; None: it never
    does so where layers of linear attention lengthen the blocks."""
    draft_table_bytes: int = 0
    """Of a value in a draft's table of sines and cosines, kept for every position. The target's is part of the measured
    overhead, where no draft ran."""
    kv_offload_by_replica: bool = False
    """Its `kv_offload_size` counts GiB of a whole replica, and not 10^9 bytes of each rank."""
    reserves_kv: bool = False
    """It allocates the KV cache of `max_num_seqs` whole contexts at its start, and no more."""
    cores_option: str = ""
    """The option that takes the number of physical cores, for engines that compute on them."""
    needs_whole_context: bool = False
    """It does not start where one sequence of the whole context has no room; the others cut the context down."""
    whole_prompts: bool = False
    """Unless it is asked for chunks, it refuses a prompt that is longer than the tokens of a step."""
    step_holds_sequences: bool = False
    """It does not start with fewer tokens of a step than sequences; unasked it lowers the sequences to as many."""
    graphs_option: bool = True
    """It can be told to do without graphs."""
    unasked: Mapping[str, int | bool] = field(default_factory=dict)
    """Settings that a plan names where the spec does not, as the engine's own default depends on the whole machine."""
    memory_fraction_name: str = "gpu_memory_utilization"
    """Which of our settings is its memory fraction; "" where it has none."""
    limits_over_dp: bool = False
    """`max_num_seqs` and `max_num_batched_tokens` count over all ranks of attention DP."""

    # Formats
    kv_cache_names: frozenset[str] = frozenset()
    """What its parser takes for the format of the KV cache."""
    fp8_kv_name: str | None = None
    """How it spells an FP8 (E4M3) KV cache."""
    kv_from_checkpoint_since: str = ""
    """The first release that stores the KV cache as the checkpoint says where nothing is asked; before it in 16 bit."""
    strict_block_size: bool = False
    """It refuses a block that attention cannot use; the others change it."""
    order_backends: Callable[[Configuration, tuple[str, ...]], tuple[str, ...]] | None = None
    """Its own order of the attention backends that are possible, where that of `attention_backends.toml` is not all."""
    reads_gguf: bool = False
    gguf_only: bool = False
    gguf_rest_bits: float = 16
    """What a weight of a GGUF takes that is not of a routed expert, where only the size of the files is known."""
    reads_modelslim: bool = False
    weight_only_fp8_since: str | None = None
    """The first release that multiplies experts in FP8 blocks in BF16 where there is no FP8 arithmetic."""
    weight_only_nvfp4_since: str | None = None
    emulates_mxfp4: bool = False
    """On AMD devices without MXFP4 arithmetic."""

    pools: PoolFacts | None = None
    """What it says of a transfer between prefill and decode pools; None: moonpad plans none with it."""

    rules: tuple[Callable[[Configuration], Iterator[Finding]], ...] = ()
    """What this engine alone refuses or warns of; each has a row of evidence in `rules.toml`."""

    def __post_init__(self) -> None:
        force_setattr(self, "first_versions", MappingProxyType(dict(self.first_versions)))
        force_setattr(self, "asked_versions", MappingProxyType(dict(self.asked_versions)))
        force_setattr(self, "vision_heads_until", MappingProxyType(dict(self.vision_heads_until)))
        force_setattr(self, "unasked", MappingProxyType(dict(self.unasked)))
        force_setattr(self, "setting_names", MappingProxyType(dict(self.setting_names)))

    @property
    def shares_experts(self) -> bool:
        """All data-parallel ranks together hold the experts once."""
        return self.experts_over_dp or self.attention_dp


class Configuration(Struct, frozen=True):
    """What is planned, explained, rendered and started, as the one value that all of them judge.

    `version` "": the newest. None in `settings`: the engine's own default.
    """

    checkpoint: Checkpoint
    cluster: Cluster
    engine: EngineFacts
    version: str
    layout: Layout
    settings: Settings
    draft: DraftSizes | None = None
    """What a draft's own config.json says; None: its name says it, if anything."""

    @property
    def architecture(self) -> Architecture:
        return self.checkpoint.architecture

    @property
    def quantization(self) -> Quantization:
        return self.checkpoint.quantization

    @property
    def scheme(self) -> str:
        return self.checkpoint.quantization.scheme

    @property
    def device(self) -> Device:
        return self.cluster.device

    @property
    def platform(self) -> Platform:
        return self.cluster.device.platform

    @property
    def capability(self) -> str:
        """Of the device, or of a processor: `9.0`, `gfx942`, `amx`; "" where nothing is known."""
        return self.device.capability or ("amx" if self.cluster.host.amx else "")

    @property
    def program(self) -> str:
        """`vllm 0.11.0`, for sentences."""
        return f"{self.engine.name} {self.version}".strip()

    @property
    def expert_group(self) -> int:
        """How many ranks hold the experts once."""
        return self.layout.tp * self.layout.dp if self.engine.shares_experts else self.layout.tp

    @property
    def expert_slices(self) -> int:
        """Into how many slices each expert is cut, rounded down where `ep` does not divide the group."""
        return max(1, self.expert_group // self.layout.ep)

    @property
    def ranks_per_node(self) -> int:
        return -(-self.layout.world_size // max(1, self.cluster.nodes))

    @property
    def spans_nodes(self) -> bool:
        return self.layout.world_size > max(1, self.cluster.per_node)

    @property
    def stored_kv(self) -> str:
        """The format of the KV cache: `bf16`, `fp8` (E4M3), `fp8_e5m2`, or as the engine was told. A checkpoint with
        scales for an FP8 cache gets one unless it is told otherwise, or the release does not look at them.
        """
        kv_cache_dtype = self.settings.kv_cache_dtype
        if kv_cache_dtype in (None, "auto"):
            by_checkpoint = self.since(self.engine.kv_from_checkpoint_since)
            return (self.quantization.kv_cache if by_checkpoint else None) or "bf16"
        return KV_FORMATS.get(kv_cache_dtype or "", kv_cache_dtype or "")

    def since(self, version: str) -> bool:
        """Whether the engine is of that version or newer."""
        return since(self.version, version)

    def with_settings(self, **changes: object) -> Configuration:
        """The same with other settings, by their names."""
        return replace(self, settings=self.settings.with_values(changes))

    def with_layout(self, **sizes: int) -> Configuration:
        return replace(self, layout=replace(self.layout, **sizes))


KV_FORMATS: Final = {
    "bfloat16": "bf16",
    "float16": "bf16",
    "bf16": "bf16",
    "fp8": "fp8",
    "fp8_e4m3": "fp8",
    "fp8_e5m2": "fp8_e5m2",
}
