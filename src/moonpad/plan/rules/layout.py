"""How the ranks share the model: heads, layers, experts and the columns of the MLPs."""

from __future__ import annotations

from collections.abc import Iterator

from moonpad.plan.rules.blocks import fitting_tp
from moonpad.plan.rules.case import Case, illegal, invalid, largest_divisor, suboptimal
from moonpad.values.finding import Finding


def heads_divide_tp(case: Case) -> Iterator[Finding]:
    heads, tp = case.architecture.heads, case.layout.tp
    if heads % tp:
        yield illegal(
            "tp",
            f"tensor parallel {tp}: the {heads} attention heads cannot be shared out evenly",
            f"set tp = {fitting_tp(case)}",
        )


def layers_fill_pp(case: Case) -> Iterator[Finding]:
    layers, pp = case.architecture.layers, case.layout.pp
    if pp > layers:
        yield illegal("pp", f"pipeline parallel {pp}: the model has only {layers} layers", f"set pp = {layers} or less")


def pp_engine(case: Case) -> Iterator[Finding]:
    if case.engine == "ktransformers" and case.layout.pp > 1:
        yield illegal(
            "pp",
            f"pipeline parallel {case.layout.pp}: ktransformers splits its device layers by tensor parallelism alone",
            "set pp = 1",
        )


def ep_group(case: Case) -> Iterator[Finding]:
    ep, group, layout = case.layout.ep, case.expert_group, case.layout
    if ep == 1:
        return
    if case.engine == "ktransformers":
        yield illegal(
            "ep",
            f"expert parallel {ep}: ktransformers has no expert parallelism, its mask counts all "
            f"{case.architecture.routed_experts} experts on every rank",
            "set ep = 1",
        )
    elif case.is_vllm and ep != group:
        yield illegal(
            "ep",
            f"expert parallel {ep}: {case.engine} spreads the experts over all tp × dp = {layout.tp} × {layout.dp} = "
            f"{group} ranks, or slices them over all",
            f"set ep = {group}, or ep = 1" if group > 1 else "set ep = 1",
        )
    elif group % ep:
        yield illegal(
            "ep",
            f"expert parallel {ep} does not divide the {group} ranks that share the experts",
            f"set ep = {largest_divisor(group, ep)}",
        )


def ep_experts(case: Case) -> Iterator[Finding]:
    ep, own, more = case.layout.ep, case.architecture.routed_experts, case.settings.redundant_experts
    experts = own + more
    if ep == 1 or not experts % ep:
        return
    counted = f"{own} experts" + (f" and {more} redundant ones" if more else "")
    rest = experts % ep
    if ep > experts:
        yield illegal("ep", f"expert parallel {ep}: there are only {counted}", f"set ep = {experts} or less")
    elif case.is_vllm and not more:
        yield suboptimal(
            "ep",
            f"expert parallel {ep}: {counted} leave {rest} over, so {rest} ranks hold one more than the others",
            f"set redundant_experts = {ep - rest}, or an ep that divides {own}",
        )
    else:
        where = "redundant_experts" if more else "ep"
        yield illegal(
            where,
            f"expert parallel {ep}: {counted} leave {rest} over, and {case.engine} needs the same number on each rank",
            f"set redundant_experts = {(more + ep - rest)}, or an ep that divides {experts}",
        )


def redundant_experts(case: Case) -> Iterator[Finding]:
    count = case.settings.redundant_experts
    if not count:
        return
    if count < 0:
        yield invalid("redundant_experts", f"redundant_experts is {count}", "set 0 or more")
    elif case.engine in ("ktransformers", "vllm-cpu", "sglang-cpu"):
        yield invalid(
            "redundant_experts",
            f"redundant_experts {count}: {case.engine} balances no experts over ranks",
            "set redundant_experts = 0",
        )
    elif case.layout.ep == 1:
        yield invalid(
            "redundant_experts",
            f"redundant_experts {count} without expert parallelism: there are no ranks to balance",
            "set ep to the number of ranks, or redundant_experts = 0",
        )


def expert_slices(case: Case) -> Iterator[Finding]:
    """Formats demand more of a slice (blocks.py); this is what even BF16 needs."""
    width, slices = case.architecture.moe_intermediate, case.expert_slices
    if case.architecture.routed_experts and width % slices:
        yield illegal(
            "tp",
            f"each expert would be cut into {slices} slices, and its {width} columns are no multiple of that",
            f"set ep = {case.expert_group}, so that experts stay whole",
        )


def mlp_slices(case: Case) -> Iterator[Finding]:
    tp, architecture = case.layout.tp, case.architecture
    shared = architecture.shared_experts * architecture.moe_intermediate
    for name, width in (("dense MLP", architecture.intermediate), ("shared experts", shared)):
        if width % tp and case.engine != "tensorrt-llm":
            yield illegal(
                "tp",
                f"tensor parallel {tp}: the {width} columns of the {name} cannot be shared out evenly",
                f"set tp = {fitting_tp(case)}",
            )


def gpu_experts(case: Case) -> Iterator[Finding]:
    count, experts = case.settings.gpu_experts, case.architecture.routed_experts
    if count is None:
        return
    if case.engine != "ktransformers":
        yield invalid(
            "gpu_experts", f"gpu_experts {count}: {case.engine} keeps every expert on the devices", "leave it out"
        )
    elif not 0 <= count <= experts:
        yield invalid("gpu_experts", f"gpu_experts {count}: a layer has {experts} experts", f"set 0 to {experts}")


def rawint4_tp(case: Case) -> Iterator[Finding]:
    if case.engine == "ktransformers" and case.scheme == "int4" and case.layout.tp == 4:
        yield suboptimal(
            "tp",
            "tensor parallel 4 with the original INT4 weights: one user got garbage on 4×H200 with a processor without "
            "AMX, and right answers at tp = 1; the report is open",
            "run `moonpad verify` before you rely on it, or set tp = 1",
        )
