"""Whether the context fits, with the numbers, and what to do where it does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from moonpad.engines.base import Reading
from moonpad.explain.better import Improvement, Subject, best_remedy
from moonpad.explain.judged import Remark
from moonpad.explain.layouts import at_flag
from moonpad.plan.shortfall import sentence
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.memory import Memory
from moonpad.values.units import gib


def memory_remarks(
    subject: Subject, memory: Memory, found: Sequence[Improvement], reading: Reading
) -> Iterator[Remark]:
    """`does-not-fit` where even the optimistic end is too small, `tight` where only that end is enough."""
    host = memory.host
    if host is not None and host.available_bytes is None and host.needed_bytes:
        needed = f"each machine needs {gib(host.needed_bytes)} of RAM for the experts, and what it has is not known"
        yield Remark(Finding(Severity.NOTE, Code.MEMORY_LOW, "host memory", needed, "compare it with `free -g`"))
    if memory.fits and not memory.tight:
        if found and found[0].memory.kv_tokens.value >= 2 * memory.kv_tokens.value:
            finding = Finding(Severity.NOTE, Code.SUBOPTIMAL, "memory", "the KV cache could hold more", found[0].why)
            yield Remark(finding)
        least = 1 if subject.context is None else memory.context
        if memory.max_context.low < least:
            yield Remark(_careful(memory, least))
        return
    code, severity = (Code.TIGHT, Severity.WARNING) if memory.fits else (Code.DOES_NOT_FIT, Severity.ERROR)
    finding = Finding(severity, code, "memory", sentence(memory, subject.layout), best_remedy(subject, found))
    name = "max_model_len" if memory.kv_bytes.high > 0 else _fraction_of(subject)
    yield at_flag(Remark(finding, 0), subject.engine, reading, name)


def _careful(memory: Memory, tokens: int) -> Finding:
    """What fits at the value of an estimate, and not at its careful end."""
    low, high = gib(memory.kv_bytes.low), gib(memory.kv_bytes.high)
    fits = max(0, int(memory.max_context.low))
    what = f"{fits:,} tokens fit, not {tokens:,}" if fits or tokens > 1 else "no token fits"
    return Finding(
        Severity.NOTE,
        Code.TIGHT,
        "memory",
        f"at the careful end of the estimate {what}: {low} to {high} are left for the KV cache on each device",
        "start it and read the engine's own figure",
    )


def _fraction_of(subject: Subject) -> str:
    return "kv_free_fraction" if subject.engine == "tensorrt-llm" else "gpu_memory_utilization"
