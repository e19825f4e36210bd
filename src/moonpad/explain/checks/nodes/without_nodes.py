"""More ranks than a machine has devices, of an engine that starts them all on its own machine unless it is told how
many there are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.options import option_set
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.nodes.node_checks import is_one_machine
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.platform import Platform
from moonpad.values.records import replace

_NODES: Final = "--nnodes"
_RANK: Final = "--node-rank"
_MEET: Final = "--dist-init-addr"
_JOINED: Final = re.compile(
    r"\bn?nodes?[-_ ]?rank\b|--nnodes|dist[-_]init|leaderWorkerTemplate|LWS_|\bmpirun\b|\bsrun\b|num[-_]nodes|numNodes"
    r"|multinode|nodeCount|(?:pod|group)(?:Group)?Size|workerSpec",
    re.IGNORECASE,
)
"""What says elsewhere how several machines are joined: a runner or an operator may add the options."""
_OF_ANY_SIZE: Final = (Platform.CPU, Platform.ASCEND)
"""Machines of 16 NPUs are called by the same names as those of 8 (Atlas 200T A2 Box16)."""
_LONGEST: Final = 500
_USUAL: Final = 8
"""Devices of a machine."""
_RAY: Final = re.compile(r"(?<![\w-])ray[ ]+(?:start[ ]+--(?:head|address)|status)\b")


def ranks_on_one_machine(case: Case) -> Iterator[Remark]:
    """`--tp 16` on machines of eight devices, and no `--nnodes`."""
    command, first, cluster, line = case.commands[0], case.first, case.cluster, case.engine.command_line
    flag = line.options.get("tp", "")
    place = case.option(flag) if flag else None
    if place is None or line.nodes is not None or cluster is None or not case.laid_out or case.open_ended:
        return
    if len(case.commands) > 1 or command.pods > 1 or command.custom or command.more:
        return
    ranks = first.layout.tp * first.layout.pp
    alone = first.node.nodes is None and not first.takes_all_devices and not is_fragment(command)
    if not alone or ranks <= cluster.per_node or cluster.device.platform in _OF_ANY_SIZE:
        return
    options = option_set(command.program)
    if options is None or options.named(_NODES) is None or options.named(_MEET) is None:
        return
    case.script.budget.once("how machines are joined", len(case.script.lines), "the machines that it names")
    if is_in_lines(_JOINED, case.script.lines, _LONGEST) or is_one_machine(cluster, case.script):
        return
    message = f"{ranks} ranks on machines of {cluster.per_node} devices, and no {_NODES}: all of them start on this one"
    nodes = -(-ranks // cluster.per_node)
    remedy = f"start it on each of {nodes} machines, with {_NODES} {nodes} --node-rank R {_MEET} ADDRESS:PORT"
    yield replace(make_remark(Severity.WARNING, Code.MISSING_FLAG, _NODES, message, remedy, at=place.index), stops=True)


def rank_without_nodes(case: Case) -> Iterator[Remark]:
    """`--node-rank 1` without `--nnodes`: the engine counts one machine, and starts all ranks on it."""
    options = option_set(case.engine.program, case.version or None)
    if options is None or options.named(_NODES) is None or case.open_ended or case.script.objects:
        return
    for number, (command, reading) in enumerate(zip(case.commands, case.readings, strict=False)):
        place = reading.parsed.occurrence(_RANK)
        text = place.value.strip("'\"") if place is not None and isinstance(place.value, str) else ""
        if place is None or not text.isdigit() or int(text) < 1 or reading.parsed.occurrence(_NODES) is not None:
            continue
        if (
            command.more
            or command.custom
            or command.left_open
            or is_fragment(command)
            or reading.node.nodes is not None
        ):
            continue
        message = f"{place.written} {text} without {_NODES}, which is 1 then: the group is this machine alone, and the "
        message += "others are not waited for"
        finding = Finding(
            Severity.WARNING, Code.MISSING_FLAG, _NODES, message, f"add {_NODES} with the number of machines"
        )
        yield Remark(finding, at=place.index, command=number)
        return


def devices_beside_command(case: Case) -> Iterator[Remark]:
    """In a custom resource, a container whose own resources are fewer devices than the ranks of its command, and
    nothing in the text joins several pods."""
    command, first, container = case.commands[0], case.first, case.commands[0].container
    if not (command.custom and case.script.objects) or command.made or command.by_ray or len(case.commands) > 1:
        return
    if container is None or not container.devices or not case.laid_out or first.settings.executor is not None:
        return
    ranks, devices = first.layout.tp * first.layout.pp, container.devices * command.pods
    case.script.budget.once("lines that join machines", len(case.script.lines), "its lines")
    joined = (first.node.nodes or 1) > 1 or is_in_lines(_JOINED, case.script.lines, _LONGEST)
    if ranks <= devices or joined or not container.given("--gpus"):
        return
    word = container.given("--gpus")[-1].words[-1]
    message = f"{ranks} ranks, and the resources of the container ask for {devices} device{'s' * (devices > 1)}: "
    if container.has("--privileged"):
        message += "the others it sees only as it is privileged, and the scheduler may give them to other pods"
    else:
        message += "it gets no more, unless the operator of the custom resource asks for more by itself"
    remedy = f"ask for {-(-ranks // command.pods)}"
    yield make_remark(Severity.WARNING, Code.ILLEGAL_LAYOUT, "--gpus", message, remedy, word=word)


def cluster_not_used(case: Case) -> Iterator[Remark]:
    """`--distributed-executor-backend mp` and more ranks than a machine usually has, beside a cluster of Ray."""
    command, first, line = case.commands[0], case.first, case.engine.command_line
    flag = "--distributed-executor-backend"
    place = case.option(flag)
    ranks = first.layout.tp * first.layout.pp
    if place is None or case.text(flag) != "mp" or ranks <= _USUAL or case.cluster is not None or not case.laid_out:
        return
    if line.nodes is None or first.node.nodes is not None or len(case.commands) > 1 or command.custom or command.more:
        return
    case.script.budget.once("a cluster of Ray", len(case.script.lines), "the machines that it names")
    if not is_in_lines(_RAY, case.script.lines, _LONGEST) or is_in_lines(_JOINED, case.script.lines, _LONGEST):
        return
    message = (
        f"mp starts the {ranks} ranks on this machine alone, and the cluster of Ray that the text speaks of is not "
    )
    message += "used: a machine with fewer devices refuses the start (world size)"
    remedy = f"write {flag} ray, or {_NODES} with a {_RANK} on each machine"
    yield make_remark(Severity.WARNING, Code.CONFLICT, place.written, message, remedy, at=place.index)
