"""One engine with one checkpoint on one cluster: which settings a layout is given, and what it holds with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from moonpad.catalog.calibrations import Calibration
from moonpad.catalog.overhead import defaults_of
from moonpad.engines.base import Engine
from moonpad.engines.vllm_rules import SAFE_OF_UNIFIED
from moonpad.plan.effective_settings import Limits, limits_of, unasked_settings
from moonpad.plan.memory import memory_of
from moonpad.plan.request import USEFUL_CONTEXT, Request
from moonpad.plan.rules import check
from moonpad.plan.setting_fallbacks import DEVICE_EXPERTS, FEWER_SEQUENCES, SOME_SEQUENCES, Kind, Lowering
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Cluster
from moonpad.values.configuration import Configuration
from moonpad.values.finding import errors_of
from moonpad.values.memory import End, Memory
from moonpad.values.plan import Layout, Settings
from moonpad.values.records import replace

MIN_CONTEXT: Final = 1024
"""A plan that holds less counts as one that does not fit."""
STEP: Final = 1024
"""A context that is chosen is a multiple of this."""


class Candidate(Struct, frozen=True):
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
        """With the calibrations, and with what the engine would calculate spelled out, as it is judged and started.
        `context` None: the longest that fits."""
        spelled = self.configuration(layout, self.spelled(layout, settings))
        return memory_of(spelled, context=context, calibrations=self.calibrations)

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
        """The context for which cheap settings are turned down: what was asked for, else all that the model has."""
        return self.context if self.context is not None else self.checkpoint.architecture.max_context

    @property
    def useful(self) -> int:
        """The context for which costly settings are turned down too."""
        unasked = self.context is None and self.request.goal != "context"
        return min(self.wanted, USEFUL_CONTEXT) if unasked else self.wanted

    def sequences(self, layout: Layout) -> int:
        """How many a replica must serve at once."""
        asked = -(-(self.request.concurrency or 1) // layout.dp)
        reserved = self.request.settings.get("max_num_seqs") if self.engine.facts.reserves_kv else None
        return max(asked, int(reserved or 1))

    def start(self, layout: Layout) -> Settings:
        """The engine's defaults, with what the person fixed: where nothing is turned down."""
        settings = self._defaults(layout).with_values(self.request.settings)
        if not self.engine.facts.step_holds_sequences or "max_num_seqs" in self.request.settings:
            return settings
        tokens, sequences = settings.max_num_batched_tokens or 0, settings.max_num_seqs or 0
        return (
            replace(settings, max_num_seqs=max(tokens, self.sequences(layout))) if 0 < tokens < sequences else settings
        )

    def lowering(self, layout: Layout, start: Settings) -> Lowering:
        pinned = dict(self.request.settings)
        if self.cluster.device.unified and self.kind == "device":
            pinned.setdefault("gpu_memory_utilization", SAFE_OF_UNIFIED)
        return Lowering(
            start,
            pinned,
            self.kind,
            sequences=self.sequences(layout),
            some=SOME_SEQUENCES if self.request.goal == "throughput" else FEWER_SEQUENCES,
            graphs=self.engine.facts.graphs_option,
            layers=self.checkpoint.architecture.layers,
            alone=self.request.goal == "context",
        )

    def fp8_kv(self, layout: Layout, settings: Settings) -> Settings | None:
        """With an FP8 KV cache, where a person wants context above all and no rule objects."""
        if self.request.goal != "context" or "kv_cache_dtype" in self.request.settings:
            return None
        fp8 = replace(settings, kv_cache_dtype="fp8")
        return None if errors_of(check(self.configuration(layout, fp8))) else fp8

    def _defaults(self, layout: Layout) -> Settings:
        """What the engine would do unasked, spelled out: the plan names what it relies on."""
        if unasked := unasked_settings(self.engine.facts, layout.pp):
            return Settings().with_values({**unasked, "max_model_len": None})
        limits = self.default_batch(layout)
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

    def default_batch(self, layout: Layout) -> Limits:
        """The engine's own limits, where it is told none."""
        return limits_of(self.configuration(layout, Settings()))

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


class Tried(Struct, frozen=True):
    """Settings with what they hold; `memory` for the longest context. `what` changed against the attempt `above`, by
    their numbers; "" for the first, the engine's defaults."""

    number: int
    settings: Settings
    memory: Memory
    what: str = ""
    above: int = 0


def try_all(candidate: Candidate, layout: Layout) -> tuple[Tried, ...]:
    """The defaults, then each change that frees memory, until what is wanted is held; costly ones only where a useful
    context is not held for sure."""
    start = candidate.start(layout)
    tried = [Tried(0, start, candidate.memory(layout, start))]
    one_of_many = False
    for change in candidate.lowering(layout, start).changes():
        last = tried[-1]
        useful = candidate.holds(layout, last.memory, candidate.useful, "low")
        if useful and (change.costly or candidate.holds(layout, last.memory, candidate.wanted, "low")):
            return tuple(tried)
        settings = last.settings.with_values(change.settings)
        memory = candidate.memory(layout, settings)
        if not _frees(last.memory, memory) and "enforce_eager" not in change.settings:
            continue  # graphs that an engine does not count take memory all the same, outside of its budget
        above = last.above if one_of_many and change.one_of_many else last.number
        one_of_many = change.one_of_many
        tried.append(Tried(len(tried), settings, memory, change.what, above))
    if candidate.holds(layout, tried[-1].memory, candidate.useful, "low"):
        return tuple(tried)
    for base in [tried[number] for number in dict.fromkeys((0, len(tried) - 1))]:
        if (fp8 := candidate.fp8_kv(layout, base.settings)) is not None:
            memory = candidate.memory(layout, fp8)
            tried.append(Tried(len(tried), fp8, memory, "an FP8 KV cache", base.number))
    return tuple(tried)


def _frees(before: Memory, after: Memory) -> bool:
    """Whether a change is worth being made; a measured start is worth more than a model. Where nothing is left, the
    optimistic end is the hope."""
    more = after.kv_bytes.value > before.kv_bytes.value or after.kv_tokens.value > before.kv_tokens.value
    more = more or (before.kv_bytes.value <= 0 and after.kv_bytes.high > before.kv_bytes.high)
    surer = after.near_measured and after.kv_bytes.low > before.kv_bytes.low
    return more or surer or (after.near_measured and not before.near_measured)


def best_of(candidate: Candidate, layout: Layout, tried: Sequence[Tried]) -> Tried:
    """Of those that surely hold a useful context the first with the longest; else the surest of those that hold it;
    else the one with most.

    Among the last, one that surely starts stands before one that may not, and a measured one before a modelled one.
    """

    def reach(attempt: Tried, end: End) -> int:
        return candidate.reach(layout, attempt.memory, end)

    def held(attempt: Tried) -> int:
        """How much of the wanted context it holds, in whole steps: a smaller gain turns nothing down."""
        return min(reach(attempt, "low"), candidate.wanted) // STEP

    useful = candidate.useful
    sure = [attempt for attempt in tried if reach(attempt, "low") >= useful]
    if sure:
        return max(sure, key=lambda attempt: (held(attempt), -attempt.number))
    likely = [attempt for attempt in tried if reach(attempt, "value") >= useful]
    if likely:
        # By bytes, which tell the surer one of two also where neither holds a token for sure.
        surest = max(attempt.memory.kv_bytes.low for attempt in likely)
        likely = [attempt for attempt in likely if attempt.memory.kv_bytes.low == surest]
        return max(likely, key=lambda attempt: (attempt.memory.measured, held(attempt), -attempt.number))
    starts = [attempt for attempt in tried if reach(attempt, "low") >= MIN_CONTEXT]
    if candidate.context is None and starts:
        return max(starts, key=lambda attempt: (attempt.memory.measured, held(attempt), -attempt.number))
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
    """What was asked for; else the longest that fits at the careful end, as a round number, so that it is likely; where
    only hope is left, the longest that is expected."""
    if candidate.context is not None:
        return candidate.context
    careful = candidate.reach(layout, memory, "low") // STEP * STEP
    return careful if careful >= MIN_CONTEXT else max(MIN_CONTEXT, candidate.reach(layout, memory) // STEP * STEP)
