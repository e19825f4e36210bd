"""The memory of one device as a bar of text: weights, everything else, KV cache, and what is left to others."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rich.text import Text

from moonpad.values.checkpoint import Component
from moonpad.values.units import GIB

if TYPE_CHECKING:
    from moonpad.values.memory import Memory

SMALLEST_SHOWN: Final = GIB // 200
"""Less would read 0.00."""
# (block, ASCII, style): the signs differ without colours too.
_LOOKS: Final = {
    "routed experts": ("█", "#", "blue"),
    "other weights": ("▓", "=", "cyan"),
    "everything else": ("▒", "+", "yellow"),
    "KV cache": ("░", ".", "green"),
    "not used": ("·", " ", "dim"),
}


@dataclass(frozen=True, slots=True)
class Segment:
    name: str
    size_bytes: float


def segments(memory: Memory) -> tuple[Segment, ...]:
    """What one device holds, in order; nothing that is not there. A KV cache below nothing takes no place."""
    experts = memory.weights.get(Component.ROUTED_EXPERTS, 0)
    kv_bytes = max(0.0, memory.kv_bytes.value)
    parts = (
        Segment("routed experts", experts),
        Segment("other weights", memory.weights_bytes - experts),
        Segment("everything else", memory.overhead.value),
        Segment("KV cache", kv_bytes),
        Segment("not used", memory.device_bytes - memory.weights_bytes - memory.overhead.value - kv_bytes),
    )
    return tuple(part for part in parts if part.size_bytes > 0)


def memory_bar(memory: Memory, width: int, *, ascii_only: bool = False) -> Text:
    """The bar, and one line a segment below it. `width` in columns."""
    parts = segments(memory)
    text = Text()
    for part, columns in zip(parts, _columns(parts, max(20, min(width, 76) - 2)), strict=True):
        block, plain, style = _LOOKS[part.name]
        text.append((plain if ascii_only else block) * columns, style=style)
    text = Text.assemble("[", text, "]\n") if ascii_only else Text.assemble(text, "\n")
    for part in parts:
        block, plain, style = _LOOKS[part.name]
        text.append(f"{plain if ascii_only else block} ", style=style)
        named = f"{part.name:<16}{part.size_bytes / GIB:8.2f} GiB  "
        detail = _detail(part, memory)
        lines = textwrap.wrap(detail, max(30, width - len(named) - 2), break_long_words=False) if detail else [""]
        text.append((named + f"\n{' ' * (len(named) + 2)}".join(lines)).rstrip() + "\n")
    return text


def _columns(parts: tuple[Segment, ...], width: int) -> list[int]:
    """Whole columns in proportion, at least one each, `width` together."""
    total = sum(part.size_bytes for part in parts)
    columns = [max(1, round(width * part.size_bytes / total)) for part in parts]
    if columns:
        columns[columns.index(max(columns))] += width - sum(columns)
    return columns


def _detail(part: Segment, memory: Memory) -> str:
    if part.name == "other weights":
        others = sorted(memory.weights.items(), key=lambda item: -item[1])
        named = [
            f"{name} {size / GIB:.2f}"
            for name, size in others
            if name != Component.ROUTED_EXPERTS and size >= SMALLEST_SHOWN
        ]
        return ", ".join(named).replace("_", " ")
    if part.name == "everything else":
        return span_gib(memory.overhead.low, memory.overhead.high) + memory.overhead.because
    if part.name == "KV cache":
        return f"{span_gib(memory.kv_bytes.low, memory.kv_bytes.high)}{memory.kv_tokens.value:,.0f} tokens"
    return ""


def span_gib(low: float, high: float) -> str:
    """`3.10 to 3.50 GiB; `, "" where both would read the same."""
    first, last = f"{low / GIB:.2f}", f"{high / GIB:.2f}"
    return "" if first == last else f"{first} to {last} GiB; "
