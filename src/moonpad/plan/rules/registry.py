"""The list of the rules that hold for every engine; what one engine alone refuses stands in its own `*_rules.py`.

A new rule is one function in one of these files, one line here, one row in catalog/data/rules.toml, and two test cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from moonpad.plan.rules import attention, blocks, context, dcp, formats, layout, nodes, platform
from moonpad.values.configuration import Configuration
from moonpad.values.finding import Finding

RuleFunction = Callable[[Configuration], Iterator[Finding]]

GENERAL: Final[tuple[RuleFunction, ...]] = (
    platform.engine_platform,
    platform.bf16_device,
    platform.model_version,
    formats.gguf_engine,
    formats.ascend_formats,
    formats.fp8_device,
    formats.nvfp4_device,
    formats.mxfp4_device,
    layout.heads_divide_tp,
    layout.layers_fill_pp,
    layout.pp_engine,
    layout.ep_group,
    layout.ep_experts,
    layout.redundant_experts,
    layout.expert_slices,
    layout.mlp_slices,
    layout.gpu_experts,
    blocks.fp8_blocks,
    blocks.quant_groups,
    dcp.dcp_divides_tp,
    dcp.dcp_engine,
    dcp.dcp_backend,
    attention.kv_dtype_name,
    attention.kv_dtype_backend,
    attention.backend_device,
    attention.block_size,
    context.context_limit,
    nodes.devices_enough,
    nodes.devices_idle,
    nodes.tp_across_nodes,
    nodes.one_machine,
)


def rule_id(function: Callable[..., object]) -> str:
    """`tp_across_nodes` → `tp-across-nodes`, its row in the catalogue."""
    return function.__name__.replace("_", "-")
