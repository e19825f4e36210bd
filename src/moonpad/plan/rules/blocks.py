"""What the formats of weights demand of a slice: whole FP8 blocks, whole groups, whole tiles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from moonpad.values.checkpoint import Component
from moonpad.values.configuration import Configuration
from moonpad.values.finding import Finding, illegal, unsupported

GROUPED: Final = frozenset({"int4", "nvfp4", "mxfp4"})
MERGED: Final = frozenset({Component.DENSE_MLP, Component.SHARED_EXPERTS, Component.ROUTED_EXPERTS})


def fp8_blocks(case: Configuration) -> Iterator[Finding]:
    """Engines refuse at load time: a scale belongs to one block, and a block must lie on one rank. Gate and up are one
    matrix to them, so the MLPs are held to it even where nothing is cut.
    """
    for component, what, width, parts in _split(case):
        form = case.quantization.format_of(component)
        if form.name != "fp8" or form.block is None or width % parts:  # layout.py says the last
            continue
        piece, block = width // parts, max(form.block)
        if not piece % form.block[0] and not piece % form.block[1]:
            continue
        if parts > 1:
            yield illegal(
                "tp",
                f"{_cut(case, component)}: each rank would hold {piece} of the {width} columns of {what}, which is no "
                f"multiple of the FP8 block of {block}",
                _fewer(case, component, width, block),
            )
        elif component in MERGED:
            yield unsupported(
                "quantization",
                f"the {width} columns of {what} are no multiple of the FP8 block of {block}",
                "take the checkpoint in BF16",
            )


def quant_groups(case: Configuration) -> Iterator[Finding]:
    for component, what, width, parts in _split(case):
        form = case.quantization.format_of(component)
        if form.name not in GROUPED or form.block is None or form.block[1] > width or width % parts:
            continue
        if (width // parts) % form.block[1]:
            yield illegal(
                "tp",
                f"{_cut(case, component)}: each rank would hold {width // parts} of the {width} columns of {what}, "
                f"which is no multiple of the {form.name.upper()} group of {form.block[1]}",
                _fewer(case, component, width, form.block[1]),
            )


def _split(case: Configuration) -> Iterator[tuple[Component, str, int, int]]:
    """(component, its name, width of the split dimension, over how many ranks) of each matrix that ranks share."""
    model, tp = case.architecture, case.layout.tp
    query = model.heads * (model.qk_nope_head_dim + model.qk_rope_head_dim)
    yield Component.Q_B, "the query projection", query, tp
    yield Component.KV_B, "the key-value projection", model.heads * (model.qk_nope_head_dim + model.v_head_dim), tp
    yield Component.O_PROJ, "the output projection", model.heads * model.v_head_dim, tp
    if model.dense_layers:
        yield Component.DENSE_MLP, "the dense MLP", model.intermediate, dense_parts(case)
    if model.shared_experts:
        yield (
            Component.SHARED_EXPERTS,
            "the shared experts",
            model.shared_experts * model.moe_intermediate,
            (shared_parts(case)),
        )
    if model.routed_experts:
        yield Component.ROUTED_EXPERTS, "each expert", model.moe_intermediate, case.expert_slices


def dense_parts(case: Configuration) -> int:
    """Over how many ranks a dense MLP is shared. Under attention DP it is kept whole (SGLang --moe-dense-tp-size 1)."""
    whole = case.engine.fits_mlp_itself or (case.engine.attention_dp and case.layout.dp > 1)
    return 1 if whole else case.layout.tp


def shared_parts(case: Configuration) -> int:
    """Shared experts stay whole where an all-to-all brings the tokens, as DeepEP does when ep is the whole group."""
    if case.engine.fits_mlp_itself:
        return 1
    if case.engine.attention_dp and case.layout.dp > 1:
        return 1 if case.layout.ep == case.expert_group else case.expert_group
    return case.layout.tp


def _cut(case: Configuration, component: Component) -> str:
    if component is Component.ROUTED_EXPERTS:
        return f"experts cut into {case.expert_slices} slices"
    return f"tensor parallel {case.layout.tp}"


def _fewer(case: Configuration, component: Component, width: int, unit: int) -> str:
    if component is Component.ROUTED_EXPERTS and case.layout.ep != case.expert_group:
        most = next((n for n in range(case.expert_slices, 0, -1) if width % n == 0 and (width // n) % unit == 0), 1)
        return f"set ep = {case.expert_group}, so that experts stay whole, or share them over at most {most} ranks"
    return f"set tp = {fitting_tp(case)}, and use the other devices as pipeline stages (pp) or data-parallel ranks (dp)"


def fitting_tp(case: Configuration) -> int:
    """The largest tp up to that of the case at which heads and every shared matrix divide as their formats want."""
    layout, heads = case.layout, case.architecture.heads
    whole = layout.ep == case.expert_group
    for tp in range(min(layout.tp, heads, 4096), 1, -1):
        smaller = replace(layout, tp=tp, dcp=1, ep=tp * layout.dp if whole else layout.ep)
        if heads % tp == 0 and all(_divides(case, one) for one in _split(replace(case, layout=smaller))):
            return tp
    return 1


def _divides(case: Configuration, matrix: tuple[Component, str, int, int]) -> bool:
    component, _, width, parts = matrix
    form = case.quantization.format_of(component)
    unit = 1 if form.block is None or form.name not in (*GROUPED, "fp8") else form.block[1]
    return width % parts == 0 and (parts == 1 or unit > width or (width // parts) % unit == 0)
