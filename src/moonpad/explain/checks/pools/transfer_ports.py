"""Ports of a transfer that lie where the transport takes others at random."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import surrounding_names as around
from moonpad.engines.value_checks import as_json, whole
from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Edit, Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_CONNECTOR: Final = "--kv-transfer-config"
_NAMED: Final = "Mooncake"
_KEY: Final = "kv_port"
_LOCAL_RANKS: Final = "--data-parallel-size-local"
_NODES: Final = (8, 16)
"""Devices of a node where nothing counts them: of A2, and of A3."""
_LARGER: Final = re.compile(r"(?<![\w-])A3(?![\w-])|16[ ]?(?:x|×|\*)?[ ]?NPU|NPU[ ]?[x×*][ ]?16")
_LONGEST: Final = 2000


def _of_this_node(case: Case) -> int:
    """Devices that the ranks of the command's own node take; 0 where it does not say how many these are."""
    layout, place = case.first.layout, case.option(_LOCAL_RANKS)
    local = whole(str(place.value)) if place is not None else None
    return layout.tp * layout.pp * (local or 0)


def port_within_random(case: Case) -> Iterator[Remark]:
    """Now and then such a port is taken when the engine wants it, and the start ends. Of each node, with the port that
    it has: all move by the same, so that two on one machine stay apart."""
    known = around.RANDOM_PORTS.get(case.engine.name)
    if known is None or not any(_KEY in word.text for command in case.commands for word in command.argv):
        return
    largest = is_in_lines(_LARGER, case.script.lines, _LONGEST)
    devices = case.cluster.per_node if case.cluster is not None else max(_NODES[largest], _of_this_node(case))
    first, each = known
    behind = first + each * devices
    for number, (command, reading) in enumerate(zip(case.commands, case.readings, strict=True)):
        place = reading.parsed.occurrence(_CONNECTOR)
        document = as_json(place.value) if place is not None and isinstance(place.value, str) else None
        if place is None or not isinstance(document, dict) or _NAMED not in str(document.get("kv_connector", "")):
            continue
        port = whole(str(document.get(_KEY, "")))
        if port is None or not first <= port < behind:
            continue
        message = (
            f"{_KEY} {port} lies within {first} to {behind - 1}, from which Mooncake takes ports at random on nodes of "
            f"{devices} devices: some starts end with Address already in use"
        )
        moved = re.compile(rf'("{_KEY}"\s*:\s*"?){port}(?!\d)')
        words = [word.text for word in command.argv[place.index : place.index + place.length]]
        mended = tuple(moved.sub(rf"\g<1>{port + behind - first}", word) for word in words)
        edits = [Edit(place.index, place.length, mended)] if list(mended) != words else []
        remedy = f"take {behind} or more"
        remark = make_remark(Severity.WARNING, Code.CONFLICT, _CONNECTOR, message, remedy, at=place.index, edits=edits)
        yield replace(remark, command=number)
