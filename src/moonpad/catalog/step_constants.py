"""The constants of a step's time: which share of a device's rates engines reach, and what each layer costs beside.

`scripts/fit_step_constants.py` writes them from published points.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from moonpad.catalog.toml_rows import Provenance, rows
from moonpad.values.records import field_names, replace

FILE: Final = "step_constants.toml"


class Constant(Struct, frozen=True, kw_only=True):
    """One row of the file: the value within its range, and how it came about."""

    value: float
    low: float
    high: float
    unit: str
    fit: str
    """How it was found: from which points, or by which reasoning."""
    provenance: Provenance


class StepConstants(Struct, frozen=True, kw_only=True):
    """Their values. A share is one of what the data sheet says of the device; `*_s` are seconds."""

    bandwidth: float
    """Share of the memory bandwidth at which matrices are read."""
    expert_bandwidth: float
    """The same for routed experts in grouped products."""
    kv_bandwidth: float
    gemm: float
    """Share of the dense rate of their format that matrices outside the routed experts reach."""
    expert_bf16: float
    expert_int4: float
    """Of the BF16 rate, in which weights of 4 bits are multiplied."""
    expert_fp8: float
    expert_fp4: float
    expert_tile: float
    """Tokens by which a touched expert's product is longer than what it is given: tiles are padded."""
    decode_attention: float
    prefill_attention: float
    layer_s: float
    """Of each layer, with graphs."""
    eager_layer_s: float
    """Of each layer without graphs: the launches, below which no step goes."""
    all_reduce_s: float
    """Latency of a collective within an island."""
    network_s: float
    """Latency of one that leaves it."""
    link: float
    """Share of a link's rate."""
    network: float
    step_s: float
    """Host time of a step."""
    sequence_s: float
    """Host time of a step for each sequence."""
    request_s: float
    """From the client to the first step, and back with the first token."""
    request_other: float
    """Times that in engines other than vLLM: they compute prompts in batches of their own."""
    request_token_s: float
    """The same for each token of a prompt."""
    reading_s: float
    """Of that, before the scheduler has a prompt: HTTP and the tokenizer, one prompt after another."""
    reading_token_s: float
    """The same for each token of a prompt."""
    acceptance: float
    """Probability that a draft's token is accepted."""
    blackwell: float
    """Times what a layer and a collective cost on Blackwell, whose engines' releases fuse more."""
    recent: float
    """Times the fixed costs of a step in releases that overlap more: vLLM from 0.17 on, TensorRT-LLM from 1.1 on."""
    slow_platform: float
    """Times what a layer costs on devices that are not NVIDIA's: AMD's and Huawei's."""
    host_bytes_per_s: float
    """Memory bandwidth of one processor socket, where the machine's is not known."""
    host_flops: float
    """Rate of one socket with matrix units, without: a quarter."""
    host_layer_s: float
    """Handing one layer's experts to the processors and back."""
    cpu_core_flops: float
    """An engine that computes on the processor: the rate of a core."""
    cpu_prefill_flops: float
    """The same of the attention of prompts."""
    cpu_decode_flops: float
    """The same of the attention of sequences that decode."""
    cpu_expert_tile: float
    """Tokens by which a touched expert's product is longer there."""
    cpu_core_bytes_per_s: float
    cpu_layer_s: float
    cpu_step_s: float
    cpu_sequence_s: float
    """Host time of a step for each sequence, on the cores that also compute."""
    cpu_request_s: float

    def with_values(self, values: Mapping[str, float]) -> StepConstants:
        return replace(self, **values)


NAMES: Final = field_names(StepConstants)


class Corrections(Struct, frozen=True, kw_only=True):
    """Factors on the times of a model: of what is read, computed, fixed, taken by each sequence of a step, and of a
    request's way to its first step."""

    memory: float = 1.0
    compute: float = 1.0
    fixed: float = 1.0
    sequences: float = 1.0
    request: float = 1.0
    prefill: float = 1.0
    """Of the attention of prompts, where a processor computes."""
    decode: float = 1.0
    """Of that of sequences that decode, there."""
    experts: float = 1.0
    """Of what an expert costs there that is touched at all."""


class FittedGroup(Struct, frozen=True, kw_only=True):
    """What points of one kind of device, weights and engine correct of the constants."""

    device: str
    scheme: str
    engine: str
    corrections: Corrections
    points: int
    provenance: Provenance


class Spread(Struct, frozen=True, kw_only=True):
    """The range of a prediction as factors on its value, from leave-one-group-out residuals: 80 % lie within."""

    low: float
    high: float
    points: int
    provenance: Provenance


@cache
def constants() -> Mapping[str, Constant]:
    """Every constant by its name. Reads the data once."""
    named = {key: row.build(Constant) for key, row in rows(FILE, "constants")}
    if missing := set(NAMES).symmetric_difference(named):
        raise ValueError(f"{FILE}: {', '.join(sorted(missing))} missing or not known")
    return MappingProxyType(named)


@cache
def step_constants() -> StepConstants:
    return StepConstants(**{name: row.value for name, row in constants().items()})


@cache
def fitted_groups() -> tuple[FittedGroup, ...]:
    return tuple(
        row.build(FittedGroup, corrections=row.part("corrections", Corrections)) for _, row in rows(FILE, "groups")
    )


@cache
def spreads() -> Mapping[str, Spread]:
    """By `METRIC STANDING KIND`, as in `tpot interpolated vllm`."""
    return MappingProxyType({key: row.build(Spread) for key, row in rows(FILE, "spreads")})
