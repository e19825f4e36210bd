"""How the ranks share the model (heads, layers, experts, the columns of the MLPs, the KV cache) and the devices."""

from __future__ import annotations

from collections.abc import Iterator

from moonpad.catalog.model_features import lacking_stages
from moonpad.plan.ranking import island_devices, tensor_group_spans_nodes
from moonpad.plan.rules.blocks import fitting_tp
from moonpad.values.configuration import Configuration
from moonpad.values.finding import Code, Finding, Severity, illegal, invalid, suboptimal
from moonpad.values.platform import Platform
from moonpad.values.versions import since


def largest_divisor(number: int, limit: int) -> int:
    """The largest divisor of `number` that is at most `limit` and at most 4096: a remedy is for machines that exist."""
    return next((count for count in range(min(number, limit, 4096), 0, -1) if number % count == 0), 1)


def heads_divide_tp(case: Configuration) -> Iterator[Finding]:
    heads, tp = case.architecture.heads, case.layout.tp
    if case.engine.pads_slices:
        return
    if heads % tp:
        message = f"tensor parallel {tp}: the {heads} attention heads cannot be shared out evenly"
        yield illegal("tp", message, f"set tp = {fitting_tp(case)}")
    elif (linear := case.architecture.linear) is not None and linear.heads % tp:
        message = f"tensor parallel {tp}: the {linear.heads} heads of linear attention cannot be shared out evenly"
        yield illegal("tp", message, f"set tp = {largest_divisor(linear.heads, tp)}")


def vision_heads(case: Configuration) -> Iterator[Finding]:
    """What shares out the attention of the text shares out that of the vision tower, unless each rank has it whole."""
    heads, tp, settings = case.architecture.vision_heads, case.layout.tp, case.settings
    until = case.engine.vision_heads_until.get(case.architecture.model_type)
    asked = settings.text_only or settings.mm_encoder_tp_mode == "data"
    if until is None or asked or not heads or not heads % tp or (until and case.since(until)):
        return
    message = f"tensor parallel {tp}: the {heads} heads of the vision tower cannot be shared out evenly, the start ends"
    share = largest_divisor(heads, tp)
    fewer = f"set tp = {share} with the other devices for pp or dp"
    if case.engine.attention_dp:
        fewer = f"use data-parallel attention in groups of {share} ranks"
    whole, first = 'set mm_encoder_tp_mode = "data"', case.engine.whole_vision_since
    later = first and not case.since(first)
    remedy = f"{fewer}, or take {case.engine.title} {first} or newer and {whole}" if later else f"{whole}, or {fewer}"
    yield illegal("tp", message, remedy)


def layers_fill_pp(case: Configuration) -> Iterator[Finding]:
    layers, pp = case.architecture.layers, case.layout.pp
    if pp > layers:
        yield illegal("pp", f"pipeline parallel {pp}: the model has only {layers} layers", f"set pp = {layers} or less")


def pp_engine(case: Configuration) -> Iterator[Finding]:
    pp = case.layout.pp
    if pp > 1 and not case.engine.pipelines:
        message = f"pipeline parallel {pp}: {case.engine.name} spreads its layers by tensor parallelism alone"
        yield illegal("pp", message, "set pp = 1")


def ep_group(case: Configuration) -> Iterator[Finding]:
    ep, group, layout, engine = case.layout.ep, case.expert_group, case.layout, case.engine
    if ep == 1:
        return
    if engine.expert_degrees == "none":
        experts = case.architecture.routed_experts
        message = f"{engine.name} has no expert parallelism, all {experts} experts are on every rank"
        yield illegal("ep", f"expert parallel {ep}: {message}", "set ep = 1")
    elif engine.expert_degrees == "all ranks" and ep != group:
        yield illegal(
            "ep",
            f"expert parallel {ep}: {engine.name} spreads the experts over all tp × dp = "
            f"{layout.tp} × {layout.dp} = {group} ranks, or slices them over all",
            f"set ep = {group}, or ep = 1" if group > 1 else "set ep = 1",
        )
    elif group % ep:
        message = f"expert parallel {ep} does not divide the {group} ranks that share the experts"
        missing = group == 1 and ep <= case.cluster.devices  # the ranks are made by tp, which is forgotten
        yield illegal(
            "ep", message, f"set tp = {ep}, or ep = 1" if missing else f"set ep = {largest_divisor(group, ep)}"
        )


def ep_experts(case: Configuration) -> Iterator[Finding]:
    ep, own, more = case.layout.ep, case.architecture.routed_experts, case.settings.redundant_experts
    experts, rest = own + more, (own + more) % ep
    if ep == 1 or not rest:
        return
    counted = f"{own} experts" + (f" and {more} redundant ones" if more else "")
    if ep > experts:
        yield illegal("ep", f"expert parallel {ep}: there are only {counted}", f"set ep = {experts} or less")
    elif case.engine.uneven_experts and not more:
        message = f"{counted} leave {rest} over, so {rest} ranks hold one more than the others"
        remedy = f"set redundant_experts = {ep - rest}, or an ep that divides {own}"
        yield suboptimal("ep", f"expert parallel {ep}: {message}", remedy)
    else:
        message = f"{counted} leave {rest} over, and {case.engine.name} needs the same number on each rank"
        remedy = f"set redundant_experts = {more + ep - rest}, or an ep that divides {experts}"
        yield illegal("redundant_experts" if more else "ep", f"expert parallel {ep}: {message}", remedy)


def redundant_experts(case: Configuration) -> Iterator[Finding]:
    key, count = "redundant_experts", case.settings.redundant_experts
    if count < 0:
        yield invalid(key, f"{key} is {count}", "set 0 or more")
    elif count and not case.engine.balances_experts:
        yield invalid(key, f"{key} {count}: {case.engine.name} cannot place copies of experts", f"set {key} = 0")
    elif count and case.layout.ep == 1:
        message = f"{key} {count} without expert parallelism: there are no ranks to balance"
        yield invalid(key, message, f"set ep to the number of ranks, or {key} = 0")


def expert_slices(case: Configuration) -> Iterator[Finding]:
    """Formats demand more of a slice (blocks.py); this is what even BF16 needs."""
    width, slices = case.architecture.moe_intermediate, case.expert_slices
    if case.architecture.routed_experts and width % slices and not case.engine.pads_slices:
        message = f"each expert would be cut into {slices} slices, and its {width} columns are not a multiple of that"
        yield illegal("tp", message, f"set ep = {case.expert_group}, so that experts stay whole")


def mlp_slices(case: Configuration) -> Iterator[Finding]:
    tp, architecture = case.layout.tp, case.architecture
    shared = architecture.shared_experts * architecture.moe_intermediate
    for name, width in (("dense MLP", architecture.intermediate), ("shared experts", shared)):
        if width % tp and not (case.engine.fits_mlp_itself or case.engine.pads_slices):
            message = f"tensor parallel {tp}: the {width} columns of the {name} cannot be shared out evenly"
            yield illegal("tp", message, f"set tp = {fitting_tp(case)}")


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


def dcp_divides_tp(case: Configuration) -> Iterator[Finding]:
    dcp, tp = case.layout.dcp, case.layout.tp
    if tp % dcp:
        message = f"decode context parallel {dcp} does not divide tensor parallel {tp}, whose ranks it uses"
        yield illegal("dcp", message, f"set dcp = {largest_divisor(tp, dcp)}")


def dcp_engine(case: Configuration) -> Iterator[Finding]:
    dcp, first = case.layout.dcp, case.engine.dcp_since
    if dcp == 1:
        return
    if first is None:
        why = case.engine.no_dcp_because or f"{case.engine.name} has none"
        yield illegal("dcp", f"decode context parallel {dcp}: {why}", "set dcp = 1")
    elif not case.since(first):
        message = f"decode context parallel {dcp}: {case.program} has none, it came with {first}"
        yield illegal("dcp", message, f"take {case.engine.name} {first} or newer, or set dcp = 1")


def dcp_linear(case: Configuration) -> Iterator[Finding]:
    dcp, first = case.layout.dcp, case.engine.linear_dcp_since
    if dcp == 1 or case.architecture.linear is None or case.engine.dcp_since is None:
        return
    if first is None:
        message = f"decode context parallel {dcp}: {case.engine.name} has none with linear attention"
        yield illegal("dcp", message, "set dcp = 1")
    elif not case.since(first):
        message = f"decode context parallel {dcp}: {case.program} has none with linear attention, it came with {first}"
        yield illegal("dcp", message, f"take {case.engine.name} {first} or newer, or set dcp = 1")


def devices_enough(case: Configuration) -> Iterator[Finding]:
    """On a CPU ranks share the processors, so nothing is counted there."""
    layout, devices = case.layout, case.cluster.devices
    if case.platform is not Platform.CPU and layout.world_size > devices:
        product = f"tp × pp × dp = {layout.tp} × {layout.pp} × {layout.dp} = {layout.world_size} ranks"
        message = f"{product}, and {case.cluster.name} has {devices} devices"
        yield illegal(_largest_degree(case), message, f"make the product {devices}")


def devices_idle(case: Configuration) -> Iterator[Finding]:
    ranks, devices = case.layout.world_size, case.cluster.devices
    usable = case.cluster.per_node if case.engine.one_machine else devices
    if case.platform is not Platform.CPU and ranks < devices:
        message = f"tp × pp × dp = {ranks} of {devices} devices: {devices - ranks} stay idle"
        remedy = f"make the product {usable}" if ranks < usable else "start one deployment a machine"
        yield suboptimal(_largest_degree(case), message, remedy)


def tp_across_nodes(case: Configuration) -> Iterator[Finding]:
    """Two all-reduces a layer wait for every rank of the group. Where each machine holds one device, no layout keeps
    tensor parallelism within one: stages send less, but then one machine after the other works on a token."""
    if case.platform is Platform.CPU or not tensor_group_spans_nodes(case.layout, case.cluster):
        return
    island, tp = island_devices(case.cluster), case.layout.tp
    reduces = f"{2 * case.architecture.layers} all-reduces a token go through the network"
    first = case.engine.stages_since
    before = bool(first and case.version and not since(case.version, first))
    lacking = lacking_stages(case.engine.name, case.checkpoint.name, first if before else case.version)
    if island == 1:
        message = f"tensor parallel {tp} reaches over machines of one device each: {reduces}"
        remedy = "join the machines by RDMA"
        if lacking is None and not before:
            remedy += ", and where many are served at once compare pp, with which a token visits the machines in turn"
        yield Finding(Severity.NOTE, Code.SUBOPTIMAL, "tp", message, remedy)
        return
    holds_replica = case.checkpoint.total_bytes < island * case.device.usable_bytes
    # data parallelism of attention alone is within the tp ranks
    others = "pp or dp" if holds_replica and not case.engine.attention_dp else "pp"
    remedy = f"set tp = {largest_divisor(case.architecture.heads, island)}, with {others} for the machines"
    if lacking is not None and not lacking.then:
        remedy = f"{case.engine.title} has no pipeline stages for this model: join the machines by RDMA"
    elif before or lacking is not None:
        first = lacking.then if lacking is not None else first
        stages = "pipeline stages for this model" if lacking is not None else "pipeline stages"
        remedy = f"take {case.engine.title} {first} or newer, which has {stages}, and there {remedy}"
    message = f"tensor parallel {tp} reaches over machines whose fast links join {island}: {reduces}"
    yield suboptimal("tp", message, remedy)


def one_machine(case: Configuration) -> Iterator[Finding]:
    ranks, per_node = case.layout.world_size, case.cluster.per_node
    if case.engine.one_machine and ranks > per_node:
        message = f"{case.engine.name} serves from one machine, whose RAM holds the experts"
        on = f"tp × pp × dp = {ranks} on machines of {per_node}"
        fewer = f"set tp = {per_node}" if case.engine.tensor_parallel else f"lay it out over {per_node} devices"
        yield illegal(_largest_degree(case), f"{on}: {message}", fewer)


def _largest_degree(case: Configuration) -> str:
    return max(("tp", "dp", "pp"), key=lambda degree: getattr(case.layout, degree))
