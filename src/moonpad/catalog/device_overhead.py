"""What a device holds besides weights and KV cache: figures with ranges, by engine and version (device_overhead.toml).

A range holds 90 % of the starts that are known; benchmarks/memory/fit.py makes the table of them.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Final, NamedTuple

from moonpad.catalog.overhead import Since, known_rows
from moonpad.catalog.toml_rows import Amount, Row, rows
from moonpad.values.platform import Platform
from moonpad.values.units import GIB
from moonpad.values.versions import order

FILE: Final = "device_overhead.toml"


class Spread(NamedTuple):
    """A value with its range."""

    value: float
    low: float
    high: float

    def times(self, factor: float) -> Spread:
        return Spread(*(end * factor for end in self))

    def together(self, *others: Spread) -> Spread:
        """The sum of what is large or small at the same time."""
        return Spread(*map(math.fsum, zip(self, *others, strict=True)))

    def plus(self, *others: Spread) -> Spread:
        """The sum of what varies independently: the ends lie as far off as the root of the summed squares."""
        parts = (self, *others)
        value = math.fsum(part.value for part in parts)
        below = math.hypot(*(part.value - part.low for part in parts))
        above = math.hypot(*(part.high - part.value for part in parts))
        return Spread(value, value - below, value + above)


ZERO: Final = Spread(0, 0, 0)


class Overhead(Since, frozen=True, kw_only=True):
    """`forward` multiplies the counted buffers of a forward pass; `sampler` is in bytes for a sequence and a word of
    the vocabulary; `graphs` and `graph` in bytes, once and for each captured size; the others in bytes a device.
    """

    forward: Spread
    sampler: Spread
    graphs: Spread
    graph: Spread
    vision: Spread
    """With a vision tower: its pass over images at the start, or the whole of it on each rank."""
    rocm_graphs: Spread
    """All that graphs take on AMD devices, where the engine counts them."""
    blackwell_graphs: Spread
    """What the graphs take more on data-centre devices of that generation."""
    slow_link_graphs: Spread
    """The same where no fast links join the devices."""
    slow_link_draft_graphs: Spread
    """The same where a draft proposes tokens besides."""
    draft_dcp_graphs: Spread
    """The same on any device with a draft and decode context parallelism."""
    expert_parallel: Spread
    """Buffers of the all-to-all where experts and attention are spread in different ways."""
    nodes: Spread
    """More, where the ranks are on several machines."""
    outside: Spread
    """What must find room beside the engine's memory fraction: the runtime's context, the buffers of collectives."""
    captured: Spread
    """Graphs that the engine does not count: they are captured into the same room."""
    draft_dcp_outside: Spread
    """More with a draft and decode context parallelism."""
    expert_chunk_tokens: int = 0
    """Fused experts take so many tokens at once, but those of Marlin (INT4) take all; 0: all."""
    kept_workspaces: bool = False
    """Both buffers of the fused experts stay allocated while attention works."""
    default_spread_bytes: Amount = 0
    """Either way, where the engine chose the memory fraction itself."""


class Context(Since, frozen=True, kw_only=True):
    """What an engine has allocated before any token, beside the weights, for the kind of device and of weights."""

    platform: Platform | None = None
    scheme: str = ""
    context: Spread


SPREADS: Final = {
    "context": ("gib", GIB),
    "forward": ("times", 1),
    "sampler": ("bytes", 1),
    "graphs": ("gib", GIB),
    "graph": ("mib", GIB / 1024),
    "vision": ("gib", GIB),
    "rocm_graphs": ("gib", GIB),
    "blackwell_graphs": ("gib", GIB),
    "slow_link_graphs": ("gib", GIB),
    "slow_link_draft_graphs": ("gib", GIB),
    "draft_dcp_graphs": ("gib", GIB),
    "expert_parallel": ("gib", GIB),
    "nodes": ("gib", GIB),
    "outside": ("gib", GIB),
    "captured": ("gib", GIB),
    "draft_dcp_outside": ("gib", GIB),
}
"""The unit in the name of the key, and how many bytes it is."""


@cache
def overheads() -> tuple[Overhead, ...]:
    """In the order of the file. Reads the data once."""
    spreads = {name: unit for name, unit in SPREADS.items() if name != "context"}
    return tuple(
        row.build(Overhead, **{name: _spread(row, name, *unit) for name, unit in spreads.items()})
        for _, row in rows(FILE, "overheads")
    )


@cache
def contexts() -> tuple[Context, ...]:
    """In the order of the file. Reads the data once."""
    return tuple(
        row.build(Context, context=_spread(row, "context", *SPREADS["context"])) for _, row in rows(FILE, "contexts")
    )


def _spread(row: Row, name: str, unit: str, factor: float) -> Spread:
    value, _ = row.span(f"{name}_{unit}") or (0.0, 0.0)
    low, high = row.span(f"{name}_range_{unit}") or (value, value)
    if not 0 <= low <= value <= high:
        raise row.error(f"{name} is {value}, not within {low} to {high}")
    return Spread(value, low, high).times(factor)


def overhead_of(engine: str, version: str) -> Overhead:
    return max(known_rows(overheads(), engine, version), key=lambda row: order(row.since))


def context_of(engine: str, version: str, platform: Platform, scheme: str) -> Context:
    """The row that says most of the device and the weights, then the newest."""
    fitting = [
        row
        for row in known_rows(contexts(), engine, version)
        if row.platform in (None, platform) and row.scheme in ("", scheme)
    ]
    return max(fitting, key=lambda row: (row.platform is not None, bool(row.scheme), order(row.since)))
