"""The ranks must find devices, and those that talk most should be near each other."""

from __future__ import annotations

from collections.abc import Iterator

from moonpad.plan.ranking import island_devices, tensor_group_spans_nodes
from moonpad.plan.rules.divisors import largest_divisor
from moonpad.values.configuration import Configuration
from moonpad.values.finding import Finding, illegal, suboptimal
from moonpad.values.platform import Platform


def devices_enough(case: Configuration) -> Iterator[Finding]:
    """On a CPU ranks share the processors, so nothing is counted there."""
    layout, devices = case.layout, case.cluster.devices
    if case.platform is not Platform.CPU and layout.world_size > devices:
        yield illegal(
            _largest(case),
            f"tp × pp × dp = {layout.tp} × {layout.pp} × {layout.dp} = {layout.world_size} ranks, and "
            f"{case.cluster.name} has {devices} devices",
            f"make the product {devices}",
        )


def devices_idle(case: Configuration) -> Iterator[Finding]:
    layout, devices = case.layout, case.cluster.devices
    usable = case.cluster.per_node if case.engine.one_machine else devices
    if case.platform is not Platform.CPU and layout.world_size < devices:
        yield suboptimal(
            _largest(case),
            f"tp × pp × dp = {layout.world_size} of {devices} devices: {devices - layout.world_size} stay idle",
            f"make the product {usable}" if layout.world_size < usable else "start one deployment a machine",
        )


def tp_across_nodes(case: Configuration) -> Iterator[Finding]:
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


def one_machine(case: Configuration) -> Iterator[Finding]:
    if case.engine.one_machine and case.layout.world_size > case.cluster.per_node:
        yield illegal(
            _largest(case),
            f"tp × pp × dp = {case.layout.world_size} on machines of {case.cluster.per_node}: {case.engine.name} "
            "serves from one machine, whose RAM holds the experts",
            f"set tp = {case.cluster.per_node}",
        )


def _largest(case: Configuration) -> str:
    layout = case.layout
    return max((layout.tp, "tp"), (layout.dp, "dp"), (layout.pp, "pp"), key=lambda one: one[0])[1]
