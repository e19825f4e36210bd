"""The pieces of a deployment over several machines: whether each is there, and how they find each other."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from moonpad.engines.base import Reading
from moonpad.engines.command_line import CommandLine, Nodes
from moonpad.engines.foreign_names import OWN_SERVERS, RANKS_HERE
from moonpad.engines.value_checks import whole
from moonpad.explain.change_edits import with_value
from moonpad.explain.checks.nodes.data_parallel import LARGEST_MACHINE
from moonpad.explain.checks.nodes.listed_numbers import CUDA, most_listed
from moonpad.explain.checks.options.placeholders import placeholders_in
from moonpad.explain.commands import Command, Script, Word
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.documents.spoken_capabilities import other_maker
from moonpad.explain.documents.spoken_ranks import tells_of_other_ranks
from moonpad.explain.grouping import ADDRESS, value_of
from moonpad.explain.results import Edit, Remark, make_remark
from moonpad.values.cluster import Cluster
from moonpad.values.finding import Code, Severity
from moonpad.values.plan import Platform
from moonpad.values.records import replace
from moonpad.values.versions import since

_RAY: Final = re.compile(r"\bstart(?:s|ing)? (?:a |the )?ray\b|\bray start\b", re.IGNORECASE)
_MASKED: Final = re.compile(r"([xyz*n])\1{0,2}\.", re.IGNORECASE)
"""`xx.yy.zz.210`: an address of which an author has hidden parts, not always in the same way."""
_OWN: Final = frozenset({"0.0.0.0", "127.0.0.1", "localhost", "::", "[::]"})  # noqa: S104
_STARTS_RAY: Final = re.compile(
    r"\bray start\b|multi-node-serving\.sh|run_cluster\.sh|--ray_(?:cluster_size|address)|RAY_START_CMD|headGroupSpec"
)
_OF_RUNNER: Final = re.compile(r"^(?:recipe_version|cluster_only)[ \t]*:")
"""A recipe, whose runner starts the command on each node and adds what joins them:
https://github.com/eugr/spark-vllm-docker"""
_ONE_MACHINE: Final = (
    r"(?:单机|一台(?:机器|服务器)?)[^\d\n]{{0,6}}{count}[ ]?(?:卡|张)|\bBox ?{count}\b"
    r"|\b(?:one|single|1)[- ](?:machine|server|node|host)\b[^.,;\d\n]{{0,20}}\b{count}(?:\b|x)"
    r"|\b{count}(?:[ ]?[x×])?[ ][^.,;\n]{{0,30}}\b(?:in|on)[ ](?:one|a[ ]single|1)[ ](?:machine|server|node|host)\b"
)
_NODES: Final = "--nnodes"
_GROUP: Final = re.compile(r"[ \t]*leaderWorkerTemplate:")
"""Of a LeaderWorkerSet, which starts what it is given and adds no options."""
_DATA_BACKEND: Final = "--data-parallel-backend"
_OTHERS: Final = re.compile(r"headless|start-rank|data-parallel-(?:rank|hybrid-lb|external-lb)|\brank[ =]?[1-9]\b")
_missing = partial(make_remark, Severity.WARNING, Code.MISSING_FLAG)


def starts_ray(script: Script) -> bool:
    """Whether the text makes a cluster of Ray, by itself or by a script that is known for it."""
    script.budget.work(len(script.lines), "its lines")
    return is_in_lines(_STARTS_RAY, script.lines, 500)


def takes_ray_itself(version: str, options: Nodes, cluster: Cluster | None) -> bool:
    """Whether a release from before --nnodes takes Ray where the ranks are more than the devices of the machine, as
    vllm/config.py of 0.8 to 0.11.0 does for CUDA alone."""
    is_cuda = cluster is not None and cluster.device.platform is Platform.CUDA
    return bool(version) and is_cuda and not since(version, options.native_since)


def node_remarks(
    engine: CommandLine,
    version: str,
    cluster: Cluster | None,
    readings: Sequence[Reading],
    commands: Sequence[Command],
    script: Script,
    *,
    speaks_of_ray: bool = False,
) -> Iterator[Remark]:
    """What is missing among the commands."""
    if cluster is not None and cluster.device.platform is Platform.CPU:
        return
    first, told = readings[0], tells_of_other_ranks(script.lines)
    yield from _container_devices(engine, cluster, readings, commands)
    if engine.nodes is not None:
        alone = first.node.nodes is None and commands[0].pods == 1
        by_runner = is_in_lines(_OF_RUNNER, script.lines, 200) or is_one_machine(cluster, script)
        # How many devices a machine of theirs has is not known: 64 are in one trn2.48xlarge.
        by_runner |= cluster is None and other_maker(script) != ""
        if commands[0].pods > 1 and not by_runner:
            joined = starts_ray(script)
            if joined or is_in_lines(_GROUP, script.lines, 200):
                yield from _in_group(engine.nodes, version, cluster, first, commands[0], joined)
        if alone and not commands[0].by_ray and not commands[0].custom and not by_runner:
            joined = starts_ray(script)
            for remark in _executor(engine.nodes, version, cluster, first, commands[0], speaks_of_ray, joined):
                runs = speaks_of_ray and any(error.logged for error in script.error_lines)
                of_ray = runs and remark.finding.code is Code.MISSING_FLAG
                # What the text says to run over Ray, and shows an error of, has got there.
                yield _as_note(remark) if of_ray else remark
        told_to_add = script.markdown and is_in_lines(_TOLD_TO_ADD, script.lines, 500)
        by_others = commands[0].by_ray or commands[0].custom or by_runner or told_to_add
        if alone and len(commands) == 1 and not by_others:
            yield from _all_here(engine.nodes, cluster, first, commands[0], speaks_of_ray)
        if first.node.data_parallel_local is not None:
            counted = cluster is not None or _is_alone(first, script)
            if counted and not told and not _has_worker_branch(engine.nodes, commands, script):
                yield from _data_parallel(engine.nodes, readings, commands)
            yield from _second_heads(engine.nodes, readings, commands)
            yield from _ranks_of_first(engine.nodes, readings, commands)
    yield from _addresses(commands)
    if not told and cluster is not None and first.node.nodes is not None and len(readings) not in (1, first.node.nodes):
        message = f"--nnodes is {first.node.nodes}, and there are {len(readings)} commands"
        yield _missing("--nnodes", message, "start one command on each node")


def _as_note(remark: Remark) -> Remark:
    return replace(remark, finding=replace(remark.finding, severity=Severity.NOTE), edits=())


def is_one_machine(cluster: Cluster | None, script: Script) -> bool:
    """Whether the text has all devices in one machine, which is larger than the usual one (Atlas 200T A2 Box16)."""
    if cluster is None or cluster.nodes == 1:
        return False
    count = cluster.devices
    return is_in_lines(re.compile(_ONE_MACHINE.format(count=count), re.IGNORECASE), script.lines, 500)


def _is_alone(first: Reading, script: Script) -> bool:
    """Whether it is the head, and no line speaks of a machine without one."""
    return not first.node.headless and not first.node.start_rank and not is_in_lines(_OTHERS, script.lines, 500)


def _has_worker_branch(options: Nodes, commands: Sequence[Command], script: Script) -> bool:
    """Whether the script has the options of the other machines in a variable, `[ $ROLE = worker ] &&
    ARGS="$ARGS --headless"`: it is started on each of them."""
    own = {word.line for command in commands for word in command.argv}
    kept = [name for name in (options.headless, options.start_rank) if name]
    pattern = re.compile(rf"(?<![#\w$])[A-Za-z_]\w*\+?=[(\"'].*(?:{'|'.join(map(re.escape, kept))})(?![\w-])")
    others = (line[:500] for number, line in enumerate(script.lines, 1) if number not in own)
    return any(pattern.search(f" {line}".partition(" #")[0]) for line in others if "-" in line)


def _addresses(commands: Sequence[Command]) -> Iterator[Remark]:
    """Ranks that wait for each other in different places; a node may call itself otherwise than the others call it."""
    named = [value_of(command.argv, ADDRESS) for command in commands]
    known = [(at, word) for at, word in enumerate(named) if word is not None and not word.unresolved]
    if not known:
        return
    first = known[0][1].text
    for at, word in known[1:]:
        here, there = first.rpartition(":"), word.text.rpartition(":")
        own_name = here[2] == there[2] and (here[0] or first) in _OWN
        to_fill_in = any(map(_stands_in, (word.text, first))) or _MASKED.match(first)
        if word.text != first and not own_name and not to_fill_in:
            message = f"this node waits at {word.text}, the first at {first}: they do not find each other"
            given = (word.text.partition("=")[0] for word in commands[at].argv)
            where = next((name for name in given if name in ADDRESS), ADDRESS[0])
            remark = make_remark(Severity.WARNING, Code.CONFLICT, where, message, f"name {first} on every node")
            edits = tuple(_with_name(edit, commands[at].argv) for edit in with_value(commands[at].argv, ADDRESS, first))
            yield replace(remark, command=at, edits=edits, stops=True)
            return


def _stands_in(address: str) -> bool:
    return any(True for _ in placeholders_in(address))


def _with_name(edit: Edit, argv: Sequence[Word]) -> Edit:
    """From the option on, whose name another edit may mend."""
    if edit.words[0].startswith("--"):
        return edit
    return Edit(edit.at - 1, edit.length + 1, (argv[edit.at - 1].text, *edit.words))


def _container_devices(
    engine: CommandLine, cluster: Cluster | None, readings: Sequence[Reading], commands: Sequence[Command]
) -> Iterator[Remark]:
    """More ranks than the containers get devices."""
    first, container = readings[0], commands[0].container
    unknown = container is None or container.devices is None or commands[0].custom
    if container is None or container.devices is None or unknown or first.settings.executor is not None:
        return
    nodes = max(len(commands), first.node.nodes or 1, commands[0].pods)
    ranks, devices = first.layout.world_size * first.replicas, container.devices * nodes
    if ranks > devices > 0:  # with a count of 0 what it sees is what its image or a variable says
        message = f"{ranks} ranks, and the containers get {devices} devices ({container.devices} each)"
        each, word = -(-ranks // nodes), container.given("--gpus")[-1].words[-1]
        remedy = f"give each {each}"
        own = cluster.device.per_node if cluster is not None else each
        if cluster is not None and own < each and "tp" in engine.options:
            kind, machines = cluster.device.product, -(-ranks // own)
            remedy = f"a machine has {own} of {kind}: start it on {machines} machines"
            remedy += _fewer_ranks(engine, first, own)
        severity = Severity.ERROR
        if container.has("--privileged"):
            severity = Severity.WARNING
            message += ": others they may see as they are privileged, and share with whoever else has those"
        yield make_remark(severity, Code.ILLEGAL_LAYOUT, "--gpus", message, remedy, word=word)


def _fewer_ranks(engine: CommandLine, first: Reading, own: int) -> str:
    """The one size to write that leaves no more ranks than a machine has devices; "" where one alone does not."""
    sizes = {"pp": first.layout.pp, "tp": first.layout.tp, "dp": first.layout.dp * first.replicas}
    for name, size in sizes.items():
        rest = math.prod(each for key, each in sizes.items() if key != name)
        left = own // rest if rest else 0
        if size > 1 and left and left * rest == own and name in engine.options:
            return f", or write {engine.options[name]} {left}"
    return ""


def _executor(
    options: Nodes,
    version: str,
    cluster: Cluster | None,
    first: Reading,
    command: Command,
    speaks_of_ray: bool,
    joined: bool,
) -> Iterator[Remark]:
    """Ranks on several machines, and nothing that joins them; `joined`: the text starts a cluster of Ray."""
    if any(wrapper.kind.endswith((".sh", ".py")) for wrapper in command.wrappers):
        return  # a launcher of somebody's own, which may add what joins them
    if any(_joins(text, options) for each in command.left_open for _, text in each.added):
        return  # a condition adds it
    ranks = first.layout.tp * first.layout.pp
    if first.settings.executor == "mp" and cluster is not None and ranks > cluster.per_node and command.more == "":
        message = (
            f"tp × pp = {ranks} ranks on machines of {cluster.per_node} devices, and mp starts them all on this one"
        )
        remedy = (
            f"start a Ray cluster and write ray, or add --nnodes {cluster.nodes} --node-rank R --master-addr ADDRESS"
        )
        where = options.executor
        yield make_remark(Severity.WARNING, Code.ILLEGAL_LAYOUT, where, message, f"{remedy} on every machine")
    if first.settings.executor is not None:
        return
    if not since(version, options.native_since):
        spans = cluster is not None and ranks > cluster.per_node and takes_ray_itself(version, options, cluster)
        if cluster is not None and spans and not (joined or speaks_of_ray):
            message = f"tp × pp = {ranks} ranks on machines of {cluster.per_node} devices: this release takes Ray"
            message += " by itself, which has to run on all of them before the start"
            remedy = "start a Ray cluster first (ray start on each machine)"
            yield make_remark(Severity.NOTE, Code.MISSING_FLAG, options.executor, message, remedy)
        return
    if cluster is not None and ranks > cluster.per_node:
        why = f"tp × pp = {ranks} ranks on machines of {cluster.per_node} devices"
    elif cluster is None and command.more == "" and ranks > max(_granted(command), LARGEST_MACHINE):
        why = f"tp × pp = {ranks} ranks, more than one machine has devices"
    elif cluster is None and command.more == "" and ranks > _granted(command) > 0:
        if command.pods < 2 and (first.node.nodes or 1) < 2 and not (joined or speaks_of_ray):
            return  # one container, which is told to get more devices
        why = f"tp × pp = {ranks} ranks in a container of {_granted(command)} devices"
    elif cluster is None and any(_RAY.search(comment[:500]) for comment in command.comments):
        why = "the text starts a Ray cluster for it"
    else:
        return
    message = f"{why}, and nothing says how the ranks reach each other: Ray is no longer the default"
    remedy = (
        f"add {options.executor} ray and start a Ray cluster first, or run it natively on every node: "
        f"--nnodes {cluster.nodes if cluster else 'N'} --node-rank R --master-addr ADDRESS, with {options.headless} on "
        "ranks above 0"
    )
    if (speaks_of_ray or any(_RAY.search(comment[:500]) for comment in command.comments)) and not joined:
        message = f"{why}: the text speaks of Ray, which is no longer taken by itself"
        remedy = f"add {options.executor} ray, with Ray started on every machine first"
    if joined:
        message = f"{why}: the text starts Ray, which is no longer taken by itself"
        remedy = f"add {options.executor} ray"
    edit = Edit(len(command.argv), 0, (options.executor, "ray"))
    # An older release takes Ray by itself, and a list of arguments may run under Ray's own operator.
    severity = Severity.ERROR if version and not speaks_of_ray else Severity.WARNING
    yield make_remark(severity, Code.MISSING_FLAG, options.executor, message, remedy, edits=[edit])


def _joins(added: str, options: Nodes) -> bool:
    """Whether words that a condition adds say how the ranks reach each other."""
    return not {_NODES, options.executor}.isdisjoint(word.partition("=")[0] for word in added.split())


def _in_group(
    options: Nodes, version: str, cluster: Cluster | None, first: Reading, command: Command, joined: bool
) -> Iterator[Remark]:
    """The leader of a group of pods that asks neither for Ray nor for the other pods: vllm/config/parallel.py compares
    the ranks with the devices of its own pod before it looks for a cluster of Ray."""
    given = any(first.parsed.occurrence(name) for name in (options.executor, RANKS_HERE, _NODES, _DATA_BACKEND))
    if given or command.by_ray or command.custom or command.more or first.layout.dp > 1:
        return
    if cluster is not None and cluster.device.platform is not Platform.CUDA:
        return
    here = _granted(command) or (cluster.per_node if cluster is not None else 0)
    if version and here and first.layout.tp * first.layout.pp > here:
        machines = cluster if cluster is None or cluster.per_node <= here else None
        yield from _executor(options, version, machines, first, command, False, joined)


def _granted(command: Command) -> int:
    """The devices of its container, where it says how many: by its own option, or by a variable that names them."""
    if command.container is None:
        return 0
    return command.container.devices or most_listed(command.env.get(CUDA))


def _all_here(
    options: Nodes, cluster: Cluster | None, first: Reading, command: Command, speaks_of_ray: bool
) -> Iterator[Remark]:
    """One command starts all data-parallel ranks on its own machine, where nothing speaks of others."""
    node, each = first.node, first.layout.tp * first.layout.pp
    if cluster is None or first.layout.dp < 2 or each > cluster.per_node or cluster.nodes < 2 or speaks_of_ray:
        return
    if node.data_parallel_local is not None or node.headless or node.start_rank is not None or node.master:
        return
    if first.settings.executor is not None or command.more or any(_flag_of(word) in _SPREADS for word in command.argv):
        return
    ranks = first.layout.world_size
    message = (
        f"{first.layout.dp} data-parallel ranks of {each} devices start on this machine, {ranks} in all, and it has "
    )
    message += f"{cluster.per_node}: nothing says that some start elsewhere"
    here = max(1, cluster.per_node // each)
    remedy = f"add {RANKS_HERE} {here} and --data-parallel-address, and start the others with {options.headless}"
    where = "--data-parallel-size"
    yield replace(make_remark(Severity.WARNING, Code.ILLEGAL_LAYOUT, where, message, remedy), stops=True)


def _flag_of(word: Word) -> str:
    return word.text.partition("=")[0]


_TOLD_TO_ADD: Final = re.compile(
    r"`--(?:nnodes|node-rank|headless|data-parallel-(?:address|size-local|start-rank|backend))\b[^`\n]{0,40}`"
)
"""Of prose: options by which it says how to start the command on several machines."""
_SPREADS: Final = frozenset({"--data-parallel-backend", "-dpb", "--data-parallel-rank", "-dpn", *OWN_SERVERS})
"""Options by which a command starts ranks elsewhere, or one rank alone."""


def _data_parallel(options: Nodes, readings: Sequence[Reading], commands: Sequence[Command]) -> Iterator[Remark]:
    """Each command starts some of the data-parallel ranks: all of them together."""
    places = [value_of(command.argv, (options.start_rank,)) for command in commands]
    if any(word is not None and (word.unresolved or whole(word.text) is None) for word in places):
        return  # `$((8 * NODE_RANK))` or `<1_2_OR_3>` is the command of several machines
    backends = [value_of(command.argv, ("--data-parallel-backend", "-dpb")) for command in commands]
    if any(word is not None and word.text == "ray" for word in backends):
        return  # one command starts those of all machines
    ranks = readings[0].layout.dp
    alike = max(1, commands[0].pods // len(commands))
    started = sum(reading.node.data_parallel_local or 0 for reading in readings) * alike
    first = readings[0].node.start_rank
    if started < ranks:
        message = f"{ranks} data-parallel ranks, and the commands here start {started} of them"
        remedy = f"start the others with {options.headless} {options.start_rank} {started} on the next node"
        if first:  # no command of the machine that the others wait for
            remedy = f"start the ranks from 0 on with {RANKS_HERE} {first} on the head, without {options.headless}"
            remedy += f", and those from {first + started} on" if first + started < ranks else ""
        where = options.start_rank
        if any(word.text.partition("=")[0] == OWN_SERVERS[-1] for command in commands for word in command.argv):
            if (readings[0].node.data_parallel_local or 0) > 1:
                return  # refused: such a command starts one rank
            where = OWN_SERVERS[-1]
            remedy = f"start the others from {where} {started} on"
        yield _missing(where, message, remedy)


def _ranks_of_first(options: Nodes, readings: Sequence[Reading], commands: Sequence[Command]) -> Iterator[Remark]:
    """`--headless --data-parallel-start-rank 0` beside a command that starts the ranks from 0 on itself."""
    local, ranks = readings[0].node.data_parallel_local or 0, readings[0].layout.dp
    if readings[0].node.headless or readings[0].node.start_rank or not 0 < local < ranks:
        return
    for number, (reading, command) in enumerate(zip(readings, commands, strict=True)):
        place = reading.parsed.occurrence(options.start_rank)
        if not (number and reading.node.headless and reading.node.start_rank == 0) or place is None:
            continue
        only = len(commands) == 2 and local + (reading.node.data_parallel_local or 0) == ranks
        message = f"{place.written} 0: the first machine's command starts rank 0 already, and none starts rank {local}"
        value = f"{place.written}={local}" if "=" in command.argv[place.index].text else ""
        words = (value,) if value else (place.written, str(local))
        edits = [Edit(place.index, place.length, words)] if only else []
        remedy = f"write {place.written} {local}" + ("" if only else ", or the number of ranks before this machine's")
        code, at = Code.CONFLICT, place.index
        yield replace(
            make_remark(Severity.ERROR, code, place.written, message, remedy, at=at, edits=edits), command=number
        )


def _second_heads(options: Nodes, readings: Sequence[Reading], commands: Sequence[Command]) -> Iterator[Remark]:
    """One API server serves all ranks, unless a balancer in front of them is asked for."""
    local = readings[0].node.data_parallel_local or 0
    if any(word.text.partition("=")[0] in OWN_SERVERS for command in commands for word in command.argv):
        return
    for number, (reading, command) in enumerate(zip(readings, commands, strict=True)):
        if number and local and reading.node.start_rank == number * local and not reading.node.headless:
            message = f"node {number} ({options.start_rank} {reading.node.start_rank}) starts an API server of its own"
            edit = Edit(len(command.argv), 0, (options.headless,))
            yield replace(_missing(options.headless, message, f"add {options.headless}", edits=[edit]), command=number)
