"""One engine with one checkpoint on one cluster: which settings a layout is given, and what it holds with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from moonpad.catalog.calibrations import Calibration
from moonpad.catalog.overhead import defaults_of
from moonpad.engines.base import Engine
from moonpad.plan.effective_settings import limits_of, unasked_settings
from moonpad.plan.memory import memory_of
from moonpad.plan.request import Request
from moonpad.plan.rules import check
from moonpad.plan.setting_fallbacks import DEVICE_EXPERTS, Fallback, Kind, fallbacks
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Cluster
from moonpad.values.configuration import Configuration
from moonpad.values.finding import errors_of
from moonpad.values.memory import End, Memory
from moonpad.values.plan import Layout, Settings

MIN_CONTEXT: Final = 1024
"""A plan that holds less counts as one that does not fit."""
USEFUL_CONTEXT: Final = 32768
"""Unasked, settings are not turned down any further once so much fits; for the goal `context` it is the model's own."""
STEP: Final = 1024
"""A context that is chosen is a multiple of this."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """`base` is the configuration before a layout and settings are chosen."""

    base: Configuration
    engine: Engine
    request: Request
    calibrations: tuple[Calibration, ...] = ()
    code_in_checkpoint: bool = False
    """The checkpoint brings Python of its own, which the engine must be allowed to run."""

    @property
    def checkpoint(self) -> Checkpoint:
        return self.base.checkpoint

    @property
    def cluster(self) -> Cluster:
        return self.base.cluster

    def configuration(self, layout: Layout, settings: Settings) -> Configuration:
        return replace(self.base, layout=layout, settings=settings)

    def memory(self, layout: Layout, settings: Settings, context: int | None = None) -> Memory:
        """With the calibrations. `context` None: the longest that fits."""
        return memory_of(self.configuration(layout, settings), context=context, calibrations=self.calibrations)

    @property
    def kind(self) -> Kind:
        if self.engine.facts.host_experts:
            return "host"
        return defaults_of(self.engine.name, self.base.version).budget

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
        asked = -(-(self.request.concurrency or 1) // layout.dp)
        reserved = self.request.settings.get("max_num_seqs") if self.engine.facts.reserves_kv else None
        return max(asked, int(reserved or 1))

    def ladder(self, layout: Layout) -> tuple[Fallback, ...]:
        defaults = self._defaults(layout)
        fp8 = replace(defaults, **{**self.request.settings, "kv_cache_dtype": "fp8"})  # type: ignore[arg-type]
        allowed = self.request.goal == "context" and not errors_of(check(self.configuration(layout, fp8)))
        return fallbacks(
            defaults,
            self.request.settings,
            self.kind,
            sequences=self.sequences(layout),
            fp8_kv=allowed,
            graphs=self.engine.facts.graphs_option,
            layers=self.checkpoint.architecture.layers,
        )

    def _defaults(self, layout: Layout) -> Settings:
        """What the engine would do unasked, spelled out: the plan names what it relies on."""
        if unasked := unasked_settings(self.engine.facts, layout.pp):
            return replace(Settings(**unasked), max_model_len=None)  # type: ignore[arg-type]
        limits = limits_of(self.configuration(layout, Settings()))
        defaults = Settings(
            max_num_seqs=limits.max_num_seqs,
            max_num_batched_tokens=limits.max_num_batched_tokens,
            gpu_memory_utilization=limits.memory_fraction if self.kind == "device" else None,
            kv_free_fraction=limits.memory_fraction if self.kind == "free" else None,
        )
        if defaults.max_num_seqs is not None and defaults.max_num_seqs < self.sequences(layout):
            defaults = replace(defaults, max_num_seqs=self.sequences(layout))
        if self.engine.facts.host_experts == "of each layer":
            most = min(DEVICE_EXPERTS[0], self.checkpoint.architecture.routed_experts)
            return replace(defaults, gpu_experts=most)
        return replace(defaults, host_expert_layers=0) if self.engine.facts.host_experts else defaults

    def spelled(self, layout: Layout, settings: Settings) -> Settings:
        """The settings with the static fraction that the engine would calculate for them."""
        static = defaults_of(self.engine.name, self.base.version).budget == "static"
        if not static or settings.gpu_memory_utilization is not None:
            return settings
        limits = limits_of(self.configuration(layout, settings))
        # Not above 0 where the engine's own formula leaves nothing, as for thousands of ranks: that fits nowhere.
        return replace(settings, gpu_memory_utilization=round(limits.memory_fraction, 3) or None)

    def reach(self, layout: Layout, memory: Memory, end: End = "value") -> int:
        return memory.reach(self.sequences(layout), end)

    def holds(self, layout: Layout, memory: Memory, context: int, end: End = "value") -> bool:
        return memory.holds(context, self.sequences(layout), end)


@dataclass(frozen=True, slots=True)
class Tried:
    """A fallback with what it holds; `memory` for the longest context."""

    number: int
    fallback: Fallback
    memory: Memory


def try_all(candidate: Candidate, layout: Layout) -> tuple[Tried, ...]:
    """Every fallback, unless one surely holds what is wanted: then nothing below it is looked at."""
    tried: list[Tried] = []
    for number, fallback in enumerate(candidate.ladder(layout)):
        memory = candidate.memory(layout, fallback.settings)
        tried.append(Tried(number, fallback, memory))
        if candidate.holds(layout, memory, candidate.wanted, "low"):
            break
    return tuple(tried)


def best_of(candidate: Candidate, layout: Layout, tried: Sequence[Tried]) -> Tried:
    """The first that surely holds what is wanted; else the surest of those that hold it; else the one with most.

    Among the last, one that surely starts stands before one that may not, and a measured one before a modelled one.
    """

    def reach(attempt: Tried, end: End) -> int:
        return candidate.reach(layout, attempt.memory, end)

    wanted = candidate.wanted
    if reach(tried[-1], "low") >= wanted:
        return tried[-1]
    likely = [attempt for attempt in tried if reach(attempt, "value") >= wanted]
    if likely:
        return max(likely, key=lambda attempt: (reach(attempt, "low"), attempt.memory.measured, -attempt.number))
    starts = [attempt for attempt in tried if reach(attempt, "low") >= MIN_CONTEXT]
    if candidate.context is None and starts:
        return max(starts, key=lambda attempt: (attempt.memory.measured, reach(attempt, "value"), -attempt.number))
    # The surest knowledge of what is missing: a measured start, if there is one.
    return max(
        tried,
        key=lambda attempt: (
            attempt.memory.measured,
            reach(attempt, "high"),
            attempt.memory.kv_bytes.high,
            -attempt.number,
        ),
    )


def chosen_context(candidate: Candidate, layout: Layout, memory: Memory) -> int:
    """What was asked for; else the longest that fits, as a round number; where only hope is left, the shortest."""
    if candidate.context is not None:
        return candidate.context
    return max(MIN_CONTEXT, candidate.reach(layout, memory) // STEP * STEP)
