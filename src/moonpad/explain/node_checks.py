"""The pieces of a deployment over several machines: whether each is there, and how they find each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.engines.base import Reading
from moonpad.engines.command_line import CommandLine, Nodes
from moonpad.explain.commands import Command
from moonpad.explain.results import Edit, Remark
from moonpad.values.cluster import Cluster
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.plan import Platform
from moonpad.values.versions import since

_RAY: Final = re.compile(r"\bstart(?:s|ing)? (?:a |the )?ray\b|\bray start\b", re.IGNORECASE)


def node_remarks(
    engine: CommandLine, version: str, cluster: Cluster | None, readings: Sequence[Reading], commands: Sequence[Command]
) -> Iterator[Remark]:
    """What is missing among the commands."""
    if cluster is not None and cluster.device.platform is Platform.CPU:
        return
    first = readings[0]
    yield from _container_devices(readings, commands)
    if engine.nodes is not None:
        lengths = [len(command.argv) for command in commands]
        if first.node.nodes is None:
            yield from _executor(engine.nodes, version, cluster, first, commands[0])
        if cluster is not None and first.node.data_parallel_local is not None:
            yield from _data_parallel(engine.nodes, readings, lengths)
    if cluster is not None and first.node.nodes is not None and len(readings) not in (1, first.node.nodes):
        yield _missing(
            "--nnodes",
            f"--nnodes {first.node.nodes}, and there are {len(readings)} commands",
            "start one command on each node",
            Severity.WARNING,
            0,
        )


def _container_devices(readings: Sequence[Reading], commands: Sequence[Command]) -> Iterator[Remark]:
    """More ranks than the containers get devices."""
    first, container = readings[0], commands[0].container
    if container is None or container.devices is None or first.settings.executor is not None:
        return
    nodes = max(len(commands), first.node.nodes or 1)
    ranks, devices = first.layout.world_size * first.replicas, container.devices * nodes
    if ranks > devices:
        message = f"{ranks} ranks, and the containers get {devices} devices ({container.devices} each)"
        finding = Finding(Severity.ERROR, Code.ILLEGAL_LAYOUT, "--gpus", message, f"give each {-(-ranks // nodes)}")
        option = next(option for option in reversed(container.options) if option.name == "--gpus")
        yield Remark(finding, 0, word=option.words[-1])


def _executor(
    options: Nodes, version: str, cluster: Cluster | None, first: Reading, command: Command
) -> Iterator[Remark]:
    """Ranks on several machines, and nothing that joins them."""
    ranks = first.layout.tp * first.layout.pp
    if cluster is None:
        why = "the text starts a Ray cluster for it" if _speaks_of_ray(command) else ""
    else:
        crosses = ranks > cluster.per_node
        why = f"tp × pp = {ranks} ranks on machines of {cluster.per_node} devices" if crosses else ""
    if not why or first.settings.executor is not None or not since(version, options.native_since):
        return
    yield _missing(
        options.executor,
        f"{why}, and nothing says how the ranks reach each other: Ray is no longer the default",
        f"add {options.executor} ray and start a Ray cluster first, or run it natively on every node: "
        f"--nnodes {cluster.nodes if cluster else 'N'} --node-rank R --master-addr ADDRESS, with {options.headless} on "
        "ranks above 0",
        Severity.ERROR,
        0,
        Edit(len(command.argv), 0, (options.executor, "ray")),
    )


def _data_parallel(options: Nodes, readings: Sequence[Reading], lengths: Sequence[int]) -> Iterator[Remark]:
    """Each command starts some of the data-parallel ranks: all of them together, and one API server."""
    local, ranks = readings[0].node.data_parallel_local or 0, readings[0].layout.dp
    started = sum(reading.node.data_parallel_local or 0 for reading in readings)
    if started < ranks:
        yield _missing(
            options.start_rank,
            f"{ranks} data-parallel ranks, and the commands here start {started} of them",
            f"start the others with {options.headless} {options.start_rank} {started} on the next node",
            Severity.WARNING,
            0,
        )
    for number, reading in enumerate(readings[1:], 1):
        if reading.node.start_rank == number * local and not reading.node.headless:
            yield _missing(
                options.headless,
                f"the command of node {number} starts an API server of its own",
                f"add {options.headless}",
                Severity.WARNING,
                number,
                Edit(lengths[number], 0, (options.headless,)),
            )


def _speaks_of_ray(command: Command) -> bool:
    return any(_RAY.search(comment[:500]) for comment in command.comments)


def _missing(
    where: str, message: str, remedy: str, severity: Severity, number: int, edit: Edit | None = None
) -> Remark:
    return Remark(Finding(severity, Code.MISSING_FLAG, where, message, remedy), number, None, (edit,) if edit else ())
