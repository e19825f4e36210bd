"""The one judge: whether a configuration can be served, by the rules and by its memory. Every verb asks here."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from moonpad.catalog.calibrations import Calibration
from moonpad.plan.capacity_errors import does_not_fit
from moonpad.plan.effective_settings import limits_of, reserved_sequences
from moonpad.plan.memory import memory_of
from moonpad.plan.rules import check
from moonpad.values.configuration import Configuration
from moonpad.values.errors import PreflightRefused
from moonpad.values.finding import Code, Finding, Severity, errors_of
from moonpad.values.memory import LIKELY, Memory, Outside
from moonpad.values.plan_answer import Confidence, confidence_of
from moonpad.values.records import replace
from moonpad.values.units import gib

# Where an error stands that leaves no layout whose memory could be counted.
_NO_LAYOUT: Final = frozenset({"tp", "pp", "dp", "ep", "dcp", "engine", "quantization"})
OF_HOST: Final = "host memory"
"""Where a finding about the RAM of a machine stands."""


class Judgement(Struct, frozen=True):
    """`memory` None: the layout is impossible or something is not known, as `unjudged` says."""

    configuration: Configuration
    findings: tuple[Finding, ...]
    memory: Memory | None = None
    sequences: int = 1
    unjudged: str = ""

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Those for which nothing is started or written."""
        return errors_of(self.findings)

    @property
    def confidence(self) -> Confidence | None:
        """None where there is no memory to be sure of."""
        return confidence_of(self.memory, self.sequences) if self.memory else None


def judge(
    configuration: Configuration,
    *,
    context: int | None = None,
    sequences: int = 1,
    calibrations: Sequence[Calibration] = (),
    despite: frozenset[Code] = frozenset(),
) -> Judgement:
    """What the rules and the memory say of `sequences` sequences of `context` tokens on each replica.

    `context` None: that of the settings; where they have none, whatever fits will do. `despite`: errors with these
    codes become warnings.
    """
    sequences = max(sequences, reserved_sequences(configuration))
    findings = forgive(check(configuration), despite)
    impossible = next((finding for finding in errors_of(findings) if finding.where in _NO_LAYOUT), None)
    if impossible is not None:
        return Judgement(configuration, findings, unjudged=impossible.message)
    try:
        memory = memory_of(configuration, context=context, calibrations=calibrations)
    except PreflightRefused as refused:
        return Judgement(configuration, findings, unjudged=refused.message)
    wanted = memory.context if context or configuration.settings.max_model_len else 1
    about = forgive(tuple(memory_findings(configuration, memory, wanted, sequences)), despite)
    return Judgement(configuration, (*about, *findings), memory, sequences)


def forgive(findings: tuple[Finding, ...], despite: frozenset[Code]) -> tuple[Finding, ...]:
    """Errors that a person has overridden are warnings."""
    return tuple(
        replace(finding, severity=Severity.WARNING)
        if finding.severity is Severity.ERROR and finding.code in despite
        else finding
        for finding in findings
    )


def memory_findings(configuration: Configuration, memory: Memory, wanted: int, sequences: int = 1) -> Iterator[Finding]:
    """`does-not-fit` where even the optimistic end is too small for `wanted` tokens a sequence, `tight` where that is
    enough with a probability below `LIKELY`, as a note where the expected value is."""
    yield from _outside(configuration, memory)
    low, high = memory.kv_bytes.low, gib(memory.kv_bytes.high)
    left = f"{gib(low)} to {high} are left" if low > 0 else f"between nothing and {high} is left"
    left += " for the KV cache on each device"
    remedy, careful = "start it and read the engine's own figure", memory.reach(1, "low")
    chance = f"with a probability of {memory.kv_probability(wanted, sequences):.0%}"
    if not memory.holds(wanted, sequences, "high"):
        yield does_not_fit(configuration, memory, sequences)
    elif not memory.holds(wanted, sequences):
        wanted_words = f"{memory.context:,} tokens fit" if memory.context > 1 else "the KV cache gets anything"
        message = f"{wanted_words} {chance}, if everything else takes less than expected: {left}"
        yield Finding(Severity.WARNING, Code.TIGHT, "max_model_len", message, f"{remedy}, or use a shorter context")
    elif memory.kv_probability(wanted, sequences) < LIKELY:
        fits = f"{max(0, careful):,} tokens fit, not {wanted:,}" if careful > 0 or wanted > 1 else "no token fits"
        message = f"at the careful end of the estimate {fits}: {left}"
        yield Finding(Severity.NOTE, Code.TIGHT, "max_model_len", message, remedy)
    host = memory.host
    if host is not None and host.available_bytes is None and host.needed_bytes:
        message = f"each machine needs {gib(host.needed_bytes)} of RAM, and how much it has is not known"
        remedy = "compare it with `free -g` on the machine"
        yield Finding(Severity.NOTE, Code.MEMORY_LOW, OF_HOST, message, remedy)


def room_outside(configuration: Configuration, memory: Memory, outside: Outside) -> float:
    """The largest memory fraction, in whole hundredths, that leaves enough beside it at the careful end."""
    share = 1 - outside.needed_bytes.high / memory.device_bytes
    return min(math.floor(100 * share / limits_of(configuration).scale), 99) / 100


def _told(memory: Memory, outside: Outside) -> Finding:
    """A KV cache of a given size, beside which the rest may find no room."""
    needed = outside.needed_bytes
    message = (
        f"the KV cache is told to take {gib(memory.kv_bytes.value)}, which leaves {gib(outside.left_bytes)} of each "
        f"device beside the weights, and {needed.because} takes {gib(needed.value)} there ({gib(needed.low)} to "
        f"{gib(needed.high)}): enough with a probability of {outside.probability:.0%}"
    )
    room = math.floor(memory.kv_bytes.value + outside.left_bytes - needed.high)
    remedy = f"set kv_cache_bytes = {room} or less" if room > 0 else "use devices with more memory"
    return Finding(Severity.WARNING, Code.TIGHT, "kv_cache_bytes", message, remedy)


def _outside(configuration: Configuration, memory: Memory) -> Iterator[Finding]:
    """Where what runs beside the memory fraction may find no room: the engine starts and fails at the first tokens."""
    outside = memory.outside
    if outside is None or memory.measured or outside.lacks or outside.probability >= LIKELY:
        return
    if outside.told:
        yield _told(memory, outside)
        return
    needed, name = outside.needed_bytes, configuration.engine.memory_fraction_name
    fraction = room_outside(configuration, memory, outside)
    message = (
        f"{gib(outside.left_bytes)} of each device are left outside of the memory fraction, and {needed.because} take "
        f"{gib(needed.value)} there ({gib(needed.low)} to {gib(needed.high)}): enough with a probability of "
        f"{outside.probability:.0%}"
    )
    given_up = (1 - fraction * limits_of(configuration).scale) * memory.device_bytes - outside.left_bytes
    lower = fraction > 0 and memory.kv_bytes.value > given_up  # with less, the weights have to find room too
    tokens = limits_of(configuration).max_num_batched_tokens // 2
    smaller = f"set max_num_batched_tokens = {tokens} or less, or use devices with more memory"
    remedy = f"set {name} = {fraction:g} or less" if lower else smaller
    yield Finding(Severity.WARNING, Code.TIGHT, name, message, remedy)
