"""What one device holds, and what is left for the KV cache. Bytes throughout; GiB only where people read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from moonpad.values.checkpoint import Component
from moonpad.values.estimate import Estimate
from moonpad.values.units import GIB

End = Literal["value", "low", "high"]


@dataclass(frozen=True, slots=True)
class HostMemory:
    """Host RAM of a node, for engines that keep experts there. `available_bytes` None: unknown."""

    needed_bytes: int
    available_bytes: int | None


@dataclass(frozen=True, slots=True)
class Memory:
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
    """What all sequences together may hold, over the decode-context-parallel ranks; whole blocks."""
    max_context: Estimate
    """The longest single sequence, capped by the model's own limit."""
    context: int
    """The context that was asked for, or that the plan chose."""
    concurrency_at_context: Estimate
    stages: tuple[int, ...] = ()
    """Bytes of weights per device of each pipeline stage."""
    host: HostMemory | None = None
    overhead_parts: Mapping[str, float] = field(default_factory=dict)
    """The parts of `overhead.value` by name, in bytes, where a model and no measured run gave it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", MappingProxyType(dict(self.weights)))
        object.__setattr__(self, "overhead_parts", MappingProxyType(dict(self.overhead_parts)))

    @property
    def weights_bytes(self) -> int:
        return sum(self.weights.values())

    @property
    def measured(self) -> bool:
        return self.overhead.because.startswith("measured")

    def reach(self, sequences: int = 1, end: End = "value") -> int:
        """The longest context that so many sequences of a replica can have at once."""
        return int(min(getattr(self.max_context, end), getattr(self.kv_tokens, end) // sequences))

    def holds(self, context: int, sequences: int = 1, end: End = "value") -> bool:
        return self.host_fits and self.reach(sequences, end) >= context

    @property
    def fits(self) -> bool:
        """False where even the optimistic end does not hold the context."""
        return self.holds(self.context, end="high")

    @property
    def tight(self) -> bool:
        """Only the optimistic end holds the context."""
        return self.fits and not self.holds(self.context)

    @property
    def host_fits(self) -> bool:
        host = self.host
        return host is None or host.available_bytes is None or host.needed_bytes <= host.available_bytes

    def as_json(self) -> dict[str, object]:
        """The keys of `memory` in design/cli.md."""
        return {
            "device_gib": _gib(self.device_bytes),
            "budget_gib": _gib(self.budget_bytes),
            "weights_gib": _gib(self.weights_bytes),
            "weights": {str(name): _gib(size) for name, size in self.weights.items()},
            "overhead_gib": _estimate_gib(self.overhead),
            "kv_bytes_per_token": self.kv_bytes_per_token,
            "kv_gib": _estimate_gib(self.kv_bytes),
            "kv_tokens": self.kv_tokens.as_json(),
            "max_context": self.max_context.as_json(),
            "context": self.context,
            "concurrency_at_context": self.concurrency_at_context.as_json(),
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
