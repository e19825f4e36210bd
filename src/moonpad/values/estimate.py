"""A derived figure travels with its range and its reason."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class Estimate(Struct, frozen=True):
    """`low <= value <= high`, all in the unit that the name of the holder gives; `because` says where it came from."""

    value: float
    low: float
    high: float
    because: str

    def __post_init__(self) -> None:
        if not self.low <= self.value <= self.high:
            raise ValueError(f"an estimate needs low <= value <= high, got {self.low}, {self.value}, {self.high}")

    @classmethod
    def exact(cls, value: float, because: str) -> Estimate:
        return cls(value, value, value, because)

    def times(self, factor: float) -> Estimate:
        return Estimate(self.value * factor, self.low * factor, self.high * factor, self.because)

    def as_json(self) -> dict[str, float | str]:
        return {"value": self.value, "low": self.low, "high": self.high, "because": self.because}


class Planned(Struct, frozen=True):
    """A figure of a plan, to stand beside what is measured. `name` ends in the unit. `measured`: what the engine itself
    said of it at its start; None where it did not.
    """

    name: str
    estimate: Estimate
    measured: float | None = None

    def as_json(self) -> dict[str, Any]:
        return {**self.estimate.as_json(), "measured": self.measured}
