"""What vLLM alone refuses or warns of, on CUDA and ROCm devices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.engines.attention_backends import find, has_dcp
from moonpad.engines.gpu_rules import aiter_finding, marlin_finding
from moonpad.values.checkpoint import Component
from moonpad.values.configuration import Configuration
from moonpad.values.finding import Finding, conflict, illegal, suboptimal
from moonpad.values.platform import Platform

PADS_TILES: Final = "0.24.0"
# Since then it asks a backend whether it has decode context parallelism before it takes it
# (v1/attention/selector.py of the wheels 0.28.0 and 0.29.0).
CHOOSES_BY_DCP: Final = "0.29.0"
FIRST_WITH_FP8_KV: Final = "0.25.0"


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
    if configuration.since("0.27.0"):
        allowed, needs = heads <= 128 or heads % 16 == 0, "up to 128, or a multiple of 16"
    elif configuration.since("0.20.0"):
        allowed, needs = heads > 0 and (16 % heads == 0 or heads % 16 == 0), "a divisor or a multiple of 16"
    elif configuration.since("0.18.0"):
        allowed = heads in (4, 8) or (heads % 16 == 0 and heads <= 128)
        needs = "4, 8, or a multiple of 16 up to 128"
    else:
        allowed, needs = heads in (16, 128), "16 or 128"
    yield from aiter_finding(configuration, "ROCM_AITER_MLA", heads, allowed, needs)


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


RULES: Final = (marlin_tiles, flydsl_ep, dcp_fp8_kv, aiter_heads, multi_node_executor)
