"""How the model is spread and what it is limited to: `[layout]` and `[settings]`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, field_validator, model_validator

from moonpad.spec.extra_args import check_extra_args
from moonpad.spec.fields import (
    BytesOrDefault,
    Count,
    CountOrDefault,
    EncoderMode,
    Executor,
    SizeOrDefault,
    Switch,
    SwitchOrDefault,
    Table,
    Text,
    ZeroOrMore,
    ZeroOrMoreOrDefault,
)


class LayoutTable(Table):
    """Tensor, pipeline, data and decode-context parallel sizes; how many ranks share the experts."""

    tp: Count = 1
    pp: Count = 1
    dp: Count = 1
    dcp: Count = 1
    ep: CountOrDefault = None
    """Ranks that share the experts; by default 1 or, with `expert_parallel`, tp times dp."""
    expert_parallel: Switch = False

    @model_validator(mode="after")
    def _one_ep(self) -> LayoutTable:
        if self.expert_parallel and self.ep is not None and self.ep != self.tp * self.dp:
            raise ValueError(f"has ep = {self.ep} and expert_parallel, which is ep = tp * dp = {self.tp * self.dp}")
        return self


class SettingsTable(Table):
    """The engine's limits. The plan chooses those that are absent."""

    max_model_len: CountOrDefault = None
    max_num_seqs: CountOrDefault = None
    max_num_batched_tokens: CountOrDefault = None
    gpu_memory_utilization: Annotated[float | None, Field(gt=0, le=1, description="a number above 0, at most 1")] = None
    kv_cache_dtype: Text | None = None
    kv_cache_gib: CountOrDefault = None
    kv_cache_bytes: BytesOrDefault = None
    """vLLM: bytes of the KV cache on each device, instead of what the memory fraction leaves."""
    kv_cache_tokens: CountOrDefault = None
    """SGLang, TensorRT-LLM: the most tokens that the KV cache of a rank gets."""
    enforce_eager: SwitchOrDefault = None
    prefix_caching: SwitchOrDefault = None
    attention_backend: Text | None = None
    block_size: CountOrDefault = None
    """Tokens per block of the KV cache."""
    kv_free_fraction: Annotated[float | None, Field(gt=0, le=1, description="a number above 0, at most 1")] = None
    """TensorRT-LLM: the share of what the weights leave free."""
    redundant_experts: ZeroOrMore = 0
    """Copies of experts beyond the model's own."""
    executor: Annotated[Executor | None, Field(description='"ray" or absent')] = None
    """`ray`: Ray starts vLLM's ranks on several machines, instead of vLLM's own multi-node support."""
    text_only: Switch = False
    """Leave out the vision tower of a model that has one."""
    mm_encoder_tp_mode: Annotated[EncoderMode | None, Field(description='"data" or "weights"')] = None
    """vLLM and SGLang: `data` holds the whole vision tower on each rank. vLLM alone: `weights` slices it."""
    all2all_backend: Text | None = None
    """vLLM: what carries tokens between the ranks that share the experts."""
    draft: Text | None = None
    """The folder of a draft for speculative decoding, relative to the file."""
    draft_tokens: CountOrDefault = None
    """How many tokens it proposes at a time; by default 3."""
    max_loras: ZeroOrMore = 0
    """vLLM: for how many LoRA adapters it holds buffers at once."""
    max_lora_rank: CountOrDefault = None
    cpu_offload_gib: SizeOrDefault = None
    """GiB of weights of each device that lie in host RAM."""
    kv_offload_size: SizeOrDefault = None
    """A copy of the KV cache in host RAM: GiB of a replica for vLLM, 10^9 bytes of each rank for SGLang."""
    kv_offload_ratio: SizeOrDefault = None
    """SGLang: the same as a multiple of the KV cache on the devices."""
    gpu_experts: ZeroOrMoreOrDefault = None
    """KTransformers: experts of each layer kept on the devices; the others stay in host RAM."""
    device_layers: ZeroOrMoreOrDefault = None
    """llama.cpp: so many layers, the output among them, lie on the devices, the others in host RAM; by default all."""
    host_expert_layers: ZeroOrMoreOrDefault = None
    """llama.cpp: the routed experts of so many layers, from the first, stay in host RAM."""
    cpu_binding: Text | None = None
    """vLLM on a processor: the cores of each rank, "0-3|4-7", or "nobind"; by default vLLM chooses."""
    extra_args: Annotated[
        tuple[str, ...], Field(strict=False, description='a list of texts, like ["--flag", "value"]')
    ] = ()
    option_file: dict[str, Any] = Field(default_factory=dict, description="a table of keys of the engine's option file")
    """TensorRT-LLM: keys of its YAML beside those that are made of the settings above."""

    @model_validator(mode="after")
    def _a_draft_proposes(self) -> SettingsTable:
        if self.draft_tokens is not None and self.draft is None:
            raise ValueError("has draft_tokens but no draft")
        return self

    @field_validator("extra_args")
    @classmethod
    def _no_key_of_ours(cls, args: tuple[str, ...]) -> tuple[str, ...]:
        check_extra_args(args)
        return args
