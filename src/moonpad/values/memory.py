"""What one device holds, and what is left for the KV cache. Bytes throughout; GiB only where people read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, Protocol

from msgspec import Struct, field
from msgspec.structs import force_setattr

from moonpad.values.checkpoint import Component
from moonpad.values.estimate import Estimate
from moonpad.values.units import GIB

End = Literal["value", "low", "high"]
SURE: Final = 0.99
LIKELY: Final = 0.90
RANGE: Final = 0.90
"""The probability that a figure lies within the range of its estimate; below and above it are 5 % each."""
_HALF_RANGE: Final = 1.6448536269514715
"""How many standard deviations an end of the range lies from the value: 95 % of a normal distribution lie below."""


class HostMemory(Struct, frozen=True):
    """Host RAM of a node, for engines that keep experts there. `available_bytes` None: unknown."""

    needed_bytes: int
    available_bytes: int | None


class SequenceRoom(Protocol):
    """How the engine deals its KV cache out to sequences."""

    def reach(self, sequences: int, end: End = "value") -> int:
        """The longest context that so many sequences of a replica can have at once."""

    def needed_bytes(self, context: int, sequences: int) -> float:
        """What so many sequences of so many tokens take on a device."""

    @property
    def refusal(self) -> str:
        """Why the engine would not start whatever the context, "" where it would."""


class Outside(Struct, frozen=True):
    """Room on a device beside the engine's memory fraction, and what has to find it there."""

    left_bytes: int
    needed_bytes: Estimate
    told: bool = False
    """The KV cache has the size that the engine was told, whatever it finds: with too little here nothing starts."""

    @property
    def lacks(self) -> bool:
        """Nothing starts, even where all else takes as little as it may."""
        return self.told and self.left_bytes < self.needed_bytes.low

    @property
    def probability(self) -> float:
        """That it is enough."""
        return _probability(self.left_bytes - self.needed_bytes.value, self.needed_bytes)


def _probability(spare: float, estimate: Estimate) -> float:
    """That what is estimated misses its value by no more than what is to spare, each half of the range taken as half of
    a normal distribution. `spare` < 0: more is wanted than expected."""
    end = estimate.high if (spare >= 0) else estimate.low
    deviation = abs(estimate.value - end) / _HALF_RANGE
    return (1 + math.erf(spare / deviation / math.sqrt(2))) / 2 if deviation else float(spare >= 0)


class Memory(Struct, frozen=True):
    """One device of the fullest pipeline stage.

    budget = memory fraction × device; budget − weights − overhead = KV cache. Overhead and all that follows from it
    are estimates, exact where the engine was told the size of its KV cache.
    """

    device_bytes: int
    budget_bytes: int
    weights: Mapping[Component, int]
    overhead: Estimate
    kv_bytes_per_token: int
    """Per device and token of context, before decode context parallelism divides it."""
    kv_bytes: Estimate
    """May be negative: by so much one misses."""
    kv_tokens: Estimate
    """What all sequences of a replica together may hold, over the decode-context-parallel ranks; whole blocks."""
    max_context: Estimate
    """The longest single sequence, capped by the model's own limit."""
    context: int
    """The context that was asked for, or that the plan chose."""
    concurrency_at_context: Estimate
    """Sequences of that context at once, in all replicas together."""
    replicas: int = 1
    """Data-parallel ones, each with a KV cache of its own."""
    stages: tuple[int, ...] = ()
    """Bytes of weights per device of each pipeline stage."""
    host: HostMemory | None = None
    outside: Outside | None = None
    overhead_parts: Mapping[str, float] = field(default_factory=dict)
    """The parts of `overhead.value` by name, in bytes, where a model and no measured run gave it."""
    state_bytes_per_sequence: int = 0
    """What a sequence takes on a device whatever its length: the states of its linear attention."""
    sequence_room: SequenceRoom | None = None
    reserved_bytes: int | None = None
    """What an engine allocates of what is left, where it takes no more than the contexts that it serves."""

    def __post_init__(self) -> None:
        force_setattr(self, "weights", MappingProxyType(dict(self.weights)))
        force_setattr(self, "overhead_parts", MappingProxyType(dict(self.overhead_parts)))

    @property
    def weights_bytes(self) -> int:
        return sum(self.weights.values())

    @property
    def told(self) -> bool:
        """Whether the KV cache has the size that the engine was told."""
        return self.outside is not None and self.outside.told

    @property
    def cache_bytes(self) -> float:
        """What the KV cache takes of a device."""
        left = max(0.0, self.kv_bytes.value)
        return left if self.reserved_bytes is None else min(left, self.reserved_bytes)

    @property
    def kv_tokens_total(self) -> Estimate:
        """Of all replicas together."""
        return self.kv_tokens.times(self.replicas)

    @property
    def measured(self) -> bool:
        return self.overhead.because.startswith("measured")

    @property
    def near_measured(self) -> bool:
        """A measured start, of these settings or nearly, gave it, and not a model."""
        return self.overhead.because.startswith(("measured", "estimated from"))

    def reach(self, sequences: int = 1, end: End = "value") -> int:
        """The longest context that so many sequences of a replica can have at once."""
        longest = getattr(self.max_context, end)
        if self.sequence_room is not None and self.state_bytes_per_sequence:
            return int(min(longest, self.sequence_room.reach(sequences, end)))
        return int(min(longest, getattr(self.kv_tokens, end) // sequences))

    def holds(self, context: int, sequences: int = 1, end: End = "value") -> bool:
        starts = self.outside is None or not self.outside.lacks
        return starts and self.host_fits and self.reach(sequences, end) >= context

    def probability(self, context: int | None = None, sequences: int = 1) -> float:
        """That a replica has room for so many sequences of `context` tokens (None: of `self.context`), and what lies
        outside of the budget has room as well.
        """
        inside = self.kv_probability(self.context if context is None else context, sequences)
        return inside if self.outside is None or self.measured else inside * self.outside.probability

    def kv_probability(self, context: int, sequences: int = 1) -> float:
        """That the KV cache holds so many sequences. 0 where even the optimistic end is too small."""
        if not self.holds(context, sequences, "high"):
            return 0.0
        room = self.sequence_room
        needed = room.needed_bytes(context, sequences) if room else sequences * context * self.kv_bytes_per_token
        spare = self.kv_bytes.value - needed
        # The KV cache is small where the overhead is large.
        kv = self.kv_bytes
        return _probability(spare, Estimate(-kv.value, -kv.high, -kv.low, kv.because))

    @property
    def fits(self) -> bool:
        """False where even the optimistic end does not hold the context."""
        return self.holds(self.context, end="high")

    @property
    def tight(self) -> bool:
        """It may hold the context, with a probability below `LIKELY`."""
        return self.fits and self.probability() < LIKELY

    @property
    def host_fits(self) -> bool:
        host = self.host
        return host is None or host.available_bytes is None or host.needed_bytes <= host.available_bytes

    def as_json(self) -> dict[str, object]:
        """The keys of `memory` in design/cli.md. `kv_tokens` are those of a replica, `concurrency_at_context` counts
        all replicas: the keys that follow say both by name."""
        return {
            "device_gib": _gib(self.device_bytes),
            "budget_gib": _gib(self.budget_bytes),
            "weights_gib": _gib(self.weights_bytes),
            "weights": {str(name): _gib(size) for name, size in self.weights.items()},
            "overhead_gib": _estimate_gib(self.overhead),
            "kv_bytes_per_token": self.kv_bytes_per_token,
            "state_bytes_per_sequence": self.state_bytes_per_sequence,
            "kv_gib": _estimate_gib(self.kv_bytes),
            "kv_tokens": self.kv_tokens.as_json(),
            "max_context": self.max_context.as_json(),
            "context": self.context,
            "concurrency_at_context": self.concurrency_at_context.as_json(),
            "fit_probability": round(self.probability(), 3),
            "outside_gib": None
            if self.outside is None
            else {"left": _gib(self.outside.left_bytes), "needed": _estimate_gib(self.outside.needed_bytes)},
            "replicas": self.replicas,
            "kv_tokens_total": self.kv_tokens_total.as_json(),
            "concurrency_per_replica": self.concurrency_at_context.times(1 / self.replicas).as_json(),
            "concurrency_total": self.concurrency_at_context.as_json(),
            "stages_gib": [_gib(size) for size in self.stages],
            "host": None
            if self.host is None
            else {
                "needed_gib": _gib(self.host.needed_bytes),
                "available_gib": None if self.host.available_bytes is None else _gib(self.host.available_bytes),
            },
        }


def _gib(size_bytes: float) -> float:
    return round(size_bytes / GIB, 3)


def _estimate_gib(estimate: Estimate) -> dict[str, float | str]:
    return Estimate(_gib(estimate.value), _gib(estimate.low), _gib(estimate.high), estimate.because).as_json()
