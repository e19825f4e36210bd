"""Layouts against the devices that a text counts in words, and against those that the pods of a group hold together."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.clients.request_names import is_only_server
from moonpad.explain.documents.device_mentions import machines_of
from moonpad.explain.documents.device_nearness import sections
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.grouping import value_of
from moonpad.explain.programs import is_server
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import numbered
from moonpad.explain.started_ranks import ranks_of
from moonpad.values.finding import Code, Severity

_NUMBERS: Final = {"one": 1, "two": 2, "four": 4, "eight": 8, "sixteen": 16}
_COUNTED: Final = re.compile(
    r"(?<![\w-])(?P<number>one|two|four|eight|sixteen)[ ]+(?:NVIDIA |AMD )?"
    r"(?P<device>(?:GB|MI|[ABHL])\d{2,3}[A-Z]{0,2})(?:s|[ -](?:GPUs?|SXM5?|\d+ ?GB))?(?![\w-])"
    r"(?![ ](?:(?!with|and|on|in|per|or|for|each|over)[\w-]{1,14}[ ]){0,3}(?:nodes?|machines?|servers?|hosts?|boxe?s?"
    r"|systems?|instances?|VMs?|trays?|chassis|platforms?|racks?)\b)",
    re.IGNORECASE,
)
_TP: Final = ("--tp", "--tp-size", "--tensor-parallel-size", "-tp")
_MOST_COMMANDS: Final = 100
_SEVERAL: Final = re.compile(
    r"\b(?:each|per|nodes?|machines|hosts|servers|replicas?|pairs?|prefill|decode|or|and|to|at least)\b|[+×]|\bx ?\d",
    re.IGNORECASE,
)
"""What makes of a line one about more machines, or about a choice of them."""
_MACHINES: Final = re.compile(
    r"(?<![\w.-])(?:[2-9]|[1-9]\d|two|three|four|six|eight|multi(?:ple)?|several|both|all)[ -]?(?:[x×*][ ]?)?"
    r"(?:worker |compute |GPU |HGX |DGX )?(?:nodes?|machines|hosts|servers|boxes|instances|pods|workers|replicas)\b"
    r"|cluster|\bray\b|slurm|torchrun|mpirun|(?:[2-9二两三四多双]|[1-9]\d)[ ]?(?:台|机|个?节点)|每台|集群",
    re.IGNORECASE,
)
"""What makes of a text one about several machines."""
_ONE_MACHINE: Final = re.compile(
    r"\b(?:one|single|1)[ -](?:[\w-]{1,12}[ ]){0,3}(?:node|machine|server|box|host)\b|单机|单节点|单台|一台",
    re.IGNORECASE,
)
_WHOLE: Final = re.compile(
    r"(?<![\w-])(?:one|an?|single|1x?|the|this|my|our|another)[ -](?:[\w-]{1,14}[ ]){1,5}"
    r"(?:tray|box|node|machine|server|host|system|instance|VM|chassis|platform|rack)\b",
    re.IGNORECASE,
)
"""`one GB300 tray`: a machine by the name of its devices, which says nothing of how many it has."""
_OF_ANY: Final = re.compile(r"cluster|ray", re.IGNORECASE)
"""Of these words those that a text about one machine may have too."""
_OF_TWO: Final = ("A3", "GB")
"""Cards of two devices, and boards of which texts count either."""
_ONE_OF: Final = re.compile(
    r"\b(?:or|and|vs|versus|than|minimum|least|need(?:s|ed)?|require[sd]?|recommend(?:ed)?|supports?|fits?|each|per|prefill"
    r"|decode|instead|tested|other|another|upgrade|was|were|tried)\b|或|至少|最低|需要|推荐|每|支持",
    re.IGNORECASE,
)
"""What makes of a line one about a choice of machines, or about other starts."""
_LONGEST: Final = 500
"""A longer line is data, not prose."""
_ON_EACH: Final = re.compile(
    r"\b(?:each|every|all|both|other|second|worker)[ ](?:of the )?(?:nodes?|machines?|hosts?|servers?)\b"
    r"|每个?节点|每台|所有节点|各节点",
    re.IGNORECASE,
)
"""Words on starts of other nodes."""
_LAUNCHERS: Final = frozenset({"srun", "mpirun", "ssh"})
_NODES: Final = ("--nnodes", "--node-rank", "--data-parallel-size-local", "--data-parallel-address", "--headless")


def devices_in_words(case: Case) -> Iterator[Remark]:
    """`# Kimi-Linear on four H100` and a layout of eight ranks."""
    command, first = case.commands[0], case.first
    if not case.laid_out or command.more or command.custom or is_fragment(command) or not is_only_server(case):
        return
    if any(case.option(flag) is not None for flag in _NODES) or case.devices_asked or case.script.objects:
        return
    counted: dict[tuple[int, str], int] = {}
    for number, text in numbered(case.script, 1, len(case.script.lines)):
        for match in _COUNTED.finditer(text):
            if _SEVERAL.search(text):
                return
            counted.setdefault((_NUMBERS[match["number"].casefold()], match["device"].upper()), number)
    ranks = first.layout.tp * first.layout.pp * first.layout.dp
    counted = counted or _counted_machines(case)
    if len(counted) != 1:
        return
    (((devices, device), line),) = counted.items()
    if ranks <= devices:
        return
    message = (
        f"{ranks} ranks, and {case.script.where(line)} names {devices} {device}: the start waits for more, or ends "
    )
    message += "where a rank finds no device"
    flag = case.engine.command_line.options["tp"]
    place = case.option(flag)
    yield make_remark(
        Severity.WARNING,
        Code.ILLEGAL_LAYOUT,
        flag,
        message,
        f"take a layout of {devices} ranks, or more devices",
        at=place.index if place is not None else None,
    )


def _counted_machines(case: Case) -> dict[tuple[int, str], int]:
    """The only machine of a text, `4x H100`, with its line; empty where it speaks of several, or of a choice."""
    lines = [*numbered(case.script, 1, len(case.script.lines))]
    found: dict[tuple[int, str], int] = {}
    for number, text in lines:
        for _, machine in machines_of(text, case.script.budget):
            count, _, device = machine.partition("x")
            if not count.isdigit() or "x" in device or device.startswith(_OF_TWO) or _ONE_OF.search(text):
                return {}
            if count == "1" and _WHOLE.search(text):
                return {}
            found.setdefault((int(count), device), number)
    own = frozenset(found.values())
    alone = any(number in own and _ONE_MACHINE.search(text) for number, text in lines)
    words = (match[0] for _, text in lines for match in _MACHINES.finditer(text))
    return found if not any(not alone or not _OF_ANY.fullmatch(word) for word in words) else {}


def nodes_of_section(case: Case) -> Iterator[Remark]:
    """`8 nodes x 8 x A2` above the only command of a section, which takes one node: the others have nothing to do."""
    command = case.commands[0]
    if not case.script.markdown or not case.laid_out or command.more or command.custom or is_fragment(command):
        return
    if any(case.option(flag) is not None for flag in _NODES) or case.devices_asked or case.script.objects:
        return
    if any(wrapper.kind in _LAUNCHERS for wrapper in command.wrappers):
        return
    chains = sections(case.script.lines)
    own = chains[min(command.line, len(chains)) - 1] if chains else ()
    here = [number for number, chain in enumerate(chains, 1) if own and chain == own]
    if sum(is_server(each.program) and each.line in here for each in case.script.commands) != 1:
        return
    case.script.budget.once("machines of sections", len(here), "the machines that it names")
    found: dict[tuple[int, int], tuple[int, str]] = {}
    for number in here:
        text = case.script.lines[number - 1][:_LONGEST]
        for _, machine in () if number == command.line else machines_of(text, case.script.budget):
            counts = machine.split("x")[:-1]
            if len(counts) != 2 or _ONE_OF.search(text):
                return
            found.setdefault((int(counts[0]), int(counts[1])), (number, machine))
    ranks = ranks_of(case.first)
    if len(found) != 1 or any(_ON_EACH.search(case.script.lines[number - 1][:_LONGEST]) for number in here):
        return
    (((nodes, each), (line, machine)),) = found.items()
    if nodes < 2 or ranks > each:
        return
    flag = case.engine.command_line.options["tp"]
    place = case.option(flag)
    message = (
        f"this command has {ranks} ranks, and {case.script.where(line)} counts {nodes * each} devices ({machine}): "
        "as written it uses one node alone"
    )
    remedy = f"give it a layout of {nodes * each} ranks, or start a copy on each node"
    at = place.index if place is not None else None
    yield make_remark(Severity.NOTE, Code.SUBOPTIMAL, flag, message, remedy, at=at)


def ranks_of_pods(case: Case) -> Iterator[Remark]:
    """`--nnodes` of a group of pods that hold more devices together than the layout has ranks, or fewer."""
    command, first = case.commands[0], case.first
    container, place = command.container, case.option("--nnodes")
    if place is None or container is None or not container.devices or command.pods < 2 or not case.script.objects:
        return
    if command.custom or command.more or case.unknown & {"tp", "pp", "dp"} or is_fragment(command):
        return
    ranks, devices = first.layout.tp * first.layout.pp * first.layout.dp, container.devices * command.pods
    written = place.value if isinstance(place.value, str) else ""
    if ranks == devices or (written.isdigit() and int(written) != command.pods):
        return
    each = f"{command.pods} pods of {container.devices}"
    flag = case.engine.command_line.options["tp"]
    if ranks > devices:
        message = (
            f"{ranks} ranks, and the group has {devices} devices ({each}): ranks find no device, and the start ends"
        )
        remedy = f"take a layout of {devices} ranks, or {-(-ranks // container.devices)} pods"
    else:
        message = f"{ranks} ranks, and the group has {devices} devices ({each}): {devices - ranks} of them stay idle"
        remedy = f"take a layout of {devices} ranks, or fewer pods"
    if (other := _other_tp(case, flag)) is not None:
        line, tp = other
        message = f"{first.layout.tp} here, and {tp} in {case.script.where(line)}, another pod of the group: "
        message += "the ranks of one engine take the same layout, and wait for each other else"
        remedy = f"write {flag} {tp} in both"
    at = case.option(flag)
    yield make_remark(
        Severity.WARNING, Code.ILLEGAL_LAYOUT, flag, message, remedy, at=at.index if at is not None else None
    )


def _other_tp(case: Case, flag: str) -> tuple[int, int] | None:
    """The line and the tensor parallel of another pod of the group, the first that has another one."""
    command, mine = case.commands[0], case.first.layout.tp
    span = next(((low, high) for low, high in case.script.objects if low <= command.line <= high), None)
    if span is None or len(case.script.commands) > _MOST_COMMANDS:
        return None
    for other in case.script.commands:
        if other.line == command.line or not span[0] <= other.line <= span[1] or other.program != command.program:
            continue
        word = value_of(other.argv, (flag, *_TP))
        if word is not None and word.text.isdigit() and not word.unresolved and int(word.text) > mine:
            return other.line, int(word.text)
    return None
