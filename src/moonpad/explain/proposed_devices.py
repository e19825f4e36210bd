"""The devices that are proposed where a text names none that the catalogue has: of the maker for whom it is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.catalog.hardware import hardware
from moonpad.catalog.options import option_set
from moonpad.engines import ENGINES
from moonpad.engines.base import Engine
from moonpad.engines.forks import OF_OTHER_DEVICES
from moonpad.explain.commands import Command
from moonpad.explain.documents.device_mentions import cluster_named, platform_of
from moonpad.explain.grouping import model_of, value_of
from moonpad.explain.meant_platform import is_for_ascend
from moonpad.explain.results import Judged, Remark
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Cluster
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.platform import Platform
from moonpad.values.units import GIB

NO_DEVICES: Final = "no devices are named"
NO_AMD_DEVICE: Final = "the text is about ROCm, and names no AMD device"
COUNTED: Final = "the text counts "
"""The beginning of why devices are not known that it counts by their memory."""
FAR_SMALLER: Final = " of them hold less than half of the weights"
"""The end of why devices are not known that the text names without a number."""
OF_CAPABILITY: Final = f"{NO_DEVICES}, and the text speaks of compute capability "
"""The beginning of why devices are not known of which only that is said."""
_OF_ONE_MACHINE: Final = " of one machine, which has fewer"
_HOW_MANY: Final = ", and the command does not say how many it uses"
_MOST_MACHINES: Final = 9
_MACHINE: Final = 8
"""Devices of a usual machine."""
_EXAMPLES: Final = {Platform.CUDA: (_MACHINE, "H200"), Platform.ROCM: (_MACHINE, "MI300X"), Platform.ASCEND: (16, "A3")}
"""Devices of a machine, and their kind."""
_LARGER: Final = {Platform.CUDA: ("B200", "B300"), Platform.ROCM: ("MI355X",)}
"""Kinds with more memory, which a model may want."""
_FOR_FP4: Final = ("B200", "B300")
"""Kinds that multiply the weights of NVFP4 as they are."""
_FOR_WEIGHTS: Final = 0.9
"""The share of a device that weights can have at most."""
_NAMES_KINDS: Final = re.compile(
    r"the text names ([\w-]+(?: and [\w-]+)*)(?:: say|, and the command|, and its container)"
)
_OF_GFX950: Final = re.compile(r"(?:\A|/)amd/[^/]*mxfp4", re.IGNORECASE)
"""Checkpoints in a format that is made for devices of this kind: a text that compares names other devices too."""
_FOR_GFX950: Final = "MI355X"
_OF_AMD: Final = re.compile(r"MI\d|gfx|Radeon|8060S", re.IGNORECASE)
_OF_ASCEND: Final = re.compile(r"910|310P")
"""Names of devices that the catalogue does not have, by their makers."""
_BY_MEMORY: Final = re.compile(
    r"(?<![A-Za-z0-9_.])(?P<count>[1-9]\d?)[ ]?(?:[x×*][ ]?|(?:卡|张)[ ]?)(?P<size>\d{2,3})[ ]?Gi?B?(?![A-Za-z0-9/])",
    re.IGNORECASE,
)
_OF_NODES: Final = re.compile(
    r"(?<![\w.-])(?P<nodes>[1-9]\d?)[ -](?:nodes?|machines?|servers?)(?:[ ]cluster)?[ ]?(?:of|with|[,x×*(:])[ ]?\Z",
    re.IGNORECASE,
)
"""`8-node cluster of` before what is counted."""
_OF_DEVICES: Final = re.compile(r"显存|显卡|\bVRAM\b|\bGPUs?\b|\bgraphics cards?\b|video memory", re.IGNORECASE)
_OF_HOST: Final = re.compile(r"内存(?!卡)|\bRAM\b|\bDDR\d|\bR?DIMMs?\b|\bsystem memory\b", re.IGNORECASE)
_LONGEST: Final = 500
"""A longer line is data, not prose."""
ALIKE: Final = 0.08
"""Of a size, which is sold in round figures."""


def example_of(
    ranks: int,
    engine: Engine | None,
    because: str,
    nodes: int | None = None,
    checkpoint: Checkpoint | None = None,
    commands: Sequence[Command] = (),
    maker: Platform | None = None,
) -> str:
    """A cluster for the engine with a device for each rank, as `--on` takes it; a whole machine where one rank says
    little, and one device where that holds the weights. `because`: why no devices are known; `nodes`: the machines that
    the command counts. Its devices hold the weights, where any do, and compute in their format. DEVICES stands for
    those that the catalogue does not have."""
    if any(command.fork.startswith(OF_OTHER_DEVICES) for command in commands):
        return "DEVICES"
    platform = maker or (engine.platforms[0] if engine else Platform.CUDA)
    platform = Platform.ROCM if because.startswith(NO_AMD_DEVICE) else platform
    platform = Platform.ASCEND if any(map(is_for_ascend, commands)) else platform
    named = _NAMES_KINDS.match(because)
    of_gfx950 = named is None and platform is not Platform.ASCEND and _are_of_gfx950(checkpoint, commands)
    own = named[1].split(" and ") if named else [_FOR_GFX950] if of_gfx950 else [*_kinds_of(because)]
    if not own and checkpoint is not None and checkpoint.quantization.scheme == "nvfp4" and platform is Platform.CUDA:
        own = [*_FOR_FP4]
    platform = (platform_of(own[0]) if own else None) or platform
    size, kind = _EXAMPLES.get(platform, _EXAMPLES[Platform.CUDA])
    each = checkpoint.total_bytes / (ranks if ranks > 1 else size) if checkpoint is not None else 0
    kinds = own or (kind, *_LARGER.get(platform, ()))
    kind = next((larger for larger in kinds if each <= _FOR_WEIGHTS * _usable(larger)), "")
    kind = kind or kinds[-1 if because.startswith(OF_CAPABILITY) else 0]
    if ranks == 1 and checkpoint is not None and checkpoint.total_bytes <= _FOR_WEIGHTS * _usable(kind):
        return f"1x{kind}"
    return of_ranks(kind, ranks, nodes, size)


def of_ranks(kind: str, ranks: int, nodes: int | None, size: int = _MACHINE) -> str:
    """Devices of a kind for so many ranks, in whole machines of `size` devices."""
    if nodes is not None and 1 < nodes <= ranks and ranks % nodes == 0 and ranks // nodes <= size:
        return f"{nodes}x{ranks // nodes}x{kind}"
    machines = ranks // size if ranks > size and ranks % size == 0 else 1
    per_machine = ranks if 1 < ranks < size else size
    if ranks > size and ranks % size:
        machines = next((n for n in range(2, _MOST_MACHINES) if ranks % n == 0 and ranks // n <= size), 1)
        per_machine = ranks // machines if machines > 1 else size
    return f"{machines}x{per_machine}x{kind}" if machines > 1 else f"{per_machine}x{kind}"


def of_unknown_number(kind: Cluster | str) -> str:
    """Why devices of a kind that the text names are not known; of a cluster its kind."""
    label = kind if isinstance(kind, str) else kind.name.rpartition("x")[2]
    return f"the text names {label}{_HOW_MANY}"


def of_small_machine(kind: str, devices: int) -> str:
    """Why devices are not taken of which a machine has fewer than the command's container asks for."""
    return f"the text names {kind}, and its container asks for {devices}{_OF_ONE_MACHINE}"


def pod_for_a_larger_machine(because: str) -> Iterator[Remark]:
    """A container that asks for more devices than a machine of the kind has: Kubernetes never finds it a node."""
    if because.endswith(_OF_ONE_MACHINE):
        message = f"{because}: the pod stays pending"
        remedy = "give each machine a pod of its own, with as many devices as it has"
        yield Remark(Finding(Severity.WARNING, Code.CONFLICT, "resources", message, remedy), None)


def of_far_smaller(cluster: Cluster) -> str:
    """Why devices are not taken that the text names, and may mean otherwise."""
    return f"the text names {cluster.name.rpartition('x')[2]}, and {cluster.devices}{FAR_SMALLER}"


def with_example(
    because: str,
    ranks: int,
    engine: Engine,
    nodes: int | None,
    checkpoint: Checkpoint | None,
    commands: Sequence[Command],
) -> str:
    """Why no devices are known, with some that may be named."""
    example = example_of(ranks, engine, because, nodes, checkpoint, commands)
    if because in (NO_DEVICES, NO_AMD_DEVICE) or because.startswith(OF_CAPABILITY):
        return f"{because}: name them with --on {example}"
    if because.endswith(FAR_SMALLER):
        return f"{because}: name others with --on {example}"
    return f"{because}: --on {example} says it" if because.endswith((_HOW_MANY, _OF_ONE_MACHINE)) else because


def is_of_gfx950(model: str) -> bool:
    """`amd/Kimi-K2.6-MXFP4`, by its name or its folder."""
    return _OF_GFX950.search(model) is not None


def of_capability(capability: str) -> str:
    """Why devices are not known of which the text gives no more than that; "" for a capability of none that are
    known."""
    because = f"{OF_CAPABILITY}{capability}"
    return because if capability and _kinds_of(because) else ""


def _kinds_of(because: str) -> tuple[str, ...]:
    """The kinds of that capability, those with the least memory first."""
    if not because.startswith(OF_CAPABILITY):
        return ()
    capability = because.removeprefix(OF_CAPABILITY).partition(":")[0]
    devices = [(row.label, row.device) for row in hardware().values() if row.device is not None]
    own = [(device.usable_bytes, label) for label, device in devices if device.capability == capability]
    return tuple(label for _, label in sorted(own))


def _are_of_gfx950(checkpoint: Checkpoint | None, commands: Sequence[Command]) -> bool:
    names = [checkpoint.name] if checkpoint is not None else [model_of(command) or "" for command in commands]
    return any(map(is_of_gfx950, names))


def _usable(kind: str) -> float:
    cluster = cluster_named(f"1x{kind}")
    return cluster.device.usable_bytes if cluster is not None else 0.0


def in_place_of(foreign: str, devices: int, nodes: int | None) -> str:
    """Why devices that the catalogue does not have are not judged, and which of their maker may be named instead."""
    maker = Platform.ROCM if _OF_AMD.match(foreign) else Platform.ASCEND if _OF_ASCEND.match(foreign) else None
    example = example_of(devices, None, "", nodes, maker=maker)
    return f"the text names {foreign}, which the catalogue does not have: --on {example} names another"


def by_memory(lines: Sequence[str], platforms: Sequence[Platform]) -> str:
    """Of a text that counts devices by their memory alone, `8*48G` or `2 nodes of 8x80GB`: what is known of them, and
    one such kind; "" where it has none, or several."""
    found = {
        (_nodes_before(text, match.start()), int(match["count"]), int(match["size"]))
        for line in lines
        if _OF_DEVICES.search(text := line[:_LONGEST]) and not _OF_HOST.search(text)
        for match in _BY_MEMORY.finditer(text)
    }
    if len(found) != 1:
        return ""
    ((nodes, count, size),) = found
    devices = [(row.label, row.device) for row in hardware().values() if row.device is not None]
    own = [(label, device.driver_bytes) for label, device in devices if device.platform in platforms]
    alike = (label for label, held in own if abs(size * GIB - held) < ALIKE * held)
    if not (kind := next(alike, "")):
        return ""
    machines = f"{nodes}x" if nodes > 1 else ""
    counted = f"{nodes * count} devices of {size} GB" + (f" in {nodes} nodes" if nodes > 1 else "")
    return f"{COUNTED}{counted} and does not name them: --on {machines}{count}x{kind} names some"


def _nodes_before(text: str, at: int) -> int:
    match = _OF_NODES.search(text[max(0, at - 40) : at])
    return int(match["nodes"]) if match is not None else 1


def devices_asked(server: Judged | None) -> int:
    """How many devices its command lets the engine see, or asks for where it asks for one; 0 where it does not say."""
    if server is None or not server.sources:
        return 0
    command, engine = server.sources[0], ENGINES.get(server.engine)
    value = command.env.get("CUDA_VISIBLE_DEVICES")
    numbers = value.text.rpartition("=")[2].strip("\"'").split(",") if value is not None else []
    if numbers and all(number.strip().isdigit() for number in numbers):
        return len(numbers)
    options = option_set(engine.program) if engine is not None else None
    tp = options.named(engine.command_line.options.get("tp", "")) if engine is not None and options else None
    asked = value_of(command.argv, tp.names) if tp is not None else None
    return int(asked is not None and asked.text == "1")
