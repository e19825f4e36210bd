"""Experts on the devices against their memory, and weights in RAM against that of the node they are bound to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from moonpad.catalog.models import find_model
from moonpad.catalog.other_models import OtherModel, as_published, expert_weights, other_model
from moonpad.engines import host_expert_names as names
from moonpad.engines.value_checks import unresolved, whole
from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Wrapper, WrapperOption
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first
from moonpad.plan.tensors import catalog_checkpoint
from moonpad.plan.weights import routed_bytes
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace
from moonpad.values.units import GIB

_PART: Final = re.compile(r"[-_](?:gpu|cpu)[-_]weights?$", re.IGNORECASE)
"""Weights that were split for the two."""
_OF_FILES: Final = re.compile(r"[-_]GGUF$", re.IGNORECASE)
_FOUR_BITS: Final = 0.5
_BESIDE: Final = 0.65
"""Of the memory, what may be experts: attention, cache and graphs are there too."""
_LOADED: Final = 0.9
"""Of the memory, what may be weights of any kind."""
_FEW: Final = 4
_TYPE: Final = re.compile(r"[-_./](?:UD[-_])?I?Q(?P<bits>[1-8])_", re.IGNORECASE)
"""`-Q4_K_M`: at least so many bits a weight."""
_RAM: Final = (
    re.compile(
        r"(?<![\w.])(?P<size>\d{2,4}|[1-8](?:\.\d{1,2})?(?=[ ]?T))[ ]?(?P<unit>[GT])(?:i?B|igs?(?:abytes?)?)?[+]?"
        r"[ ]?(?:of[ ])?(?:\w{1,12}[ ])?(?:D?RAM|内存|DDR[345]|system memory|host memory)",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?:内存|\bD?RAM|system memory|host memory)[ ]?[:：为是=]?[ ]?(?P<size>\d{2,4}|[1-8](?:\.\d{1,2})?(?=[ ]?T))"
        r"[ ]?(?P<unit>[GT])i?B?(?!\w)",
        re.IGNORECASE,
    ),
    re.compile(r"^[ \t>]*Mem:[ ]{2,20}(?P<size>\d{2,4}|[1-8](?:\.\d)?(?=T))(?P<unit>[GT])i\b"),  # of `free -h`
)
_MODULES: Final = (
    re.compile(
        r"(?<![\w.])(?P<count>[1-9]\d?)[ ]?[x×*][ ]?(?:DDR[345](?:-\d{4})?[ ])?"
        r"(?P<size>8|16|24|32|48|64|96|128|256)[ ]?Gi?B?(?![\w/])",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?<![\w.])(?P<size>8|16|24|32|48|64|96|128|256)[ ]?Gi?B?[ ]?[x×*][ ]?(?P<count>[1-9]\d?)(?![\w.])",
        re.IGNORECASE,
    ),
)
"""`8*32G DDR5`, `RAM: 64GB x 16`: modules, of which one is not all."""
_OF_MODULES: Final = re.compile(r"DDR\d|DIMM|\bRAM\b|(?<!显)内存|system memory|host memory", re.IGNORECASE)
_AROUND: Final = 30
_OF_DEVICE: Final = re.compile(r"VRAM|显存|HBM|GPU memory", re.IGNORECASE)
_EACH: Final = re.compile(r"per (?:socket|node|numa)|each (?:socket|node|cpu)|每(?:个|颗|路|节点)", re.IGNORECASE)
_NODES: Final = (
    re.compile(r"(?:Socket\(s\)|NUMA node\(s\)):[ ]{0,40}(?P<nodes>\d{1,2})\b", re.IGNORECASE),
    re.compile(r"(?<![\w.])(?P<nodes>[248])[ ]?(?:颗|路|sockets?|NUMA nodes?)(?!\w)", re.IGNORECASE),
    re.compile(r"(?:双路|dual[- ](?:socket|CPU|Xeon|EPYC))", re.IGNORECASE),
)
_WSL: Final = re.compile(r"[ \t]*\[wsl2\][ \t]*$", re.IGNORECASE)
_MEMORY_OF_WSL: Final = re.compile(
    r"[ \t]*memory[ \t]*=[ \t]*(?P<size>\d{1,6})[ \t]*(?P<unit>GB|MB)[ \t]*$", re.IGNORECASE
)
_KEYS_OF_WSL: Final = 12
_LONGEST: Final = 400
_MEASURED: Final = re.compile(r"\d[ ]?(?:tokens?/s|tok/s|tps?\b|T/s)|eval rate", re.IGNORECASE)
"""What is measured with a server has run."""
_LEAST_LEFT: Final = 0.6
"""Of the experts in RAM, where how many lie on the devices is not known."""


def experts_on_devices(case: Case) -> Iterator[Remark]:
    """Of models that are not planned: at the least four bits a weight, over all devices that there are."""
    place, cluster = case.option(names.ON_DEVICES), case.cluster
    known = other_model(_PART.sub("", case.first.model.rstrip("/"))) if case.checkpoint is None else None
    count = case.size(names.ON_DEVICES) if place is not None else 0
    if place is None or cluster is None or known is None or case.engine.facts.host_experts != "of each layer":
        return
    count = min(count, known.experts)
    held = count * known.expert_layers * expert_weights(known) * _width(case)
    there = cluster.devices * cluster.device.usable_bytes
    if not held or not there or held <= there:
        return
    rest = known.billions * 1e9 - known.experts * known.expert_layers * expert_weights(known)
    room = min(_BESIDE * there, _LOADED * there - max(rest, 0) * _width(case))
    fits = max(0, int(count * room / held))
    message = (
        f"{count} experts in each of {known.expert_layers} layers of {known.title} are at least {held / GIB:,.0f} GiB, "
        f"{held / cluster.devices / GIB:,.0f} GiB on each of {cluster.devices} devices with "
        f"{cluster.device.usable_bytes / GIB:,.0f} GiB"
    )
    remedy = f"write {names.ON_DEVICES} {fits} or less" + ", or take weights of fewer bits" * (fits < _FEW)
    yield make_remark(Severity.WARNING, Code.DOES_NOT_FIT, names.ON_DEVICES, message, remedy, at=place.index)


def _width(case: Case) -> float:
    """Bytes of a weight on the devices, at the least."""
    model = case.first.model.rstrip("/")
    by_method = names.BYTES_OF_METHOD.get(case.text(names.METHOD).strip("'\"").upper(), _FOUR_BITS)
    known = other_model(model)
    if known is not None and known.published == "bf16" and as_published(model) and case.option(names.EXPERTS[0]):
        # Those of the processors are of another folder: these are of the model's own files.
        by_method = _FOUR_BITS if case.option("--quantization") else 2.0
    return _FOUR_BITS if _PART.search(case.first.model) else by_method


def one_node_of_memory(case: Case) -> Iterator[Remark]:
    """`numactl -m 1`: all weights have to lie in the memory of one node."""
    bound = next((found for wrapper in case.commands[0].wrappers if (found := _binding(wrapper))), None)
    facts = case.engine.facts
    if bound is None or not (facts.host_experts or facts.gguf_only) or case.first.settings.device_layers:
        return
    option, node = bound
    held, title = weights_in_ram(case)
    case.script.budget.work(4 * len(case.script.lines), "the memory of its text")
    lines = [line[:_LONGEST] for line in case.script.lines]
    sizes = spoken_ram(case.script.lines)
    if not held or len(sizes) != 1:
        return
    (total,) = sizes
    nodes = max(node + 1, *(_nodes(line) for line in lines))
    if held <= total / nodes:
        return
    where = f"numactl {option.words[0].text if option.words else option.name} {node}"
    message = (
        f"binds the process to the memory of node {node}: of {total:,.0f} GB in {nodes} nodes that is "
        f"{total / nodes:,.0f} GB, and the weights of {title} are at least {held:,.0f} GB"
    )
    remedy = "leave the binding of memory out, or spread it over all nodes: numactl -i all"
    remark = make_remark(Severity.WARNING, Code.DOES_NOT_FIT, where, message, remedy)
    yield replace(remark, word=option.words[0]) if option.words else remark


def copies_of_nodes(case: Case) -> Iterator[Remark]:
    """`USE_NUMA=1`: the server of 2025 keeps the experts once for each node."""
    if case.commands[0].program not in names.OLD_PROGRAMS:
        return
    case.script.budget.work(4 * len(case.script.lines), "the memory of its text")
    lines = [line[:_LONGEST] for line in case.script.lines]
    sizes, (held, title) = spoken_ram(case.script.lines), weights_in_ram(case)
    if not held or len(sizes) != 1 or not any(map(names.COPIES.search, lines)):
        return
    (total,), nodes = sizes, max(2, *map(_nodes, lines))
    if held * nodes <= total or held > total:
        return
    message = (
        f"built with it, the server keeps the experts once for each of {nodes} nodes: the weights of {title} are at "
        f"least {held:,.0f} GB, {held * nodes:,.0f} GB with the copies, and the text speaks of {total:,.0f} GB"
    )
    remedy = "build without it, let the firmware show one node, take weights of fewer bits, or more memory"
    ran = is_in_lines(_MEASURED, case.script.lines, _LONGEST)
    yield make_remark(Severity.NOTE if ran else Severity.WARNING, Code.MEMORY_LOW, "USE_NUMA=1", message, remedy)


def memory_of_host(case: Case) -> Iterator[Remark]:
    """Experts that the processors compute, against the host memory that the text speaks of."""
    place, held, title = case.option(names.METHOD), *experts_in_ram(case)
    if place is None or not held:
        return
    if is_first(case.commands, case.script):  # for the others it is known
        case.script.budget.work(4 * len(case.script.lines), "the memory of its text")
    sizes = spoken_ram(case.script.lines)
    if unresolved(case.text(names.ON_DEVICES)):
        held *= _LEAST_LEFT
    if not sizes or held <= max(sizes):
        return
    message = (
        f"the experts of {title} that the processors compute are at least {held:,.0f} GB, and the text speaks of "
        f"{max(sizes):,.0f} GB of host memory"
    )
    remedy = f"take weights of fewer bits, or a machine with more memory, or more of {names.ON_DEVICES}"
    yield make_remark(Severity.WARNING, Code.DOES_NOT_FIT, names.METHOD, message, remedy, at=place.index)


@lru_cache(maxsize=4)
def spoken_ram(lines: tuple[str, ...]) -> frozenset[float]:
    """GB of host memory, none where a line tells that of a part of the machine."""
    begun = [line[:_LONGEST] for line in lines]
    if (given := _of_wsl(begun)) is not None:
        return frozenset({given})
    if any(_EACH.search(line) for line in begun):
        return frozenset()
    return frozenset(size for line in begun for size in _sizes(line))


def _of_wsl(lines: Sequence[str]) -> float | None:
    """GB that .wslconfig leaves to the machine of Linux, of which it sees no more."""
    first = next((number for number, line in enumerate(lines) if _WSL.match(line)), len(lines))
    for line in lines[first + 1 : first + _KEYS_OF_WSL]:
        if (match := _MEMORY_OF_WSL.match(line)) is not None:
            return float(match["size"]) / (1 if match["unit"].upper() == "GB" else 1000)
    return None


def experts_in_ram(case: Case) -> tuple[float, str]:
    """GB of them at the least, and whose they are; 0 where that is not known."""
    if case.engine.facts.host_experts != "of each layer" or unresolved(case.text(names.METHOD)):
        return 0, ""
    known = other_model(_PART.sub("", case.first.model.rstrip("/"))) if case.checkpoint is None else None
    if known is not None and known.experts:
        on_devices = min(case.size(names.ON_DEVICES) or 0, known.experts)
        weights = (known.experts - on_devices) * known.expert_layers * expert_weights(known)
        return weights * _width(case) / 1e9, known.title
    files = case.text(names.EXPERTS[0]).strip("'\"").rstrip("/")
    if (
        case.checkpoint is None
        or files != case.first.model.rstrip("/")
        or not case.checkpoint.architecture.routed_experts
    ):
        return 0, ""
    left = (
        1
        - min(case.size(names.ON_DEVICES) or 0, case.checkpoint.architecture.routed_experts)
        / case.checkpoint.architecture.routed_experts
    )
    return routed_bytes(case.checkpoint) * left / 1e9, case.checkpoint.name


def _binding(wrapper: Wrapper) -> tuple[WrapperOption, int] | None:
    """The option that binds memory to one node, and which."""
    if wrapper.kind != "numactl":
        return None
    options = [option for option in wrapper.options if option.name in ("-m", "--membind")]
    node = whole(options[-1].value or "") if options else None
    return (options[-1], node) if options and node is not None else None


def weights_in_ram(case: Case) -> tuple[float, str]:
    """GB of weights in RAM, at the least, and whose they are; 0 where that is not known."""
    texts = [text for flag in names.FILES if (text := case.text(flag).strip("'\"")) and not unresolved(text)]
    bits = next((int(found["bits"]) for text in texts if (found := _TYPE.search(text[-_LONGEST:]))), 0)
    named = [case.first.model, case.text(names.MODEL).strip("'\""), *(_stem(text) for text in texts)]
    rows = (other_model(name) for name in named if name)
    known: OtherModel | None = next((row for row in rows if row is not None and row.billions), None)
    if known is not None or not bits:
        return (bits / 8 * known.billions, known.title) if known is not None else (0, "")
    own = next((model for name in named if (model := find_model(_OF_FILES.sub("", _last(name)))) is not None), None)
    return (bits / 8 * catalog_checkpoint(own).parameters / 1e9, own.id) if own is not None else (0, "")


def _last(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def _stem(path: str) -> str:
    """`DeepSeek-R1` of `…/DeepSeek-R1-Q4_K_M`."""
    return _TYPE.split(path[-_LONGEST:].rstrip("/"))[0]


def _sizes(line: str) -> Iterator[float]:
    """GB of RAM that a line speaks of."""
    counted = [match for pattern in _MODULES for match in pattern.finditer(line)]
    for match in counted:
        near = line[max(0, match.start() - _AROUND) : match.end() + _AROUND]
        if _OF_MODULES.search(near) and not _OF_DEVICE.search(near):
            yield float(match["size"]) * int(match["count"])
    for pattern in _RAM:
        for found in pattern.finditer(line):
            of_modules = any(match.start() <= found.start("size") < match.end() for match in counted)
            if not of_modules and not _OF_DEVICE.search(found[0]):
                yield float(found["size"]) * (1024 if found["unit"] in "Tt" else 1)


def _nodes(line: str) -> int:
    found = [(match, "nodes" in pattern.groupindex) for pattern in _NODES if (match := pattern.search(line))]
    return max((int(match["nodes"]) if named else 2 for match, named in found), default=1)
