"""A workload's requests, drawn the same each time for a seed."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from moonpad.values.workload import Lengths, Workload


@dataclass(frozen=True, slots=True)
class Requests:
    """By number: when each may be sent, tokens of its prompt and of its answer, and how many of the prompt the engine
    has in its prefix cache once the first request has been served."""

    arrival_s: list[float]
    prompt: list[int]
    answer: list[int]
    cached: list[int]

    def __len__(self) -> int:
        return len(self.prompt)


def draw_requests(workload: Workload, *, prefix_caching: bool = True) -> Requests:
    """Lengths are stratified: of n requests one has a length from each n-th of the distribution, in random order, so
    that a short run has the workload's own mean. Arrivals are those of the workload, else a Poisson process; in a
    closed loop all at once.
    """
    count, random = workload.count, Random(workload.seed)  # noqa: S311
    prompt, answer = _stratified(workload.input, count, random), _stratified(workload.output, count, random)
    share = workload.shared_prefix if prefix_caching else 0.0
    cached = [min(length - 1, int(length * share)) for length in prompt]
    arrivals = [0.0] * count
    if workload.arrivals_s:
        arrivals = [at - workload.arrivals_s[0] for at in workload.arrivals_s]
    elif workload.rate_per_s is not None:
        now = 0.0
        for number in range(count):
            now += random.expovariate(workload.rate_per_s)
            arrivals[number] = now
    return Requests(arrivals, prompt, answer, cached)


def _stratified(lengths: Lengths, count: int, random: Random) -> list[int]:
    if len(lengths.quantiles) == 1:
        return [max(1, round(lengths.quantiles[0]))] * count
    drawn = [max(1, round(lengths.at((number + random.random()) / count))) for number in range(count)]
    random.shuffle(drawn)
    return drawn
