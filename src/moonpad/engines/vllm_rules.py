"""What vLLM alone refuses or warns of, on CUDA and ROCm devices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.catalog.overhead import defaults_of
from moonpad.engines.attention_backends import find, has_dcp
from moonpad.engines.gpu_rules import aiter_finding, marlin_finding
from moonpad.values.checkpoint import Component
from moonpad.values.configuration import Configuration
from moonpad.values.finding import Code, Finding, Severity, conflict, illegal, invalid, suboptimal, unsupported
from moonpad.values.platform import Platform

PADS_TILES: Final = "0.24.0"
# Since then it asks a backend whether it has decode context parallelism before it takes it
# (v1/attention/selector.py of the wheels 0.28.0 and 0.29.0).
CHOOSES_BY_DCP: Final = "0.29.0"
FIRST_WITH_FP8_KV: Final = "0.25.0"
GLUON_HEADS: Final = "0.27.0"
GLUON_BY_DEVICE: Final = "0.28.0"
"""AITER's kernel for fewer than 16 heads serves, and is asked only where it was built."""
MOST_OF_UNIFIED: Final = 0.85
SAFE_OF_UNIFIED: Final = 0.82
"""101 to 102 GiB of 121.69 were free on two DGX Spark, whatever was switched off before; elsewhere 0.85 was."""
NEVER_FREE_OF_UNIFIED: Final = 0.97
"""The kernel, the container and the driver take more than the rest of it. Starts at 0.88 to 0.95 are reported of
machines that run nothing else."""


def order_backends(configuration: Configuration, names: tuple[str, ...]) -> tuple[str, ...]:
    if configuration.layout.dcp == 1 or not configuration.since(CHOOSES_BY_DCP):
        return names
    return tuple(name for name in names if has_dcp(find(name), configuration.version)) or names


def marlin_tiles(configuration: Configuration) -> Iterator[Finding]:
    """It falls back to Triton, and pads since 0.24."""
    if not configuration.since(PADS_TILES):
        yield from marlin_finding(configuration, "vLLM falls back to a slower one")


def flydsl_ep(configuration: Configuration) -> Iterator[Finding]:
    form = configuration.quantization.format_of(Component.ROUTED_EXPERTS)
    if configuration.device.capability == "gfx950" and form.name == "int4" and configuration.layout.ep > 1:
        yield suboptimal(
            "ep",
            f"expert parallel {configuration.layout.ep} with INT4 experts: the fast kernel of "
            f"{configuration.device.product} (--moe-backend flydsl) takes no expert parallelism, and Triton's is left",
            "set ep = 1 with --moe-backend flydsl",
        )


def dcp_fp8_kv(configuration: Configuration) -> Iterator[Finding]:
    if configuration.layout.dcp == 1 or configuration.since(FIRST_WITH_FP8_KV):
        return
    if configuration.stored_kv.startswith("fp8"):
        # `auto` follows a checkpoint that brings scales for an FP8 cache.
        plain = "bfloat16" if configuration.quantization.kv_cache else "auto"
        yield illegal(
            "kv_cache_dtype",
            f"an FP8 KV cache with decode context parallel {configuration.layout.dcp}: {configuration.program} asserts "
            f"against the two; they go together from {FIRST_WITH_FP8_KV} on",
            f'take vLLM {FIRST_WITH_FP8_KV} or newer, or set kv_cache_dtype = "{plain}", or dcp = 1',
        )


def aiter_heads(configuration: Configuration) -> Iterator[Finding]:
    heads = configuration.architecture.heads // configuration.layout.tp
    if configuration.since(GLUON_HEADS) and not configuration.since(GLUON_BY_DEVICE) and not _is_gfx950(configuration):
        allowed = heads % 16 == 0
        needs = f"multiples of 16 on {configuration.device.product}: its kernel for fewer is made for gfx950"
    elif configuration.since(GLUON_HEADS):
        allowed, needs = heads <= 128 or heads % 16 == 0, "up to 128, or a multiple of 16"
    elif configuration.since("0.20.0"):
        allowed, needs = heads > 0 and (16 % heads == 0 or heads % 16 == 0), "a divisor or a multiple of 16"
    elif configuration.since("0.18.0"):
        allowed = heads in (4, 8) or (heads % 16 == 0 and heads <= 128)
        needs = "4, 8, or a multiple of 16 up to 128"
    else:
        allowed, needs = heads in (16, 128), "16 or 128"
    yield from aiter_finding(configuration, "ROCM_AITER_MLA", heads, allowed, needs)


def _is_gfx950(configuration: Configuration) -> bool:
    return configuration.device.capability == "gfx950"


def broken_release(configuration: Configuration) -> Iterator[Finding]:
    broken, needed = configuration.version.startswith("0.12.0"), configuration.architecture.model_type == "kimi_linear"
    if broken and needed:
        message = f"{configuration.program} cannot load kimi_linear: MLAModules misses its argument indexer_rotary_emb"
        yield unsupported("engine", message, "take vllm 0.11.2, or a release after 0.12")


def k3_fp8_kv(configuration: Configuration) -> Iterator[Finding]:
    """Its prefill wants the query in FP8 too, and quantises it on Blackwell only, whatever is asked."""
    sm = configuration.device.sm
    cuda, kind = configuration.platform is Platform.CUDA, configuration.architecture.model_type
    if kind != "kimi_k3" or not cuda or sm is None or sm >= 100 or not configuration.stored_kv.startswith("fp8"):
        return
    message = (
        f"an FP8 KV cache of Kimi-K3 on {configuration.device.product}: its prefill asserts an FP8 query, which vLLM "
        "makes on Blackwell alone; --attention-config with use_prefill_query_quantization is ignored here"
    )
    yield conflict("kv_cache_dtype", message, 'set kv_cache_dtype = "bfloat16"')


def unified_memory(configuration: Configuration) -> Iterator[Finding]:
    """It asks at its start whether so much is free, and there the host's page cache counts as used."""
    fraction = configuration.settings.gpu_memory_utilization
    fraction = fraction or defaults_of(configuration.engine.name, configuration.version).memory_fraction or 0
    if configuration.device.unified and fraction > MOST_OF_UNIFIED:
        never = fraction > NEVER_FREE_OF_UNIFIED
        free = (
            "so much is never free at the start" if never else "so much is seldom free at the start, and it ends then"
        )
        yield Finding(
            Severity.ERROR if never else Severity.WARNING,
            Code.INVALID_VALUE,
            "gpu_memory_utilization",
            f"gpu_memory_utilization {fraction:g} of {configuration.device.product}, whose memory is the host's own: "
            f"{free}",
            f"set gpu_memory_utilization = {SAFE_OF_UNIFIED}, and drop the page cache before the start",
        )


def multi_node_executor(configuration: Configuration) -> Iterator[Finding]:
    """A data-parallel rank is a process group of its own: only tp × pp must reach over machines."""
    first, layout, cluster = configuration.engine.native_nodes_since, configuration.layout, configuration.cluster
    ranks = layout.tp * layout.pp
    machines = configuration.platform is not Platform.CPU or cluster.nodes > 1
    if configuration.settings.executor == "ray" or ranks <= cluster.per_node or not machines:
        return
    if not configuration.since(first):
        yield conflict(
            "tp" if layout.tp > cluster.per_node else "pp",
            f"tp × pp = {ranks} ranks on machines of {cluster.per_node}: {configuration.program} crosses "
            f"machines only by Ray, started on each of them before; its own way (--nnodes) came with {first}",
            f"take {configuration.engine.name} {first} or newer, or start Ray and pass "
            "--distributed-executor-backend ray",
        )


def lora_model(configuration: Configuration) -> Iterator[Finding]:
    """It serves adapters for classes that say so; the one of the models with a vision tower does not."""
    count = configuration.settings.max_loras
    if count and configuration.architecture.vision_parameters:
        message = f"max_loras {count}: vLLM's class of {configuration.checkpoint.name} takes no LoRA adapters"
        yield illegal("max_loras", message, "leave it out, or serve a model without a vision tower")


def step_of_sequences(configuration: Configuration) -> Iterator[Finding]:
    """Each sequence of a step has a token at the least: config/scheduler.py of 0.10 to 0.33 ends the start."""
    tokens, sequences = configuration.settings.max_num_batched_tokens, configuration.settings.max_num_seqs
    if tokens is not None and sequences is not None and 0 < tokens < sequences:
        message = (
            f"a step of {tokens:,} tokens for {sequences:,} sequences, each of which has at least one: the start ends"
        )
        yield invalid(
            "max_num_batched_tokens", message, f"set max_num_batched_tokens = {sequences}, or fewer sequences"
        )


EVERYWHERE: Final = (multi_node_executor, lora_model, step_of_sequences)
"""What its builds for processors and for Ascend refuse as well."""
RULES: Final = (
    *EVERYWHERE,
    marlin_tiles,
    flydsl_ep,
    dcp_fp8_kv,
    aiter_heads,
    broken_release,
    k3_fp8_kv,
    unified_memory,
)
