"""What was decided to run, before any engine spells it."""

from collections.abc import Mapping
from typing import Literal, Self

from msgspec import Struct

from moonpad.values.deployment import Reach
from moonpad.values.platform import Platform as Platform
from moonpad.values.records import replace


class Layout(Struct, frozen=True):
    """How the model is spread: tensor, pipeline, data, expert and decode-context parallel.

    `tp` is that of attention: where an engine's attention is data-parallel inside a tensor-parallel group (attention
    DP of SGLang and TensorRT-LLM), the group's size is tp × dp. `ep` is the number of ranks that share the experts, 1
    where each rank slices every expert; where it is below tp × dp, each expert is sliced over the rest.
    """

    tp: int = 1
    pp: int = 1
    dp: int = 1
    ep: int = 1
    dcp: int = 1

    @property
    def world_size(self) -> int:
        return self.tp * self.pp * self.dp

    @property
    def words(self) -> str:
        """`TP8 DCP8`, `DP16 EP16`, `TP1`."""
        sizes = {"TP": self.tp, "PP": self.pp, "DP": self.dp, "EP": self.ep, "DCP": self.dcp}
        return " ".join(f"{name}{size}" for name, size in sizes.items() if size > 1) or "TP1"


class Settings(Struct, frozen=True):
    """The engine's own limits. None means the engine's default, and nothing is said on its command line."""

    max_model_len: int | None = None
    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None
    gpu_memory_utilization: float | None = None
    fraction_kept: bool = False
    """The engine takes the memory fraction that it is given, where it would take a part of it (SGLang with AITER)."""
    state_pool_ratio: float | None = None
    """The memory of the states of linear attention over that of tokens, as a command line gives it (SGLang)."""
    kv_cache_dtype: str | None = None
    kv_cache_gib: int | None = None
    """Bytes given to the KV cache on a CPU, in whole GiB; on devices the memory fraction decides instead."""
    kv_cache_bytes: int | None = None
    """Bytes of the KV cache on each device, instead of what the memory fraction leaves (vLLM)."""
    kv_cache_tokens: int | None = None
    """The most tokens that the KV cache of a rank gets, however many there is room for (SGLang, TensorRT-LLM)."""
    enforce_eager: bool = False
    prefix_caching: bool | None = None
    attention_backend: str | None = None
    block_size: int | None = None
    kv_free_fraction: float | None = None
    """TensorRT-LLM: the share of what the weights leave free, instead of a share of the whole device."""
    redundant_experts: int = 0
    """Copies of experts beyond the model's own, for load balance."""
    executor: str | None = None
    """Who starts the ranks on other nodes: `ray`. None: the engine itself."""
    text_only: bool = False
    """Leave out the vision tower of a model that has one."""
    mm_encoder_tp_mode: str | None = None
    """`data`: each rank holds the whole vision tower and works on images of its own; `weights`: it is sliced."""
    all2all_backend: str | None = None
    """What carries tokens between the ranks that share the experts, by the engine's name of it. None: its default."""
    draft_tokens: int = 0
    """How many tokens a draft, a small model of its own in the path `draft`, proposes at a time. 0: none."""
    draft: str | None = None
    """The name of that draft, where the catalogue knows it."""
    max_loras: int = 0
    """For how many LoRA adapters buffers are held on the devices. 0: none."""
    max_lora_rank: int | None = None
    cpu_offload_gib: float | None = None
    """Weights of each device that lie in host RAM, in GiB."""
    kv_offload_size: float | None = None
    """The copy of the KV cache in host RAM, in the engine's own unit: GiB of a replica (vLLM), 10^9 bytes of each rank
    (SGLang)."""
    kv_offload_ratio: float | None = None
    """The same as a multiple of the KV cache on the device (SGLang)."""
    gpu_experts: int | None = None
    """Engines that place experts one by one: how many of each layer lie on the devices; the others are in host RAM."""
    device_layers: int | None = None
    """Engines that place whole layers: so many lie on the devices, the last ones, and the output counts as one. None:
    all."""
    host_expert_layers: int | None = None
    """Engines that place experts by layers: those of the first so many layers are in host RAM."""
    cpu_binding: str | None = None
    """Where processors compute: the cores of each rank, as the engine writes them. None: the engine decides."""

    def __post_init__(self) -> None:
        for name in ("gpu_memory_utilization", "kv_free_fraction"):
            fraction = getattr(self, name)
            if fraction is not None and not 0 < fraction <= 1:
                raise ValueError(f"{name} is a fraction above 0 and at most 1, got {fraction}")

    def with_values(self, values: Mapping[str, object]) -> Self:
        """The same with other values, by the names of the fields."""
        return replace(self, **values)  # the names are only known at run time


class Serving(Struct, frozen=True):
    """How the endpoint looks from outside."""

    served_name: str
    port: int = 8000
    reach: Reach = "loopback"
    keyed: bool = False
    tool_parser: str | None = "kimi_k2"
    reasoning_parser: str | None = "kimi_k2"
    trust_remote_code: bool = False
    """Run the Python that lies in the checkpoint. The tokenizer that Kimi-K2 was published with is such code."""


PoolRole = Literal["prefill", "decode"]


class Transfer(Struct, frozen=True):
    """The part of one pool in prefill/decode disaggregation: what it does, and what carries the KV cache."""

    role: PoolRole
    connector: str
    """`mooncake`, `nixl`: our name, which the engine spells in its own way."""
    devices: str | None = None
    """Network devices for it, as in `mlx5_0,mlx5_1`."""
    bootstrap_timeout_s: float | None = None
    """How long one pool waits until the other answers."""
    waiting_timeout_s: float | None = None
    """How long a decode server waits for the KV cache of a request."""
    heartbeat_s: float | None = None
    """How often a decode server asks whether the prefill servers live."""
    report_speed: bool = False
    """The connector logs what it transfers."""


class Plan(Struct, frozen=True):
    """One way to serve one checkpoint. `weights_bytes` is what the checkpoint's tensors take, exactly.

    `nodes` machines of `devices_per_node` devices each; `scheme` is that of `Quantization`.
    """

    name: str
    engine: str
    platform: Platform
    layout: Layout
    settings: Settings
    serving: Serving
    weights_bytes: int
    checkpoint_file: str = ""
    """What an engine is told that takes the path of a file: its name in the checkpoint's folder."""
    extra_args: tuple[str, ...] = ()
    option_file: str = ""
    """A JSON object of further keys of the engine's option file, or ""."""
    start_budget_s: float = 900.0
    """How long a start may take before it is given up."""
    stop_grace_s: float = 20.0
    """How long a stop may take before what is left is killed."""
    drain_s: float | None = None
    """How long running requests may go on once the engine is told to end, where it can refuse new ones meanwhile. None:
    they are cut."""
    engine_version: str = ""
    nodes: int = 1
    devices_per_node: int = 0
    scheme: str = "bf16"
    host_cores: int = 0
    """Physical cores of a node, for engines that compute on them; 0: not known."""
    host_numa_nodes: int = 0
    rdma: bool = False
    """The nodes are joined by InfiniBand or RoCE."""
    transfer: Transfer | None = None
    """What it is in prefill/decode disaggregation; None: it does both."""
