"""The pieces of a deployment over several machines: whether each is there, and how they find each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.engines.base import Reading
from moonpad.engines.words import at_least
from moonpad.explain.commands import Command
from moonpad.explain.judged import Edit, Remark
from moonpad.values.cluster import Cluster
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.plan import Platform

_RAY: Final = re.compile(r"\bstart(?:s|ing)? (?:a |the )?ray\b|\bray start\b", re.IGNORECASE)
RAY: Final = "--distributed-executor-backend"
_VLLM: Final = ("vllm", "vllm-ascend")
# vLLM 0.11.1 brought --nnodes, and its executor is no longer Ray by itself where the ranks outnumber the devices
# (vllm/config/parallel.py, ParallelConfig.__post_init__).
_NATIVE_SINCE: Final = "0.11.1"


def node_remarks(
    engine: str, version: str, cluster: Cluster | None, readings: Sequence[Reading], commands: Sequence[Command]
) -> Iterator[Remark]:
    """What is missing among the commands."""
    if cluster is not None and cluster.device.platform is Platform.CPU:
        return
    first = readings[0]
    layout = first.layout
    lengths = [len(command.argv) for command in commands]
    if cluster is None:
        if engine in _VLLM and first.node.nodes is None and _speaks_of_ray(commands[0]):
            yield from _no_executor(version, "the text starts a Ray cluster for it", 0, first, lengths[0])
        return
    if engine in _VLLM and layout.tp * layout.pp > cluster.per_node and first.node.nodes is None:
        ranks = f"tp × pp = {layout.tp * layout.pp} ranks on machines of {cluster.per_node} devices"
        yield from _no_executor(version, ranks, cluster.nodes, first, lengths[0])
    if engine in _VLLM and first.node.data_parallel_local is not None:
        local = first.node.data_parallel_local
        covered = sum(reading.node.data_parallel_local or 0 for reading in readings)
        if covered < layout.dp:
            yield _missing(
                "--data-parallel-start-rank",
                f"{layout.dp} data-parallel ranks, and the commands here start {covered} of them",
                f"start the others with --headless --data-parallel-start-rank {covered} on the next node",
                Severity.WARNING,
                0,
            )
        for number, reading in enumerate(readings[1:], 1):
            if reading.node.start_rank == number * local and not reading.node.headless:
                yield _missing(
                    "--headless",
                    f"the command of node {number} starts an API server of its own",
                    "add --headless",
                    Severity.WARNING,
                    number,
                    Edit(lengths[number], 0, ("--headless",)),
                )
    if first.node.nodes is not None and len(readings) not in (1, first.node.nodes):
        yield _missing(
            "--nnodes",
            f"--nnodes {first.node.nodes}, and there are {len(readings)} commands",
            "start one command on each node",
            Severity.WARNING,
            0,
        )


def _no_executor(version: str, why: str, nodes: int, first: Reading, length: int) -> Iterator[Remark]:
    if first.settings.executor is not None or not at_least(version, _NATIVE_SINCE):
        return
    yield _missing(
        RAY,
        f"{why}, and nothing says how the ranks reach each other: Ray is no longer chosen by itself",
        f"add {RAY} ray behind a started Ray cluster, or run it natively on every node: --nnodes {nodes or 'N'} "
        "--node-rank R --master-addr ADDRESS, with --headless on ranks above 0",
        Severity.ERROR,
        0,
        Edit(length, 0, (RAY, "ray")),
    )


def _speaks_of_ray(command: Command) -> bool:
    return any(_RAY.search(comment[:500]) for comment in command.comments)


def _missing(
    where: str, message: str, remedy: str, severity: Severity, number: int, edit: Edit | None = None
) -> Remark:
    return Remark(Finding(severity, Code.MISSING_FLAG, where, message, remedy), number, None, (edit,) if edit else ())
