"""One engine with one checkpoint on one cluster: which settings a layout is given, and what it holds with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from moonpad.catalog.calibrations import Calibration
from moonpad.catalog.overhead import defaults_of
from moonpad.engines.base import Engine
from moonpad.plan.ladder import DEVICE_EXPERTS, Kind, Rung, rungs
from moonpad.plan.limits import limits_of
from moonpad.plan.memory import memory_of
from moonpad.plan.request import Request
from moonpad.plan.rules import check
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.choice import Confidence
from moonpad.values.cluster import Cluster
from moonpad.values.finding import Finding, errors_of
from moonpad.values.memory import Memory
from moonpad.values.plan import Layout, Settings

MIN_CONTEXT: Final = 1024
"""Less is of no use to anybody: a plan that holds less does not fit."""
USEFUL_CONTEXT: Final = 32768
"""Unasked, settings are not turned down any further once so much fits; for the goal `context` it is the model's own."""
STEP: Final = 1024
"""A context that is chosen is a multiple of this."""
CPU_DEFAULTS: Final = Settings(max_num_seqs=64, kv_cache_gib=1, enforce_eager=True)
"""As `up` has them (plan/from_spec.py)."""

End = Literal["value", "low", "high"]


@dataclass(frozen=True, slots=True)
class Candidate:
    checkpoint: Checkpoint
    cluster: Cluster
    engine: Engine
    version: str
    request: Request
    calibrations: tuple[Calibration, ...] = ()
    code_in_checkpoint: bool = False
    """The checkpoint brings Python of its own, which the engine must be allowed to run."""

    def rules(self, layout: Layout, settings: Settings) -> tuple[Finding, ...]:
        return check(self.checkpoint, self.cluster, self.engine.name, self.version, layout, settings)

    def memory(self, layout: Layout, settings: Settings, context: int | None = None) -> Memory:
        """With the calibrations. `context` None: the longest that fits."""
        return memory_of(
            self.checkpoint,
            self.cluster,
            self.engine.name,
            self.version,
            layout,
            settings,
            context=context,
            calibrations=self.calibrations,
        )

    @property
    def kind(self) -> Kind:
        if self.engine.name == "ktransformers":
            return "host"
        return defaults_of(self.engine.name, self.version).budget

    @property
    def context(self) -> int | None:
        """What was asked for, by --context or as the engine's own setting."""
        return self.request.context

    @property
    def wanted(self) -> int:
        """How much context makes it needless to turn the settings down any further."""
        most = self.checkpoint.architecture.max_context
        if self.context is not None:
            return self.context
        return most if self.request.goal == "context" else min(most, USEFUL_CONTEXT)

    def sequences(self, layout: Layout) -> int:
        """How many a replica must serve at once."""
        return -(-(self.request.concurrency or 1) // layout.dp)

    def ladder(self, layout: Layout) -> tuple[Rung, ...]:
        defaults = self._defaults(layout)
        fp8 = replace(defaults, **{**self.request.settings, "kv_cache_dtype": "fp8"})  # type: ignore[arg-type]
        allowed = self.request.goal == "context" and not errors_of(self.rules(layout, fp8))
        return rungs(defaults, self.request.settings, self.kind, sequences=self.sequences(layout), fp8_kv=allowed)

    def _defaults(self, layout: Layout) -> Settings:
        """What the engine would do unasked, spelled out: the plan names what it relies on."""
        if self.kind == "told":
            return replace(CPU_DEFAULTS, enforce_eager=layout.pp == 1)  # an eager pipeline answers 500 (rules/cpu.py)
        limits = limits_of(self.checkpoint, self.cluster.device, self.engine.name, self.version, layout, Settings())
        defaults = Settings(
            max_num_seqs=limits.max_num_seqs,
            max_num_batched_tokens=limits.max_num_batched_tokens,
            gpu_memory_utilization=limits.memory_fraction if self.kind == "device" else None,
            kv_free_fraction=limits.memory_fraction if self.kind == "free" else None,
        )
        if defaults.max_num_seqs is not None and defaults.max_num_seqs < self.sequences(layout):
            defaults = replace(defaults, max_num_seqs=self.sequences(layout))
        if self.kind == "host":
            defaults = replace(
                defaults, gpu_experts=min(DEVICE_EXPERTS[0], self.checkpoint.architecture.routed_experts)
            )
        return defaults

    def spelled(self, layout: Layout, settings: Settings) -> Settings:
        """The settings with the static fraction that the engine would calculate for them."""
        if self.kind not in ("static", "host") or settings.gpu_memory_utilization is not None:
            return settings
        limits = limits_of(self.checkpoint, self.cluster.device, self.engine.name, self.version, layout, settings)
        # Not above 0 where the engine's own formula leaves nothing, as for thousands of ranks: that fits nowhere.
        return replace(settings, gpu_memory_utilization=round(limits.memory_fraction, 3) or None)

    def reach(self, layout: Layout, memory: Memory, end: End = "value") -> int:
        """The longest context that as many sequences as asked for can have at once."""
        together = getattr(memory.kv_tokens, end) // self.sequences(layout)
        return int(min(getattr(memory.max_context, end), together))

    def holds(self, layout: Layout, memory: Memory, context: int, end: End = "value") -> bool:
        return memory.host_fits and self.reach(layout, memory, end) >= context


@dataclass(frozen=True, slots=True)
class Tried:
    """A rung of the ladder with what it holds; `memory` for the longest context."""

    number: int
    rung: Rung
    memory: Memory


def try_all(candidate: Candidate, layout: Layout) -> tuple[Tried, ...]:
    """Every rung, unless one surely holds what is wanted: then nothing below it is looked at."""
    tried: list[Tried] = []
    for number, rung in enumerate(candidate.ladder(layout)):
        memory = candidate.memory(layout, rung.settings)
        tried.append(Tried(number, rung, memory))
        if candidate.holds(layout, memory, candidate.wanted, "low"):
            break
    return tuple(tried)


def best_of(candidate: Candidate, layout: Layout, tried: Sequence[Tried]) -> Tried:
    """The first that surely holds what is wanted; else the surest of those that hold it; else the one with most.

    Among the last, one that surely starts stands before one that may not, and a measured one before a modelled one.
    """

    def reach(one: Tried, end: End) -> int:
        return candidate.reach(layout, one.memory, end)

    wanted = candidate.wanted
    if reach(tried[-1], "low") >= wanted:
        return tried[-1]
    likely = [one for one in tried if reach(one, "value") >= wanted]
    if likely:
        return max(likely, key=lambda one: (reach(one, "low"), one.memory.measured, -one.number))
    starts = [one for one in tried if reach(one, "low") >= MIN_CONTEXT]
    if candidate.context is None and starts:
        return max(starts, key=lambda one: (one.memory.measured, reach(one, "value"), -one.number))
    # The surest knowledge of what is missing: a measured start, if there is one.
    return max(tried, key=lambda one: (one.memory.measured, reach(one, "high"), one.memory.kv_bytes.high, -one.number))


def chosen_context(candidate: Candidate, layout: Layout, memory: Memory) -> int:
    """What was asked for; else the longest that fits, as a round number; where only hope is left, the shortest."""
    if candidate.context is not None:
        return candidate.context
    return max(MIN_CONTEXT, candidate.reach(layout, memory) // STEP * STEP)


def confidence_of(candidate: Candidate, layout: Layout, memory: Memory, context: int) -> Confidence:
    if not candidate.holds(layout, memory, context):
        return "tight"
    return "measured" if memory.measured else "likely"
