"""A figure of a plan, to stand beside what is measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from moonpad.values.estimate import Estimate


@dataclass(frozen=True, slots=True)
class Planned:
    """`name` ends in the unit. `measured`: what the engine itself said of it at its start; None where it did not."""

    name: str
    estimate: Estimate
    measured: float | None = None

    def as_json(self) -> dict[str, Any]:
        return {**self.estimate.as_json(), "measured": self.measured}
