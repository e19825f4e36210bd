"""How the ranks share the model: heads, layers, experts and the columns of the MLPs."""

from __future__ import annotations

from collections.abc import Iterator

from moonpad.plan.rules.blocks import fitting_tp
from moonpad.plan.rules.divisors import largest_divisor
from moonpad.values.configuration import Configuration
from moonpad.values.finding import Finding, illegal, invalid, suboptimal


def heads_divide_tp(case: Configuration) -> Iterator[Finding]:
    heads, tp = case.architecture.heads, case.layout.tp
    if heads % tp:
        yield illegal(
            "tp",
            f"tensor parallel {tp}: the {heads} attention heads cannot be shared out evenly",
            f"set tp = {fitting_tp(case)}",
        )


def layers_fill_pp(case: Configuration) -> Iterator[Finding]:
    layers, pp = case.architecture.layers, case.layout.pp
    if pp > layers:
        yield illegal("pp", f"pipeline parallel {pp}: the model has only {layers} layers", f"set pp = {layers} or less")


def pp_engine(case: Configuration) -> Iterator[Finding]:
    if case.layout.pp > 1 and not case.engine.pipelines:
        yield illegal(
            "pp",
            f"pipeline parallel {case.layout.pp}: {case.engine.name} spreads its layers by tensor parallelism alone",
            "set pp = 1",
        )


def ep_group(case: Configuration) -> Iterator[Finding]:
    ep, group, layout = case.layout.ep, case.expert_group, case.layout
    if ep == 1:
        return
    if case.engine.expert_degrees == "none":
        yield illegal(
            "ep",
            f"expert parallel {ep}: {case.engine.name} has no expert parallelism, all "
            f"{case.architecture.routed_experts} experts are on every rank",
            "set ep = 1",
        )
    elif case.engine.expert_degrees == "all ranks" and ep != group:
        yield illegal(
            "ep",
            f"expert parallel {ep}: {case.engine.name} spreads the experts over all tp × dp = "
            f"{layout.tp} × {layout.dp} = {group} ranks, or slices them over all",
            f"set ep = {group}, or ep = 1" if group > 1 else "set ep = 1",
        )
    elif group % ep:
        yield illegal(
            "ep",
            f"expert parallel {ep} does not divide the {group} ranks that share the experts",
            f"set ep = {largest_divisor(group, ep)}",
        )


def ep_experts(case: Configuration) -> Iterator[Finding]:
    ep, own, more = case.layout.ep, case.architecture.routed_experts, case.settings.redundant_experts
    experts = own + more
    if ep == 1 or not experts % ep:
        return
    counted = f"{own} experts" + (f" and {more} redundant ones" if more else "")
    rest = experts % ep
    if ep > experts:
        yield illegal("ep", f"expert parallel {ep}: there are only {counted}", f"set ep = {experts} or less")
    elif case.engine.uneven_experts and not more:
        yield suboptimal(
            "ep",
            f"expert parallel {ep}: {counted} leave {rest} over, so {rest} ranks hold one more than the others",
            f"set redundant_experts = {ep - rest}, or an ep that divides {own}",
        )
    else:
        where = "redundant_experts" if more else "ep"
        yield illegal(
            where,
            f"expert parallel {ep}: {counted} leave {rest} over, and {case.engine.name} needs the same number on each "
            "rank",
            f"set redundant_experts = {(more + ep - rest)}, or an ep that divides {experts}",
        )


def redundant_experts(case: Configuration) -> Iterator[Finding]:
    count = case.settings.redundant_experts
    if not count:
        return
    if count < 0:
        yield invalid("redundant_experts", f"redundant_experts is {count}", "set 0 or more")
    elif not case.engine.balances_experts:
        yield invalid(
            "redundant_experts",
            f"redundant_experts {count}: {case.engine.name} balances no experts over ranks",
            "set redundant_experts = 0",
        )
    elif case.layout.ep == 1:
        yield invalid(
            "redundant_experts",
            f"redundant_experts {count} without expert parallelism: there are no ranks to balance",
            "set ep to the number of ranks, or redundant_experts = 0",
        )


def expert_slices(case: Configuration) -> Iterator[Finding]:
    """Formats demand more of a slice (blocks.py); this is what even BF16 needs."""
    width, slices = case.architecture.moe_intermediate, case.expert_slices
    if case.architecture.routed_experts and width % slices:
        yield illegal(
            "tp",
            f"each expert would be cut into {slices} slices, and its {width} columns are no multiple of that",
            f"set ep = {case.expert_group}, so that experts stay whole",
        )


def mlp_slices(case: Configuration) -> Iterator[Finding]:
    tp, architecture = case.layout.tp, case.architecture
    shared = architecture.shared_experts * architecture.moe_intermediate
    for name, width in (("dense MLP", architecture.intermediate), ("shared experts", shared)):
        if width % tp and not case.engine.fits_mlp_itself:
            yield illegal(
                "tp",
                f"tensor parallel {tp}: the {width} columns of the {name} cannot be shared out evenly",
                f"set tp = {fitting_tp(case)}",
            )


def gpu_experts(case: Configuration) -> Iterator[Finding]:
    for name, placement in (("gpu_experts", "of each layer"), ("host_expert_layers", "of the first layers")):
        count = getattr(case.settings, name)
        if count is not None and case.engine.host_experts != placement:
            how = f"it can keep those {case.engine.host_experts}" if case.engine.host_experts else "it keeps none"
            message = f"{name} {count}: {case.engine.name} does not keep experts {placement} in host RAM; {how}"
            yield invalid(name, message, "leave it out")
    if case.settings.device_layers is not None and case.engine.host_experts != "of the first layers":
        message = f"device_layers {case.settings.device_layers}: {case.engine.name} keeps every layer on the devices"
        yield invalid("device_layers", message, "leave it out")
