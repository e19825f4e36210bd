"""The devices that a job asks its scheduler for, against the ranks that its command starts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import surrounding_names as around
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import fields_of, inner, number_of, object_of, pod_objects
from moonpad.explain.checks.nodes.node_checks import starts_ray
from moonpad.explain.checks.nodes.slurm_jobs import slurm_devices
from moonpad.explain.documents.device_mentions import cluster_named
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import block_of
from moonpad.explain.started_ranks import ranks_of
from moonpad.values.finding import Code, Severity

_PREDICTOR: Final = ("spec", "predictor", "model", "resources")
_GPUS: Final = ("nvidia.com/gpu", "amd.com/gpu")
_OF_JOB: Final = (re.compile(r"^[ \t]*(?:num_nodes|nodes):[ \t]*\d"), re.compile(r"^[ \t]*(?:run|commands):"))
"""Of a job of SkyPilot or dstack, which hands the lines to a shell of each machine."""
_OVER_MACHINES: Final = (
    *("--data-parallel-size-local", "--data-parallel-address", "--data-parallel-backend", "--dist-init-addr"),
    *("--master-addr", "--headless"),
)
_NEAR: Final = 60
"""Lines between what a job asks for and its command."""


def asked_devices(case: Case) -> Iterator[Remark]:
    """`accelerators: H200:4` and `--tensor-parallel-size 8`."""
    command, first = case.commands[0], case.first
    flag = case.engine.command_line.options.get("tp", "")
    if not case.script.asked or not case.laid_out or command.container is not None or not flag:
        return
    if command.custom or command.more or is_fragment(command) or first.takes_all_devices or len(case.commands) > 1:
        return
    if first.node.data_parallel_local is not None or first.node.headless or (first.node.nodes or 1) > command.pods:
        return
    asked = [(name, line) for name, line in case.script.asked if name[:1].isdigit()]  # a label tells the kind alone
    first_line, last_line = block_of(case.commands, case.script)
    near = [line for _, line in asked if first_line <= line <= last_line and abs(command.line - line) < _NEAR]
    if not near:
        return
    nearest = min(near, key=lambda line: (line > command.line, abs(command.line - line)))
    machines = [cluster_named(name) for name, line in asked if line == nearest]
    devices = max((each.devices if each is not None else 0) for each in machines)
    ranks = ranks_of(first)
    if None in machines or ranks <= devices:
        return
    if next(slurm_devices(case), None) is not None:
        return  # said of its line
    message = f"{ranks} ranks, and the job asks for {devices} devices: the last ranks find none"
    place = case.option(flag)
    remedy = f"ask for {ranks}, or write a layout of {devices}"
    at = place.index if place is not None else None
    yield make_remark(Severity.WARNING, Code.ILLEGAL_LAYOUT, flag, message, remedy, at=at)


def devices_of_predictor(case: Case) -> Iterator[Remark]:
    """The same of an InferenceService whose runtime is not in the text: its model has the resources itself."""
    command, flag = case.commands[0], case.engine.command_line.options.get("tp", "")
    if not case.script.objects or not case.laid_out or command.container is not None or not flag or command.pods > 1:
        return
    holder = object_of(case, pod_objects(case.script))
    if holder is None or holder.templated or holder.kind != "InferenceService":
        return
    limits = fields_of(inner(holder.fields, *_PREDICTOR, "limits")) or fields_of(
        inner(holder.fields, *_PREDICTOR, "requests")
    )
    devices = next((number for name in _GPUS if (number := number_of(limits.get(name))) is not None), None)
    ranks = ranks_of(case.first)
    if not devices or ranks <= devices or fields_of(inner(holder.fields, "spec", "predictor", "workerSpec")):
        return
    message = f"{ranks} ranks, and the model gets {devices} devices: the last ranks find none"
    place = case.option(flag)
    remedy = f"give it {ranks}, or write a layout of {devices}"
    at = place.index if place is not None else None
    yield make_remark(Severity.WARNING, Code.ILLEGAL_LAYOUT, flag, message, remedy, at=at)


def rank_of_job(case: Case) -> Iterator[Remark]:
    """`--node-rank 0` in a job of two machines, each of which runs the same lines."""
    command, place = case.commands[0], case.option("--node-rank")
    if place is None or command.pods < 2 or not case.script.asked or len(case.commands) > 1:
        return
    if object_of(case, pod_objects(case.script)) is not None:
        return  # of an object of Kubernetes the pods may be copies
    rank = case.text("--node-rank").strip("'\"")
    if not rank.isdigit() or command.arms:
        return
    message = f"each of the {command.pods} machines runs this line, and so all have rank {rank}: the group is never "
    message += "complete"
    remedy = "take the rank from the scheduler's variable ($SKYPILOT_NODE_RANK, $DSTACK_NODE_RANK)"
    yield make_remark(Severity.WARNING, Code.CONFLICT, place.written, message, remedy, at=place.index)


def machines_not_joined(case: Case) -> Iterator[Remark]:
    """`num_nodes: 2` and `--tensor-parallel-size 16`: each machine starts the line for itself."""
    command, first = case.commands[0], case.first
    if command.pods < 2 or not case.script.asked or len(case.commands) > 1 or case.open_ended:
        return
    if object_of(case, pod_objects(case.script)) is not None:
        return  # of an object of Kubernetes the pods may be joined by its operator
    if not all(is_in_lines(each, case.script.lines, _NEAR) for each in _OF_JOB):
        return  # what starts it by keys of its own may add what joins them
    if not case.laid_out or command.custom or command.more or is_fragment(command) or command.by_ray:
        return
    if case.base not in around.ONE_PROCESS_A_NODE or first.node.nodes is not None or starts_ray(case.script):
        return
    if first.settings.executor not in (None, "mp") or any(case.option(flag) is not None for flag in _OVER_MACHINES):
        return
    machines = [cluster_named(name) for name, _ in case.script.asked if name[:1].isdigit()]
    devices = max((each.per_node for each in machines if each is not None), default=0)
    ranks = first.layout.tp * first.layout.pp
    if not devices or ranks <= devices or None in machines:
        return
    flag = case.engine.command_line.options.get("tp", "layout")
    place = case.option(flag)
    message = f"each of the {command.pods} machines starts this line by itself, and its {ranks} ranks find {devices} "
    message += "devices there: nothing joins the machines"
    remedy = f"add --nnodes {command.pods}, a --node-rank from the scheduler's variable ($SKYPILOT_NODE_RANK, "
    remedy += "$DSTACK_NODE_RANK) and the address of the first machine"
    at = place.index if place is not None else None
    yield make_remark(Severity.WARNING, Code.ILLEGAL_LAYOUT, flag, message, remedy, at=at)
