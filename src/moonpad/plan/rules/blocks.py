"""What the formats of weights demand of a slice: whole FP8 blocks, whole groups, whole tiles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.values.checkpoint import Component
from moonpad.values.configuration import Configuration
from moonpad.values.finding import Finding, illegal, unsupported
from moonpad.values.records import replace

GROUPED: Final = frozenset({"int4", "nvfp4", "mxfp4"})
MERGED: Final = frozenset({Component.DENSE_MLP, Component.SHARED_EXPERTS, Component.ROUTED_EXPERTS})


def fp8_blocks(case: Configuration) -> Iterator[Finding]:
    """Engines refuse at load time: a scale belongs to one block, and a block must lie on one rank. Gate and up are one
    matrix to them, so the MLPs are held to it even where nothing is cut.
    """
    for component, name, width, parts in _split(case):
        form = case.quantization.format_of(component)
        if form.name != "fp8" or form.block is None or width % parts:  # layout.py says the last
            continue
        piece, block = width // parts, max(form.block)
        if not piece % form.block[0] and not piece % form.block[1]:
            continue
        if parts > 1:
            yield _cut_through(case, component, name, width, parts, f"FP8 block of {block}", block)
        elif component in MERGED:
            message = f"the {width} columns of {name} are not a multiple of the FP8 block of {block}"
            yield unsupported("quantization", message, "take the checkpoint in BF16")


def quant_groups(case: Configuration) -> Iterator[Finding]:
    for component, name, width, parts in _split(case):
        form = case.quantization.format_of(component)
        if form.name not in GROUPED or form.block is None or form.block[1] > width or width % parts:
            continue
        if (width // parts) % (size := form.block[1]):
            yield _cut_through(case, component, name, width, parts, f"{form.name.upper()} group of {size}", size)


def _cut_through(
    case: Configuration, component: Component, name: str, width: int, parts: int, unit: str, size: int
) -> Finding:
    """The slice of a rank is not a multiple of the `unit`, which has `size` columns."""
    group, slices, experts = case.expert_group, case.expert_slices, component is Component.ROUTED_EXPERTS
    cut = f"experts cut into {slices} slices" if experts else f"tensor parallel {case.layout.tp}"
    if experts and case.layout.ep != group:
        most = next((n for n in range(slices, 0, -1) if width % n == 0 and (width // n) % size == 0), 1)
        remedy = f"set ep = {group}, so that experts stay whole, or share them over at most {most} ranks"
    else:
        remedy = f"set tp = {fitting_tp(case)}, and use the other devices for pipeline stages (pp) or replicas (dp)"
    columns = f"{width // parts} of the {width} columns of {name}"
    return illegal("tp", f"{cut}: each rank would hold {columns}, which is not a multiple of the {unit}", remedy)


def _split(case: Configuration) -> Iterator[tuple[Component, str, int, int]]:
    """(component, its name, width of the split dimension, over how many ranks) of each matrix that ranks share."""
    model, tp = case.architecture, case.layout.tp
    query = model.heads * (model.qk_nope_head_dim + model.qk_rope_head_dim)
    yield Component.Q_B, "the query projection", query, tp
    yield Component.KV_B, "the key-value projection", model.heads * (model.qk_nope_head_dim + model.v_head_dim), tp
    yield Component.O_PROJ, "the output projection", model.heads * model.v_head_dim, tp
    # Under attention DP a dense MLP is kept whole (SGLang --moe-dense-tp-size 1).
    attention_dp, whole = case.engine.attention_dp and case.layout.dp > 1, case.engine.fits_mlp_itself
    if model.dense_layers:
        yield Component.DENSE_MLP, "the dense MLP", model.intermediate, 1 if whole or attention_dp else tp
    if model.shared_experts:
        # They stay whole where an all-to-all brings the tokens, as DeepEP does when ep is the whole group.
        together = case.expert_group if attention_dp else tp
        parts = 1 if whole or (attention_dp and case.layout.ep == together) else together
        yield Component.SHARED_EXPERTS, "the shared experts", model.shared_experts * model.moe_intermediate, parts
    if model.routed_experts:
        yield Component.ROUTED_EXPERTS, "each expert", model.moe_intermediate, case.expert_slices


def fitting_tp(case: Configuration) -> int:
    """The largest tp up to that of the case at which heads and every shared matrix divide as their formats want."""
    layout, heads = case.layout, case.architecture.heads
    whole = layout.ep == case.expert_group
    for tp in range(min(layout.tp, heads, 4096), 1, -1):
        smaller = replace(layout, tp=tp, dcp=1, ep=tp * layout.dp if whole else layout.ep)
        if heads % tp == 0 and all(_divides(case, *matrix) for matrix in _split(replace(case, layout=smaller))):
            return tp
    return 1


def _divides(case: Configuration, component: Component, _name: str, width: int, parts: int) -> bool:
    form = case.quantization.format_of(component)
    unit = 1 if form.block is None or form.name not in (*GROUPED, "fp8") else form.block[1]
    return width % parts == 0 and (parts == 1 or unit > width or (width // parts) % unit == 0)
