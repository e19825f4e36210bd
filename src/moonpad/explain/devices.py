"""On which devices a command line is meant to run, as the text around it says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final

from moonpad.catalog.clusters import parse_cluster
from moonpad.catalog.hardware import hardware
from moonpad.engines.base import Engine, Reading
from moonpad.explain.commands import Command, Script, Wrapper
from moonpad.explain.target_detection import Question
from moonpad.values.cluster import Cluster
from moonpad.values.errors import UsageError
from moonpad.values.plan import Platform

NO_DEVICES: Final = "no devices are named"

_HEADING: Final = re.compile(r"\s{0,3}(#{1,6})\s+(.*)")
_ROCM: Final = re.compile(r"\b(?:rocm|amd|mi3[0-9]{2}x?)\b", re.IGNORECASE)
_ROCM_ENV: Final = ("HIP_", "HSA_", "ROCR_", "AITER_")
_WORD: Final = re.compile(r"(?<![\w./-])[A-Za-z][A-Za-z0-9]{1,9}(?![\w./]|-[0-9a-z])", re.ASCII)
_LONGEST: Final = 2000
"""A longer line is data, not prose."""


def cluster_of(
    engine: Engine, reading: Reading, script: Script, commands: Sequence[Command], question: Question
) -> tuple[Cluster | None, str]:
    """The devices and how they were found: as asked, as the text says; None, and why, where they are not known.

    A machine that the text counts goes before a kind that it only names, what stands above the command before what
    stands below it. A guide that speaks of another number than the command uses has the kind right.
    """
    if question.cluster is not None:
        return question.cluster, "as asked"
    platforms = engine.platforms
    if platforms == (Platform.CPU,):
        return _cluster("cpu"), f"{engine.name} runs on a CPU"
    devices, per_node = _used(reading, commands[0].container)
    first = min(command.line for command in commands)
    variables = (*_ROCM_ENV, *engine.command_line.rocm_env)
    rocm = Platform.ROCM in platforms and _speaks_of_rocm(script, commands, first, variables)
    allowed = (Platform.ROCM,) if rocm else platforms
    machines = [_cluster(hint) for hint in _nearest(script.placed_hints, first)]
    counted = [machine for machine in machines if machine is not None and machine.device.platform in allowed]
    for machine in counted:
        if machine.devices == devices and per_node in (None, machine.per_node):
            return machine, f"the text names {machine.name}"
    if counted and devices == 1:
        return counted[0], f"the text names {counted[0].name}"
    kinds = [machine.name.rpartition("x")[2] for machine in counted]
    kinds += [kind for kind in _nearest(_named_kinds(script), first) if _kinds()[kind] in allowed]
    for kind in kinds:
        nodes = _cluster(f"{devices // per_node}x{per_node}x{kind}") if per_node is not None else None
        if (cluster := nodes or _cluster(f"{devices}x{kind}")) is not None:
            return cluster, f"the text names {kind}, the command uses {devices}"
    if rocm:
        return None, "the text is about ROCm, and names no AMD device"
    return None, NO_DEVICES


def _used(reading: Reading, container: Wrapper | None) -> tuple[int, int | None]:
    """How many devices a command line uses, and how many of them on each node, as far as it says."""
    layout, node = reading.layout, reading.node
    devices = layout.world_size * reading.replicas
    local = node.data_parallel_local * layout.tp * layout.pp if node.data_parallel_local else None
    if container is not None and local is None and node.nodes is None:
        local = container.devices
    if local is not None and 0 < local <= devices and devices % local == 0:
        return devices, local
    if node.nodes is not None and 0 < node.nodes <= devices and devices % node.nodes == 0:
        return devices, devices // node.nodes
    return devices, None


def _nearest(placed: Iterable[tuple[str, int]], line: int) -> list[str]:
    """Above the line from there upwards, then below it; of one line in the order of the text."""
    return [text for text, _ in sorted(placed, key=lambda place: (place[1] > line, abs(place[1] - line)))]


def _cluster(text: str) -> Cluster | None:
    try:
        return parse_cluster(text)
    except UsageError:
        return None


def _speaks_of_rocm(script: Script, commands: Sequence[Command], line: int, variables: tuple[str, ...]) -> bool:
    """By the headings above, the container's image, and variables whose names begin as those that only ROCm reads."""
    for command in commands:
        image = command.container.image if command.container else None
        if image is not None and _ROCM.search(image.text[:_LONGEST]):
            return True
        if any(name.startswith(variables) for name in command.env):
            return True
        if any(_ROCM.search(text[:_LONGEST]) for text in (*command.comments, command.heading or "")):
            return True
    return any(_ROCM.search(title) for title in _titles(script, line))


def _titles(script: Script, line: int) -> Iterator[str]:
    """The headings of a document that a line stands under."""
    open_titles: dict[int, str] = {}
    fenced = False
    for text in script.lines[: max(0, line - 1)] if script.markdown else ():
        if text.lstrip(" >").startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced and (match := _HEADING.match(text[:_LONGEST])):
            level = len(match[1])
            open_titles = {other: title for other, title in open_titles.items() if other < level}
            open_titles[level] = match[2]
    yield from open_titles.values()


def _named_kinds(script: Script) -> Iterator[tuple[str, int]]:
    """Kinds of devices that the text names, `on H200`, with their lines."""
    for number, text in enumerate(script.lines, 1):
        for match in _WORD.finditer(text[:_LONGEST]):
            if match.group() in _kinds():
                yield match.group(), number


@cache
def _kinds() -> Mapping[str, Platform]:
    """Labels that are one word with a digit in it, which prose does not contain by chance, and their platforms."""
    devices = {product.label: product.device for product in hardware().values() if product.device is not None}
    kinds = (label for label in devices if label.isalnum() and any(char.isdigit() for char in label))
    return {label: devices[label].platform for label in kinds}
