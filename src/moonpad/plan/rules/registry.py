"""The list of rules.

A new rule is one function in one of these files, one line here, one row in catalog/data/rules.toml, and two test cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from moonpad.plan.rules import attention, blocks, context, cpu, dcp, formats, layout, nodes, platform
from moonpad.plan.rules.case import Case
from moonpad.values.finding import Finding

RuleFunction = Callable[[Case], Iterator[Finding]]

FUNCTIONS: Final[tuple[RuleFunction, ...]] = (
    platform.engine_platform,
    platform.bf16_device,
    platform.model_version,
    formats.gguf_engine,
    formats.ascend_formats,
    formats.ascend_int4_targets,
    formats.int4_engine,
    formats.fp8_device,
    formats.nvfp4_device,
    formats.mxfp4_device,
    cpu.cpu_formats,
    cpu.cpu_long_prompts,
    layout.heads_divide_tp,
    layout.layers_fill_pp,
    layout.pp_engine,
    layout.ep_group,
    layout.ep_experts,
    layout.redundant_experts,
    layout.expert_slices,
    layout.mlp_slices,
    layout.gpu_experts,
    layout.rawint4_tp,
    blocks.fp8_blocks,
    blocks.quant_groups,
    blocks.marlin_tiles,
    blocks.flydsl_ep,
    dcp.dcp_divides_tp,
    dcp.dcp_engine,
    dcp.dcp_backend,
    dcp.dcp_fp8_kv,
    cpu.cpu_dcp,
    cpu.cpu_ep,
    cpu.cpu_pp_eager,
    cpu.cpu_kv_fp8,
    cpu.cpu_ray,
    cpu.cpu_sglang,
    attention.kv_dtype_name,
    attention.kv_dtype_backend,
    attention.kv_ascend,
    attention.backend_device,
    attention.block_size,
    attention.aiter_heads,
    context.context_limit,
    nodes.devices_enough,
    nodes.devices_idle,
    nodes.tp_across_nodes,
    nodes.multi_node_executor,
    nodes.one_machine,
)


def rule_id(function: Callable[..., object]) -> str:
    """`tp_across_nodes` → `tp-across-nodes`, its row in the catalogue."""
    return function.__name__.replace("_", "-")
