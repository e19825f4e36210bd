"""A derived figure travels with its range and its reason."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Estimate:
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

    def as_json(self) -> dict[str, float | str]:
        return {"value": self.value, "low": self.low, "high": self.high, "because": self.because}
