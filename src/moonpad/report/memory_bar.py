"""The memory of one device as a bar of text: weights, everything else, KV cache, and what is left to others."""

from __future__ import annotations

import textwrap
from typing import Final

from msgspec import Struct
from rich.text import Text

from moonpad.values.checkpoint import Component
from moonpad.values.estimate import Estimate
from moonpad.values.memory import Memory
from moonpad.values.units import GIB

SMALLEST_SHOWN: Final = GIB // 200
"""Less would read 0.00."""


class Segment(Struct, frozen=True):
    """`block` or `ascii`, in `style`, fills the segment: the signs differ without colours too."""

    name: str
    size_bytes: float
    block: str
    ascii: str
    style: str
    detail: str = ""


def segments(memory: Memory) -> tuple[Segment, ...]:
    """What one device holds, in order, without empty parts; a negative KV cache counts as empty."""
    experts = memory.weights.get(Component.ROUTED_EXPERTS, 0)
    others = memory.weights_bytes - experts
    overhead, kv_bytes = memory.overhead, memory.cache_bytes
    unused = memory.device_bytes - memory.weights_bytes - overhead.value - kv_bytes
    each = f" in each of {memory.replicas} replicas" if memory.replicas > 1 else ""
    left = "" if memory.reserved_bytes is not None else _span_gib(memory.kv_bytes)
    kv_detail = f"{left}{memory.kv_tokens.value:,.0f} tokens{each}"
    parts = (
        Segment("routed experts", experts, "█", "#", "blue"),
        Segment("other weights", others, "▓", "=", "cyan", _other_weights(memory)),
        Segment("everything else", overhead.value, "▒", "+", "yellow", _span_gib(overhead) + overhead.because),
        Segment("KV cache", kv_bytes, "░", ".", "green", kv_detail),
        Segment("not used", unused, "·", " ", "dim"),
    )
    return tuple(part for part in parts if part.size_bytes > 0)


def memory_bar(memory: Memory, width: int, *, ascii_only: bool = False, legend: bool = True) -> Text:
    """The bar, and with `legend` one line a segment below it. `width` in columns."""
    parts = segments(memory)
    bar, lines_below = Text(), Text()
    for part, columns in zip(parts, _columns(parts, max(20, min(width, 76) - 2)), strict=True):
        sign = part.ascii if ascii_only else part.block
        bar.append(sign * columns, style=part.style)
        lines_below.append(f"{sign} ", style=part.style)
        named = f"{part.name:<16}{part.size_bytes / GIB:8.2f} GiB  "
        lines = textwrap.wrap(part.detail, max(30, width - len(named) - 2), break_long_words=False)
        lines_below.append((named + f"\n{' ' * (len(named) + 2)}".join(lines)).rstrip() + "\n")
    ends = ("[", "]") if ascii_only else ("", "")
    return Text.assemble(ends[0], bar, f"{ends[1]}\n", lines_below if legend else "")


def _columns(parts: tuple[Segment, ...], width: int) -> list[int]:
    """Whole columns in proportion, at least one each, `width` together."""
    total = sum(part.size_bytes for part in parts)
    columns = [max(1, round(width * part.size_bytes / total)) for part in parts]
    if columns:
        columns[columns.index(max(columns))] += width - sum(columns)
    return columns


def _other_weights(memory: Memory) -> str:
    sizes = sorted(memory.weights.items(), key=lambda item: -item[1])
    shown = ((name, size) for name, size in sizes if name != Component.ROUTED_EXPERTS and size >= SMALLEST_SHOWN)
    return ", ".join(f"{name} {size / GIB:.2f}" for name, size in shown).replace("_", " ")


def _span_gib(estimate: Estimate) -> str:
    """`3.10 to 3.50 GiB; `, "" where both would read the same."""
    first, last = f"{estimate.low / GIB:.2f}", f"{estimate.high / GIB:.2f}"
    return "" if first == last else f"{first} to {last} GiB; "
