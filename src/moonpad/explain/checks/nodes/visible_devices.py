"""The devices that a variable leaves a process to see, against its ranks and against what its container is given."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.base import Reading
from moonpad.engines.surrounding_names import CHOOSE_DEVICES
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.nodes.node_checks import starts_ray
from moonpad.explain.commands import Command, Script, Wrapper
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.platform import Platform
from moonpad.values.records import replace
from moonpad.values.versions import since

CUDA: Final = "CUDA_VISIBLE_DEVICES"
_HIP: Final = "HIP_VISIBLE_DEVICES"
_ROCR: Final = "ROCR_VISIBLE_DEVICES"
_SLICE: Final = re.compile(r"[ ]?MIG-[\w/-]+")
_TWO: Final = 2
_NUMBERS: Final = re.compile(r"\d{1,3}(?:,[ ]?\d{1,3})*,?")
_LAUNCHERS: Final = frozenset({"srun", "mpirun", "torchrun", "ssh", "pdsh", "clush"})
_OWN_RANK: Final = "--data-parallel-rank"
_FIRST: Final = "--base-gpu-id"
_STEP: Final = "--gpu-id-step"
_BY_RAY: Final = "--data-parallel-backend"
_RUNTIME: Final = "NVIDIA_VISIBLE_DEVICES"
SEVERAL: Final = re.compile(r"nnodes|node[-_ ]?rank|dist-init|multi[- ]?node|\bnodes\b|\bray\b", re.IGNORECASE)
_LONGEST: Final = 400
_ALL_NODES: Final = ("/dev", "/dev:/dev", "/dev/nvidia")


def visible_devices(case: Case) -> Iterator[Remark]:
    """`CUDA_VISIBLE_DEVICES=0,1,2,3` before a server of eight ranks."""
    if not is_judged(case) or case.first.settings.executor not in (None, "mp"):
        return
    for number, (command, reading) in enumerate(zip(case.commands, case.readings, strict=True)):
        ranks = ranks_here(case, command, reading) if case.laid_out else _slices(case, reading)
        for name in (*CHOOSE_DEVICES, _RUNTIME):
            seen = _numbers(command, name)
            if name == _RUNTIME and not by_runtime(command, case.script):
                continue
            if ranks is None or seen is None or len({*seen}) != len(seen) or len(seen) >= ranks:
                continue
            if starts_ray(case.script):
                return
            plural = "s" if len(seen) > 1 else ""
            message = f"the process sees {len(seen)} device{plural}, and the command starts {ranks} ranks here: the "
            message += "start ends where the first of them finds no device"
            flag = case.engine.command_line.options.get("tp", "layout")
            remedy = f"name {ranks} devices, or a layout of {len(seen)} ({flag})"
            nodes = case.engine.command_line.nodes
            sure = nodes is None or (case.version and since(case.version, nodes.native_since))
            is_whole = not case.script.markdown and not is_fragment(command) and case.laid_out
            message += "" if case.laid_out else ", unless what is not known here says otherwise"
            severity = Severity.ERROR if sure and is_whole else Severity.WARNING  # older ones go to Ray by themselves
            remark = make_remark(severity, Code.ILLEGAL_LAYOUT, name, message, remedy)
            yield replace(remark, command=number, variable=name)
            return


def _slices(case: Case, reading: Reading) -> int | None:
    """Of a command that is not known whole, in a text that speaks of one machine: the ranks of one copy."""
    case.script.budget.once("lines about several machines", len(case.script.lines), "the devices that it sees")
    several = (reading.node.nodes or 1) > 1 or is_in_lines(SEVERAL, case.script.lines, _LONGEST)
    return None if several else reading.layout.tp


def by_runtime(command: Command, script: Script) -> bool:
    """Whether this variable alone says what the container gets: Kubernetes, and `--gpus`, set it by themselves."""
    container = command.container
    if container is None or script.objects:
        return False
    return container.devices is None and not container.has("--gpus") and not _sees_all(container)


def numbered_anew(case: Case) -> Iterator[Remark]:
    """`--gpus device=2,3` with `CUDA_VISIBLE_DEVICES=2,3`: in the container the two are 0 and 1."""
    for number, command in enumerate(case.commands):
        container, seen = command.container, _numbers(command, CUDA)
        if container is None or not seen or container.kind != "docker run" or _sees_all(container):
            continue
        granted = container.devices if container.devices is not None else _of_runtime(command)
        if granted is None or granted < 1 or max(seen) < granted:
            continue
        written = shortened(",".join(map(str, seen)), 30)
        last = f"0 to {granted - 1}" if granted > 1 else "0"
        number_of = "one device, which is" if granted == 1 else f"{granted} devices, which are"
        message = f"{written}: the container gets {number_of} {last} inside, whatever the numbers outside: "
        message += "CUDA passes over the first number that is not there and all behind it"
        remedy = "leave the variable out: the container has these devices alone"
        remark = make_remark(Severity.WARNING, Code.CONFLICT, CUDA, message, remedy)
        yield replace(remark, command=number, variable=CUDA)


def filtered_twice(case: Case) -> Iterator[Remark]:
    """`ROCR_VISIBLE_DEVICES=4,5,6,7` with `HIP_VISIBLE_DEVICES=4,5,6,7`: what the first leaves is numbered from 0."""
    for number, command in enumerate(case.commands):
        left = _numbers(command, _ROCR)
        for name in (_HIP, CUDA) if left and case.platform in ("", Platform.ROCM) else ():
            seen = _numbers(command, name)
            if left is None or not seen or max(seen) < len(left):
                continue
            if name == CUDA and case.platform != Platform.ROCM:
                continue
            written = shortened(",".join(map(str, seen)), 30)
            message = f"{written}: {_ROCR} leaves {len(left)} devices and numbers them anew, 0 to {len(left) - 1}: "
            message += "no device has this number (No HIP GPUs are available)"
            remedy = f"set {_HIP} alone, or count from 0 in {name}"
            remark = make_remark(Severity.WARNING, Code.CONFLICT, name, message, remedy)
            yield replace(remark, command=number, variable=name)
            return


def slices_of_ranks(case: Case) -> Iterator[Remark]:
    """`CUDA_VISIBLE_DEVICES=MIG-…,MIG-…` and several ranks: a process sees the first slice alone, and NCCL joins
    none."""
    for number, (command, reading) in enumerate(zip(case.commands, case.readings, strict=True)):
        word = command.env.get(CUDA)
        ranks = reading.layout.tp * reading.layout.pp
        if word is None or not case.laid_out or ranks < _TWO or case.engine.facts.gguf_only:
            continue
        slices = [each for each in word.text.removeprefix(f"{CUDA}=").strip("'\"").split(",") if _SLICE.match(each)]
        if len(slices) < _TWO:
            continue
        message = f"{len(slices)} slices of MIG and {ranks} ranks: a process of CUDA sees one slice, and NCCL does not "
        message += "join slices: the start ends"
        remedy = f"serve from one slice (a layout of 1), one server for each, or switch MIG off for {ranks} ranks"
        remark = make_remark(Severity.WARNING, Code.ILLEGAL_LAYOUT, CUDA, message, remedy)
        yield replace(remark, command=number, variable=CUDA, stops=True)
        return


def is_judged(case: Case) -> bool:
    command = case.commands[0]
    known = case.laid_out or ("tp" not in case.unknown and case.first.layout.tp > 1)
    if case.engine.facts.gguf_only or not known or command.custom or command.by_ray or command.more:
        return False
    if case.first.takes_all_devices or case.option(_BY_RAY) is not None:
        return False
    return not any(wrapper.kind in _LAUNCHERS for each in case.commands for wrapper in each.wrappers)


def ranks_here(case: Case, command: Command, reading: Reading) -> int | None:
    """Of one command; more where the first of its devices is not the first one that it sees."""
    layout, node = reading.layout, reading.node
    alone = reading.parsed.occurrence(_OWN_RANK) is not None
    copies = 1 if alone else node.data_parallel_local if node.data_parallel_local is not None else layout.dp
    apart = len(case.commands) if node.data_parallel_local is None and not alone else 1
    nodes = max(node.nodes or 1, command.pods, apart)
    ranks = layout.world_size // max(1, layout.dp) * copies * reading.replicas
    if nodes > 1 and node.data_parallel_local is not None:
        return None
    ranks //= nodes
    texts = [place.value for flag in (_FIRST, _STEP) if (place := reading.parsed.occurrence(flag)) is not None]
    return ranks if not texts and ranks > 0 else None


def _numbers(command: Command, name: str) -> list[int] | None:
    """None where the variable is not set, or not to numbers."""
    word = command.env.get(name)
    if word is None or word.unresolved:
        return None
    value = word.text.removeprefix(f"{name}=").strip("'\"").strip()
    return [int(each) for each in value.strip(",").split(",")] if _NUMBERS.fullmatch(value) else None


def _sees_all(container: Wrapper) -> bool:
    """A privileged container has the files of all devices."""
    mounts = (*container.values("--volume"), *container.values("--device"))
    return container.has("--privileged") or any(value.startswith(_ALL_NODES) for value in mounts)


def _of_runtime(command: Command) -> int | None:
    seen = _numbers(command, _RUNTIME)
    return len(seen) if seen else None
