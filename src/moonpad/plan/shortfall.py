"""What a deployment lacks, in a sentence with its numbers."""

from __future__ import annotations

from moonpad.values.memory import Memory
from moonpad.values.plan import Layout
from moonpad.values.units import gib


def needed_bytes(memory: Memory, layout: Layout, tokens: int) -> float:
    """What the KV cache takes on a device for so many tokens: decode context parallelism deals them out."""
    return tokens / layout.dcp * memory.kv_bytes_per_token


def sentence(memory: Memory, layout: Layout, sequences: int = 1) -> str:
    """The numbers: what so many sequences of the context need, what is there, the longest context that fits."""
    host = memory.host
    if host is not None and host.available_bytes is not None and not memory.host_fits:
        return f"the experts need {gib(host.needed_bytes)} of host memory, {gib(host.available_bytes)} is there"
    weights, budget = gib(memory.weights_bytes), gib(memory.budget_bytes)
    # What a host has may be unknown.
    part = memory.budget_bytes / memory.device_bytes if memory.device_bytes else None
    share = budget if part is None else f"{budget}, {part:.2g} of {gib(memory.device_bytes)}"
    if memory.weights_bytes >= memory.budget_bytes:
        return (
            f"the weights alone are {weights} on each device, and the engine may use {share}; everything else takes "
            f"{_span(memory)} more"
        )
    rest = f"{weights} of weights and {_span(memory)} for everything else"
    if memory.kv_bytes.high <= 0:
        return f"nothing is left for the KV cache on each device: {rest}, and the engine may use {share}"
    need, kv_bytes = gib(needed_bytes(memory, layout, memory.context * sequences)), memory.kv_bytes
    what = f"{memory.context:,} tokens" if sequences == 1 else f"{sequences} sequences of {memory.context:,} tokens"
    left = f"{gib(kv_bytes.value)} is left" if kv_bytes.value > 0 else f"at most {gib(kv_bytes.high)} is left"
    longest = memory.max_context
    fitting = (
        f"the longest context that fits is {longest.value:,.0f}"
        if longest.value >= 1
        else f"at best {longest.high:,.0f} tokens fit"
    )
    return f"{what} need {need} of KV cache on each device, {left} of {budget} after {rest}; {fitting}"


def _span(memory: Memory) -> str:
    """`3.29 GiB (measured run …)`, with its range where a model gave it."""
    low, high, value = gib(memory.overhead.low), gib(memory.overhead.high), gib(memory.overhead.value)
    if memory.measured or low == high:
        return f"{value} ({memory.overhead.because})"
    return f"{value} (estimated, {low} to {high})"
