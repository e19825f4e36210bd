"""Clusters as people write them: `8xH200`, `2x8xH800` (nodes × devices × kind), `16xA3`, `cpu`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from moonpad.catalog.hardware import Hardware, find_hardware, near_names
from moonpad.values.cluster import Cluster, Device
from moonpad.values.errors import UsageError

MAX_NODES: Final = 1024
MAX_PER_NODE: Final = 64
EXAMPLES: Final = "8xH200, 2x8xH800, 16xA3, GB200-NVL72, cpu"

# ASCII digits only: \d takes ٣ and ８ too.
_SHAPE: Final = re.compile(r"(?:([0-9]{1,5}) ?[x×*] ?)?(?:([0-9]{1,5}) ?[x×*] ?)?([^\s×*].{0,63})", re.IGNORECASE)
_BACKWARDS: Final = re.compile(r"(.{1,40}?) ?[x×*] ?([0-9]{1,5})", re.IGNORECASE)


@lru_cache(maxsize=256)
def parse_cluster(text: str) -> Cluster:
    """The cluster that a text means, with its name in the shortest form.

    `N×KIND` is one node where a usual machine holds N, and otherwise whole nodes; of NVL72 and Atlas supernodes each
    tray or server is a node. `GB200-NVL72` without a count is the whole rack: 18 trays of 4.

    Raises:
        UsageError: with the nearest names that are known.
    """
    matched = _SHAPE.fullmatch(" ".join(text.split())[:80])
    if matched is None:
        raise UsageError(f"{_shown(text)} is not a cluster", remedy=f"write it like {EXAMPLES}")
    *written, kind = matched.groups()
    counts = [int(count) for count in written if count is not None]
    row = _known(kind, text)
    device = row.device
    if device is None:
        raise UsageError(row.refused, remedy="`moonpad catalog hardware` lists what it plans for")
    if not counts and row.is_domain(kind):
        counts = [device.scaleup_domain]
    nodes, per_node = _shape(text, device, counts)
    if not (1 <= nodes <= MAX_NODES and 1 <= per_node <= MAX_PER_NODE):
        raise UsageError(
            f"{_shown(text)} is {nodes} nodes with {per_node} devices each; moonpad plans for 1 to {MAX_NODES} nodes "
            f"of 1 to {MAX_PER_NODE}",
            remedy=f"write it like {EXAMPLES}",
        )
    # Named so that the name means the same cluster again.
    name = f"{per_node}x{row.label}"
    if nodes > 1 or per_node > device.per_node:
        name = f"{nodes}x{name}"
    elif per_node == device.per_node == 1:
        name = row.label
    return Cluster(name, nodes, per_node, device)


def _known(kind: str, text: str) -> Hardware:
    row = find_hardware(kind)
    if row is None:
        backwards = _BACKWARDS.fullmatch(kind)
        if backwards and (row := find_hardware(backwards[1])):
            raise UsageError(f"{_shown(text)}: the count comes first", remedy=f"write {backwards[2]}x{row.label}")
        near = near_names(kind)
        remedy = f"did you mean {' or '.join(near)}?" if near else "`moonpad catalog hardware` lists what it knows"
        raise UsageError(f"{_shown(text)}: there is no device named {_shown(kind)}", remedy=remedy)
    return row


def _shape(text: str, device: Device, counts: Sequence[int]) -> tuple[int, int]:
    """(nodes, devices a node) of KIND, COUNTxKIND or NODESxCOUNTxKIND."""
    *nodes, count = counts or (1,)
    if not nodes:
        return (1, count) if count <= device.per_node else _whole_nodes(text, device, count)
    if count <= device.per_node or device.scaleup_domain < device.per_node:
        return nodes[0], count  # cards on PCIe: a machine may hold more of them than is usual
    if device.scaleup_domain > device.per_node:
        of_one, per_node = _whole_nodes(text, device, count)
        return nodes[0] * of_one, per_node
    raise UsageError(
        f"{_shown(text)}: one node has {device.per_node} of {device.product}, not {count}",
        remedy="write nodes x devices a node x kind, as in 2x8xH200",
    )


def _whole_nodes(text: str, device: Device, count: int) -> tuple[int, int]:
    nodes, rest = divmod(count, device.per_node)
    if rest:
        raise UsageError(
            f"{_shown(text)}: {count} devices do not fill nodes of {device.per_node}",
            remedy="write nodes x devices a node x kind, as in 2x8xH200",
        )
    return nodes, device.per_node


def _shown(text: str) -> str:
    """Quoted and cut: what was written may be anything."""
    return ascii(text if len(text) <= 40 else text[:40] + "...")
