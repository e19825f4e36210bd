"""When requests arrive in an open loop: seconds since the run began, whatever the server does. Pure.

The gaps of Poisson and gamma arrivals are those of `vllm bench serve`: a gamma distribution of shape `burstiness` and
mean 1/rate. vLLM stretches its gaps so that the last request comes at exactly requests/rate; here they are as drawn, so
the offered rate of a short run differs from the requested one, and the report gives both.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from random import Random
from typing import Final, Literal

from moonpad.values.errors import UsageError

LEAST_RATE: Final = 1e-6
"""A request in twelve days: less is a slip."""
LEAST_BURSTINESS: Final = 1e-3
Kind = Literal["constant", "poisson", "gamma"]


@dataclass(frozen=True, slots=True)
class Arrivals:
    """A rate in requests a second, above 0; `math.inf`: all at once.

    burstiness: the gamma distribution's shape, for `gamma` alone; 1 is Poisson, below it is burstier.
    """

    rate: float
    kind: Kind = "poisson"
    burstiness: float = 1.0

    def __post_init__(self) -> None:
        if not self.rate >= LEAST_RATE:
            raise UsageError(f"--rate must be above 0, not {self.rate:g}", remedy="or inf: all at once")
        if not LEAST_BURSTINESS <= self.burstiness <= 1 / LEAST_BURSTINESS:
            raise UsageError(f"--burstiness must be above 0, not {self.burstiness:g}", remedy="1 is Poisson")
        if self.burstiness != 1.0 and self.kind != "gamma":
            raise UsageError(f"--burstiness needs gamma arrivals, not {self.kind}", remedy="add --arrivals gamma")

    def instants_s(self, count: int, seed: int) -> tuple[float, ...]:
        """The first is at 0. The same seed gives the same instants."""
        if math.isinf(self.rate):
            return (0.0,) * count
        dice = Random(f"moonpad arrivals {seed}")  # noqa: S311 - must repeat; nothing secret hangs on it
        gaps = (self._gap_s(dice) for _ in range(count - 1))
        return tuple(accumulate(gaps, initial=0.0))[:count]

    def _gap_s(self, dice: Random) -> float:
        if self.kind == "constant":
            return 1.0 / self.rate
        shape = self.burstiness if self.kind == "gamma" else 1.0
        return dice.gammavariate(shape, 1.0 / (self.rate * shape))


def replayed(instants_s: Iterable[float], speed: float = 1.0) -> tuple[float, ...]:
    """The instants of a trace, sorted and from 0 on; `speed` 2 plays it in half the time.

    Raises:
        UsageError: a time is not finite, or the speed is not above 0.
    """
    instants = sorted(instants_s)
    if not speed > 0 or not math.isfinite(speed):
        raise UsageError(f"--speed must be above 0, not {speed:g}", remedy="2 plays the trace twice as fast")
    if not all(map(math.isfinite, instants)):
        raise UsageError("the trace has a timestamp that is not a number", remedy="give seconds or milliseconds")
    return tuple((instant_s - instants[0]) / speed for instant_s in instants)


def offered_rate(instants_s: Sequence[float]) -> float | None:
    """Requests a second between the first arrival and the last; None where they all came at once."""
    span_s = instants_s[-1] - instants_s[0] if instants_s else 0.0
    return (len(instants_s) - 1) / span_s if span_s > 0 else None
