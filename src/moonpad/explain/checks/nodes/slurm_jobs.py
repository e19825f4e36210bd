"""What a Slurm job asks for, against the ranks of the command and the servers that srun starts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from msgspec import Struct

from moonpad.engines import surrounding_names as around
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.nodes.node_checks import starts_ray
from moonpad.explain.commands import Wrapper
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.programs import is_server
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import block_of, numbered
from moonpad.explain.shell.slurm_directives import devices_of_gres, takes_whole_nodes
from moonpad.values.finding import Code, Severity

_DIRECTIVE: Final = re.compile(r"[ \t]*#SBATCH[ \t]+(?P<options>\S.*)")
_OPTION: Final = re.compile(r"(?P<name>--[a-z-]+|-[A-Za-z])(?:[ \t]*=[ \t]*|[ \t]*)(?P<value>[^\s#-][^\s#]*)?")
_PER_NODE: Final = "--ntasks-per-node"
_LONG: Final[Mapping[str, str]] = {
    **{"-N": "--nodes", "-n": "--ntasks", "-G": "--gpus", "--tasks-per-node": _PER_NODE},
}
_GPUS: Final = re.compile(r"(?:gres/)?(?:gpu:)?(?:[A-Za-z][\w.-]*:)?(?P<count>\d{1,3})")
_BY_TASK: Final = re.compile(r"SLURM_LOCALID|SLURM_TASK_PID|--multi-prog|--gpus-per-task|--gpu-bind|--gpus-per-socket")
"""What gives each task a part of its own, or starts the server in one of them."""
_ENTRY: Final = re.compile(r"SLURM_PROCID")
_OVER_NODES: Final = ("--data-parallel-size-local", "--data-parallel-address", "--data-parallel-backend")
_OTHER_STARTS: Final = re.compile(
    r"(?<![\w-])(?:srun|mpirun|mpiexec|ssh|pdsh|clush|ray|torchrun|deepspeed|sbatch"
    r"|source(?![ \t][^\n]{0,120}(?:conda|activate|bashrc|profile|modules?)))(?![\w-])"
    r"|(?:\b(?:ba)?sh[ ]|^[ \t]*\.{0,2}/)[\w./${}-]+\.(?:sh|slurm|sbatch)\b"
)
"""What may start something on the other nodes, or bring it; an environment of Python or of modules does not."""
_RAY_OPTION: Final = re.compile(r"--?[\w-]*ray\b|--distributed[_-]executor[_-]backend[ =]ray|RAY_(?!ADDRESS)[A-Z_]+")
"""Where the word is none that starts Ray."""
_FINDS_RAY: Final = ("RAY_ADDRESS",)
_LONGEST: Final = 200
_OWN_RANK: Final = ("--data-parallel-rank", "--data-parallel-start-rank")
_RANK: Final = "--node-rank"
_ON_ONE: Final = ("--nodelist", "--relative", "-w", "-r")
"""Options of srun that choose nodes of the job: a line for each may stand in a loop."""
_EXECUTOR: Final = "--distributed-executor-backend"
_APART: Final = frozenset({"ssh", "mpirun", "torchrun", "docker exec"})


class Job(Struct, frozen=True):
    """None: not said, or not in numbers."""

    nodes: int | None
    tasks: int | None
    per_node: int | None
    gpus: int | None
    """On each node."""
    line: int
    """Of what says how many devices."""


def slurm_devices(case: Case) -> Iterator[Remark]:
    """`#SBATCH --gpus-per-node=4` over a server of eight ranks."""
    job, step, first = asked_job(case), _step(case), case.first
    if job is None or job.gpus is None or not case.laid_out or _is_other(case) or first.takes_all_devices:
        return
    if first.settings.executor not in (None, "mp"):
        return
    if len(case.commands) > 1 or any(case.option(flag) is not None for flag in _OWN_RANK):
        return
    nodes = first.node.nodes or 1
    if first.node.nodes is None and job.nodes != 1:
        return  # what joins the machines may stand elsewhere
    local = first.node.data_parallel_local
    copies = local if local is not None else first.layout.dp
    ranks = first.layout.tp * first.layout.pp * copies * first.replicas // (nodes if local is None else 1)
    if ranks <= job.gpus or (step is None and nodes > 1) or starts_ray(case.script):
        return
    where = case.script.where(job.line)
    asked = f"{job.gpus} {'device' if job.gpus == 1 else 'devices'}"
    message = f"{where} asks for {asked} on a node, and the command starts {ranks} ranks on one"
    flag = case.engine.command_line.options.get("tp", "layout")
    remedy = f"ask for {ranks} on each node, or take a layout of {job.gpus} ({flag})"
    place = case.option(flag)
    at = place.index if place is not None else None
    yield make_remark(Severity.WARNING, Code.ILLEGAL_LAYOUT, flag, message, remedy, at=at)


def slurm_tasks(case: Case) -> Iterator[Remark]:
    """Several tasks on a node, each of which starts the whole server of that node."""
    job, step = asked_job(case), _step(case)
    if job is None or step is None or job.nodes is None or _is_other(case):
        return
    if len(case.commands) > 1 or any(case.option(flag) is not None for flag in _OWN_RANK):
        return
    nodes = job.nodes
    tasks = job.tasks if job.tasks is not None else job.per_node * nodes if job.per_node is not None else None
    if tasks is None or tasks <= nodes or tasks % nodes:
        return
    start, end = block_of(case.commands, case.script)
    texts = [text for _, text in numbered(case.script, start, end) if not text.lstrip().startswith("#")]
    if any(_BY_TASK.search(text) for text in texts) or _chooses(texts):
        return
    each = tasks // nodes
    message = f"srun starts {tasks} tasks on {nodes} {'node' if nodes == 1 else 'nodes'}, and each starts a server: "
    message += f"{each} on every node, which want the same devices and the same port"
    remedy = "let srun start one task on each node: the server starts its ranks itself"
    yield make_remark(Severity.WARNING, Code.CONFLICT, _PER_NODE, message, remedy)


def slurm_idle_nodes(case: Case) -> Iterator[Remark]:
    """A job of two nodes whose script starts one server, on the node that runs the script."""
    job = asked_job(case)
    if job is None or job.nodes is None or job.nodes < 2 or _step(case) is not None or _is_other(case):
        return
    node, commands = case.first.node, case.script.commands
    servers = [each for each in commands if is_server(each.program)]
    if node.nodes is not None or node.headless or len(servers) != 1 or case.open_ended:
        return
    if case.first.settings.executor not in (None, "mp") or any(case.option(flag) is not None for flag in _OVER_NODES):
        return
    start, _ = block_of(case.commands, case.script)
    lines = numbered(case.script, start, len(case.script.lines))
    if any(_OTHER_STARTS.search(text) for _, text in lines if not text.lstrip().startswith("#")):
        return
    message = (
        f"the job has {job.nodes} nodes, and a batch script runs on the first alone: the server uses its devices, "
    )
    message += f"and the other {job.nodes - 1} {'is' if job.nodes == 2 else 'are'} paid for and idle"
    remedy = "ask for one node, or start the server by srun on all of them with --nnodes and a rank"
    yield make_remark(Severity.WARNING, Code.SUBOPTIMAL, "--nodes", message, remedy)


def slurm_without_ray(case: Case) -> Iterator[Remark]:
    """A job of two nodes whose server is told to use Ray, in a script that starts nothing on the second."""
    job, place = asked_job(case), case.option(_EXECUTOR)
    if job is None or (job.nodes or 1) < 2 or _step(case) is not None or _is_other(case) or place is None:
        return
    first, servers = case.first, [each for each in case.script.commands if is_server(each.program)]
    if first.settings.executor != "ray" or first.node.nodes is not None or len(servers) != 1 or not case.laid_out:
        return
    ranks = first.layout.tp * first.layout.pp
    if (job.gpus is not None and ranks <= job.gpus) or any(name in case.commands[0].env for name in _FINDS_RAY):
        return
    case.script.budget.work(len(case.script.lines), "its lines")
    start, _ = block_of(case.commands, case.script)
    lines = (text for _, text in numbered(case.script, start, len(case.script.lines)))
    if any(_OTHER_STARTS.search(_RAY_OPTION.sub("", text)) for text in lines if not text.lstrip().startswith("#")):
        return
    have = f"{ranks} ranks find {job.gpus} devices" if job.gpus is not None else f"{ranks} ranks find one node"
    message = f"the job has {job.nodes} nodes, and a batch script runs on the first alone: nothing starts Ray on "
    message += f"{'the other' if job.nodes == 2 else 'the others'}, so the {have} and the start waits for the rest "
    message += "until it ends"
    remedy = "before it, ray start --head here and srun ray start --address on the other nodes; or start it by srun on "
    remedy += "all of them with --nnodes and a rank"
    yield make_remark(Severity.WARNING, Code.MISSING_FLAG, place.written, message, remedy, at=place.index)


def slurm_same_rank(case: Case) -> Iterator[Remark]:
    """`srun … --node-rank 0` in a job of two nodes: all of its tasks run the same words."""
    step, command, place = _step(case), case.commands[0], case.option(_RANK)
    if step is None or place is None or _is_other(case) or command.arms or (case.first.node.nodes or 1) < 2:
        return
    job = asked_job(case)
    nodes = job.nodes if job is not None else _count(step.value("--nodes") or "")
    if nodes is None or nodes < 2 or any(step.value(name) for name in _ON_ONE) or step.value("--ntasks") == "1":
        return
    rank = case.text(_RANK).strip("'\"")
    if not rank.isdigit() or sum(is_server(each.program) for each in case.script.commands) > 1:
        return
    start, end = block_of(case.commands, case.script)
    if _chooses([text for _, text in numbered(case.script, start, end) if not text.lstrip().startswith("#")]):
        return
    message = f"srun starts this line on {nodes} nodes, and so all have rank {rank}: the group is never complete"
    remedy = f"let a shell of each task fill it in: srun bash -c '… {place.written} $SLURM_NODEID', in single quotes"
    yield make_remark(Severity.WARNING, Code.CONFLICT, place.written, message, remedy, at=place.index)


def _chooses(texts: list[str]) -> bool:
    """Whether a test of the task's number stands around the server."""
    return any(_ENTRY.search(text) and re.search(r"\[|\bif\b|\bcase\b|-eq|==", text) for text in texts)


def _is_other(case: Case) -> bool:
    command = case.commands[0]
    if is_fragment(command) or command.embedded or command.custom or case.script.objects:
        return True
    if case.base not in around.ONE_PROCESS_A_NODE:
        return True
    return any(wrapper.kind in _APART for wrapper in command.wrappers)


def _step(case: Case) -> Wrapper | None:
    return next((wrapper for wrapper in case.commands[0].wrappers if wrapper.kind == "srun"), None)


def asked_job(case: Case) -> Job | None:
    """By the header of the script, and by the options of srun where it is given any."""
    if not _has_header(case.script.lines):
        return None
    start, end = block_of(case.commands, case.script)
    given: dict[str, tuple[str, int]] = {}
    whole = False
    for number, text in numbered(case.script, start, end):
        match = _DIRECTIVE.match(text)
        whole = whole or (match is not None and takes_whole_nodes(match["options"]))
        for asked in _OPTION.finditer(match["options"]) if match else ():
            name = _LONG.get(asked["name"], asked["name"])
            given[name] = (asked["value"] or "", number)
    if not given:
        return None
    step = _step(case)
    for option in step.options if step is not None else ():
        if option.value is not None:
            given[option.name] = (option.value, option.words[0].line if option.words else case.commands[0].line)
    if step is not None and step.value("--ntasks-per-node") is not None and step.value("--ntasks") is None:
        given.pop("--ntasks", None)
    nodes = _count(given.get("--nodes", ("1", 0))[0])
    each, line = (None, case.commands[0].line) if whole else _devices(given, nodes, case.commands[0].line)
    tasks, per_node = (_count(given[name][0]) if name in given else None for name in ("--ntasks", _PER_NODE))
    return Job(nodes, tasks, per_node, each, line)


def _devices(given: Mapping[str, tuple[str, int]], nodes: int | None, line: int) -> tuple[int | None, int]:
    """How many on each node, and the line that says it."""
    if "--gpus-per-node" in given:
        text, line = given["--gpus-per-node"]
        return (int(count["count"]) if (count := _GPUS.fullmatch(text)) else None), line
    if "--gres" in given:
        text, line = given["--gres"]
        return devices_of_gres(text), line
    text, line = given.get("--gpus", ("", line))
    total = _GPUS.fullmatch(text)
    return (int(total["count"]) // nodes if total and nodes else None), line


@lru_cache(maxsize=4)
def _has_header(lines: tuple[str, ...]) -> bool:
    return any("#SBATCH" in line[:_LONGEST] for line in lines)


def _count(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 6 and int(text) else None
