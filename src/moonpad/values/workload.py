"""What clients ask of an endpoint: how long prompts and answers are, and how requests arrive."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Final

from msgspec import Struct

POINTS: Final = 33
"""Of the inverse distribution that is kept of samples or of a log-normal distribution."""


class Lengths(Struct, frozen=True):
    """A distribution of lengths in tokens: its inverse, at evenly spaced probabilities from 0 to 1, linear between."""

    quantiles: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.quantiles or self.quantiles[0] < 1 or any(not math.isfinite(q) for q in self.quantiles):
            raise ValueError("lengths are at least 1 token")
        if list(self.quantiles) != sorted(self.quantiles):
            raise ValueError("quantiles ascend")

    @classmethod
    def fixed(cls, tokens: float) -> Lengths:
        return cls((float(tokens),))

    @classmethod
    def uniform(cls, low: float, high: float) -> Lengths:
        return cls((float(low), float(high)))

    @classmethod
    def lognormal(cls, mean: float, variation: float) -> Lengths:
        """`variation` is the standard deviation over the mean. The ends are cut at the half steps beyond the points."""
        if variation <= 0:
            return cls.fixed(mean)
        sigma = math.sqrt(math.log1p(variation**2))
        middle, normal = math.log(mean) - sigma**2 / 2, NormalDist()
        places = [min(max(number / (POINTS - 1), 0.25 / POINTS), 1 - 0.25 / POINTS) for number in range(POINTS)]
        cut = cls(tuple(max(1.0, math.exp(middle + sigma * normal.inv_cdf(place))) for place in places))
        return cls(tuple(max(1.0, point * mean / cut.mean) for point in cut.quantiles))

    @classmethod
    def of(cls, samples: Sequence[float]) -> Lengths:
        """Of lengths that were seen. Raises ValueError where there are none."""
        ordered = sorted(samples)
        if len(ordered) <= POINTS:
            return cls(tuple(map(float, ordered)))
        places = (number * (len(ordered) - 1) / (POINTS - 1) for number in range(POINTS))
        return cls(tuple(_between(ordered, place) for place in places))

    @property
    def mean(self) -> float:
        if len(self.quantiles) == 1:
            return self.quantiles[0]
        inner = sum(self.quantiles) - (self.quantiles[0] + self.quantiles[-1]) / 2
        return inner / (len(self.quantiles) - 1)

    @property
    def longest(self) -> float:
        return self.quantiles[-1]

    def at(self, probability: float) -> float:
        """The length that is not exceeded with this probability."""
        return _between(self.quantiles, probability * (len(self.quantiles) - 1))

    def times(self, factor: float) -> Lengths:
        return Lengths(tuple(max(1.0, length * factor) for length in self.quantiles))


def _between(ordered: Sequence[float], place: float) -> float:
    low = min(int(place), len(ordered) - 1)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


class Workload(Struct, frozen=True):
    """Closed loop: `concurrency` clients, each of which sends its next request when the last answer is complete. Open
    loop: `rate_per_s` requests a second arrive at random (Poisson), and at most `concurrency` of them are in flight
    where that is given too.

    `input` counts the whole prompt, the shared part of it too; `output` at least one token.
    """

    input: Lengths
    output: Lengths
    concurrency: int | None = None
    rate_per_s: float | None = None
    shared_prefix: float = 0.0
    """The share of each prompt that the engine has seen before: a system prompt, earlier turns."""
    requests: int | None = None
    """None: ten for each of those in flight, at least 40 and at most 1,000."""
    chat: bool = False
    """Asked in messages: TTFT is that of the first token that a client sees, without a `<think>` that the server takes
    out."""
    arrivals_s: tuple[float, ...] = ()
    """Open loop: when each request arrives, in place of a Poisson process. One simulated request for each."""
    acceptance: float | None = None
    """The probability that a token of a draft is accepted; None: what the constants say."""
    name: str = ""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.concurrency is None and self.rate_per_s is None:
            raise ValueError("a workload needs a concurrency or a rate")
        if self.concurrency is not None and self.concurrency < 1:
            raise ValueError(f"concurrency is at least 1, got {self.concurrency}")
        if self.rate_per_s is not None and not self.rate_per_s > 0:
            raise ValueError(f"a rate is above 0, got {self.rate_per_s}")
        if not 0 <= self.shared_prefix < 1:
            raise ValueError(f"shared_prefix is at least 0 and below 1, got {self.shared_prefix}")
        if self.acceptance is not None and not 0 <= self.acceptance <= 1:
            raise ValueError(f"acceptance is between 0 and 1, got {self.acceptance}")
        if self.arrivals_s and (self.rate_per_s is None or [*self.arrivals_s] != sorted(self.arrivals_s)):
            raise ValueError("arrivals ascend, and have a rate")
        if self.requests is not None and self.requests < 1:
            raise ValueError(f"at least 1 request, got {self.requests}")

    @property
    def open_loop(self) -> bool:
        return self.rate_per_s is not None

    @property
    def count(self) -> int:
        """How many requests are simulated."""
        if self.arrivals_s:
            return len(self.arrivals_s)
        if self.requests is not None:
            return self.requests
        return min(1000, max(40, 10 * (self.concurrency or 40)))
