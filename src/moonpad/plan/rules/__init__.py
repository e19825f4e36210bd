"""Whether an engine can serve a configuration, rule by rule.

A new rule is one function in one of these files (for one engine alone, in its `*_rules.py`), one line here, one row in
catalog/data/rules.toml, and two test cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from moonpad.plan.rules import attention, blocks, extras, formats, layout
from moonpad.plan.rules.attention import speculative_findings
from moonpad.values.configuration import Configuration
from moonpad.values.finding import Finding, Severity, illegal
from moonpad.values.records import as_dict

__all__ = ["GENERAL", "check", "check_by_rule", "is_legal", "rule_id", "speculative_findings"]

GENERAL: Final[tuple[Callable[[Configuration], Iterator[Finding]], ...]] = (
    formats.engine_platform,
    formats.bf16_device,
    formats.model_version,
    formats.gguf_engine,
    formats.ascend_formats,
    formats.fp8_device,
    formats.nvfp4_device,
    formats.mxfp4_device,
    layout.heads_divide_tp,
    layout.vision_heads,
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
    layout.dcp_divides_tp,
    layout.dcp_engine,
    layout.dcp_linear,
    attention.dcp_backend,
    attention.kv_dtype_name,
    attention.kv_dtype_backend,
    attention.backend_device,
    attention.block_size,
    attention.context_limit,
    extras.draft_known,
    layout.devices_enough,
    layout.devices_idle,
    layout.tp_across_nodes,
    layout.one_machine,
)
"""The rules that hold for every engine."""


def rule_id(function: Callable[..., object]) -> str:
    """`tp_across_nodes` → `tp-across-nodes`, its row in the catalogue."""
    return function.__name__.replace("_", "-")


def check(configuration: Configuration) -> tuple[Finding, ...]:
    """What is wrong with it. An error: the engine refuses it or fails. A warning: it works, badly.

    `where` is a key of the layout or of the settings, or `quantization`, or `engine`.
    """
    return tuple(finding for _, finding in check_by_rule(configuration))


def check_by_rule(configuration: Configuration) -> Iterator[tuple[str, Finding]]:
    """The same with the id of each rule that objects; `rules.toml` has its evidence.

    Every other rule divides by the degrees of parallelism, so one below 1 is reported alone.
    """
    degrees = as_dict(configuration.layout)
    if min(degrees.values()) < 1:
        for name, count in degrees.items():
            if count < 1:
                message = f"{name} is {count}, and a degree of parallelism is at least 1"
                yield "degrees-positive", illegal(name, message, "set 1")
        return
    for function in (*GENERAL, *configuration.engine.rules):
        for finding in function(configuration):
            yield rule_id(function), finding


def is_legal(configuration: Configuration) -> bool:
    """Whether no rule objects with an error; stops at the first one."""
    return not any(finding.severity is Severity.ERROR for _, finding in check_by_rule(configuration))
