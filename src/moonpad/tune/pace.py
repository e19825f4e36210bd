"""Whether an engine that was just started has found its pace. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

NEAR: Final = 1.15
"""Rounds of about the same time differ by less than this factor."""


@dataclass(slots=True)
class Pace:
    """Rounds of the same requests, one after the other."""

    fastest_s: float = math.inf
    steady: int = 0

    def is_steady(self, round_s: float) -> bool:
        """With this round: two in a row took about as long as the fastest. A slower one is no sign of it, and a faster
        one begins anew."""
        if round_s * NEAR < self.fastest_s:
            self.steady = 1
        else:
            self.steady = self.steady + 1 if round_s <= NEAR * self.fastest_s else 0
        self.fastest_s = min(self.fastest_s, round_s)
        return self.steady > 1
