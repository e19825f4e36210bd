"""How many machines, and devices of each, a number beside a device stands for: `2x H100 nodes` are two machines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.catalog.hardware import find_hardware
from moonpad.explain.documents.device_patterns import WORDS

_LAYOUT: Final = re.compile(
    r"(?<![A-Za-z])(tp|pp|(?:tensor|pipeline)[ -]parallel)(?:[ _-]?size)?[ =:]{0,3}([0-9]{1,3})(?![0-9]|\.[0-9])",
    re.IGNORECASE,
)
_RANKS: Final = 1024
"""A larger product is not one of ranks."""


def counts_of(match: re.Match[str], kind: str, line: str) -> list[int]:
    """How many of that kind: machines, where they are counted, and devices of each; empty where nobody can say."""
    groups = match.groupdict()
    if servers := groups.get("servers"):
        return _part_of_each(number_of(servers), kind, line) or _whole_servers(number_of(servers), kind)
    if servers := groups.get("servers_times"):
        return _servers_or_devices(number_of(servers), kind, line)
    nodes = next((name for name in ("nodes", "nodes_too", "nodes_times") if groups.get(name)), "")
    counts = [number_of(groups[name]) for name in (nodes, "count") if name and groups.get(name)]
    if len(counts) == 2 and match.start(nodes) > match.start("count"):
        counts[1] = _on_each(counts[1], counts[0], kind)
    each = _usual(kind)
    if len(counts) == 1 and counts[0] > 1 < each and layout_of(line) == counts[0] * each:
        return [counts[0], each]  # `2x H100, TP=16`
    return counts[1:] if nodes and counts[0] == 1 else counts  # `one of our 8xH200 servers`


def layout_of(line: str) -> int:
    """The ranks of the layout that a line speaks of, `TP=16` or `TP8 PP2`; 0 where it has none, or several."""
    sizes: dict[str, set[int]] = {}
    for name, size in _LAYOUT.findall(line):
        sizes.setdefault(name[0].casefold(), set()).add(int(size))
    if "t" not in sizes or any(len(each) > 1 for each in sizes.values()):
        return 0
    tp, pp = max(sizes["t"]), max(sizes.get("p", {1}))
    return tp * pp if tp * pp <= _RANKS else 0


def number_of(written: str) -> int:
    return WORDS.get(written.casefold()) or (int(written) if written.isdigit() else 0)


def with_machines(found: Sequence[tuple[int, str]], text: str) -> list[tuple[int, str]]:
    """`2x H100` in a heading of a text that has `2x H100 nodes` means those."""
    known = {machine for _, machine in found}
    machines = []
    for offset, machine in found:
        count, _, kind = machine.partition("x")
        whole = f"{count}x{_usual(kind)}x{kind}"
        in_heading = whole in known and text.startswith("#", text.rfind("\n", 0, offset) + 1)
        machines.append((offset, whole if in_heading else machine))
    return machines


def _usual(kind: str) -> int:
    """The devices of one machine as it is sold; 0 for cards of which people build in any number."""
    row = find_hardware(kind)
    device = row.device if row is not None else None
    return device.per_node if device is not None and device.scaleup_domain >= device.per_node else 0


def _whole_servers(number: int, kind: str) -> list[int]:
    """`two H100 nodes` are two machines as they are sold."""
    each = _usual(kind)
    return [] if not each else [number, each] if number > 1 else [each]


def _part_of_each(number: int, kind: str, line: str) -> list[int]:
    """`two H200 nodes: TP4 inside each, PP2 between them` use four of each; empty where the line has no such layout."""
    stages = {int(size) for name, size in _LAYOUT.findall(line) if name[0].casefold() == "p"}
    each, rest = divmod(layout_of(line), max(1, number))
    return [number, each] if number > 1 and stages == {number} and not rest and 0 < each < _usual(kind) else []


def _servers_or_devices(number: int, kind: str, line: str) -> list[int]:
    """`2x H100 nodes` are two of them, `8x H100 nodes` have eight devices each, `4x H100 nodes` with TP4 four."""
    return [number] if number in (1, _usual(kind), layout_of(line)) else _whole_servers(number, kind)


def _on_each(count: int, nodes: int, kind: str) -> int:
    """`8xH20, two nodes` counts those of one node, `16xH20, two nodes` all."""
    row = find_hardware(kind)
    per_node = row.device.per_node if row is not None and row.device is not None else 8
    return count // nodes if nodes and count > per_node and count % nodes == 0 else count
