"""Whether the context fits, with the numbers, and what to do where it does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from moonpad.engines.base import Reading
from moonpad.explain.better import Improvement, Subject, best_remedy
from moonpad.explain.judged import Remark
from moonpad.explain.layouts import at_flag
from moonpad.plan.shortage import needed_bytes
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.memory import Memory
from moonpad.values.plan import Layout
from moonpad.values.units import gib


def memory_remarks(
    subject: Subject, memory: Memory, found: Sequence[Improvement], reading: Reading
) -> Iterator[Remark]:
    """`does-not-fit` where even the optimistic end is too small, `tight` where only that end is enough."""
    if memory.fits and not memory.tight:
        if found and found[0].memory.kv_tokens.value >= 2 * memory.kv_tokens.value:
            finding = Finding(Severity.NOTE, Code.SUBOPTIMAL, "memory", "the KV cache could hold more", found[0].why)
            yield Remark(finding)
        return
    code, severity = (Code.TIGHT, Severity.WARNING) if memory.fits else (Code.DOES_NOT_FIT, Severity.ERROR)
    finding = Finding(severity, code, "memory", sentence(memory, subject.layout), best_remedy(found))
    name = "max_model_len" if memory.kv_bytes.high > 0 else "gpu_memory_utilization"
    remark = at_flag(Remark(finding, 0), subject.engine, reading, name)
    yield remark


def sentence(memory: Memory, layout: Layout) -> str:
    """The numbers: what is needed, what is there, the longest context that fits."""
    if not memory.host_fits and memory.host is not None and memory.host.available_bytes is not None:
        needed, there = gib(memory.host.needed_bytes), gib(memory.host.available_bytes)
        return f"the experts need {needed} of host memory, {there} is there"
    rest = f"{gib(memory.weights_bytes)} of weights and {_span(memory)} for everything else"
    if memory.kv_bytes.value <= 0:
        return (
            f"nothing is left for the KV cache: {rest} on each device need "
            f"{gib(memory.weights_bytes + memory.overhead.value)}, the budget is {gib(memory.budget_bytes)}"
            f" ({memory.overhead.because})"
        )
    needed = needed_bytes(memory, layout, memory.context)
    return (
        f"{memory.context:,} tokens need {gib(needed)} of KV cache on each device, "
        f"{gib(memory.kv_bytes.value)} is left of {gib(memory.budget_bytes)} after {rest} ({memory.overhead.because}); "
        f"the longest context that fits is {memory.max_context.value:,.0f}"
    )


def _span(memory: Memory) -> str:
    """`3.29 GiB`, with its range where a model gave it."""
    low, high, value = gib(memory.overhead.low), gib(memory.overhead.high), gib(memory.overhead.value)
    return value if memory.measured or low == high else f"{value} ({low} to {high})"
