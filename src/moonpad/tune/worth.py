"""How good a measured load was, in one number of which more is better; when it is hopeless; what a ratio is. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, median, stdev
from typing import Final, Literal

from moonpad.stats.bootstrap import CONFIDENCE, Quantile, Ratio, ratios_of

TuneGoal = Literal["latency", "throughput"]
UNITS: Final = {"good": "good requests/s", "throughput": "output tokens/s", "latency": "answers/s of one client"}
SLICES: Final = 20
HOPELESS: Final = 0.7
"""A run whose best possible end is below this share of the default's worth is given up."""
LOOK_FROM: Final = 0.25
"""Not before this share of its requests has ended."""
LOOK_FROM_S: Final = 5.0
"""Nor before this time: a machine that stands still for a second would look like a slow setting."""
FASTER_YET: Final = 2.0
"""What is left of a run may go so many times faster than what was seen of it, and still not save it."""
Z: Final = NormalDist().inv_cdf(1 - (1 - CONFIDENCE) / 2)
FAILED_SHARE: Final = 0.01
"""More failed requests than this, beyond those of the default, rule a setting out."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A request that has ended: seconds since the run began. `tokens` of its answer; `good`: it succeeded, within every
    limit if there are some."""

    started_s: float
    ended_s: float
    tokens: int
    ok: bool
    good: bool


def unit_of(goal: TuneGoal, *, limits: bool) -> str:
    return UNITS["good" if limits else goal]


def worth_of(requests: Sequence[Ended], duration_s: float, goal: TuneGoal, *, limits: bool) -> float:
    """Good requests a second where there are limits (goodput), else output tokens a second, or for `latency` answers a
    second that one client gets one after the other: 1 over the median of their whole time. 0 where nothing succeeded.
    """
    if duration_s <= 0:
        return 0.0
    if goal == "latency":
        whole = [one.ended_s - one.started_s for one in requests if one.ok]
        return 1 / median(whole) if whole and median(whole) > 0 else 0.0
    return sum(_weight(one, limits=limits) for one in requests) / duration_s


def _weight(one: Ended, *, limits: bool) -> float:
    return float(one.good) if limits else float(one.tokens if one.ok else 0)


def samples_of(requests: Sequence[Ended], duration_s: float, goal: TuneGoal, *, limits: bool) -> tuple[float, ...]:
    """What is drawn from to say how sure the worth of one run is: the worth in equal slices of the run, up to the last
    request's start, a request's share spread evenly over its time; for `latency` one value a request."""
    if goal == "latency":
        return tuple(1 / (one.ended_s - one.started_s) for one in requests if one.ok and one.ended_s > one.started_s)
    if not requests or duration_s <= 0:
        return ()
    last_s = max(one.started_s for one in requests)
    end_s = last_s if duration_s / 2 < last_s < duration_s else duration_s
    width_s = end_s / SLICES
    slices = [0.0] * SLICES
    for one in requests:
        weight, length_s = _weight(one, limits=limits), max(one.ended_s - one.started_s, 1e-9)
        first, last = int(one.started_s / width_s), int(min(one.ended_s, end_s) / width_s)
        for place in range(max(0, first), min(SLICES - 1, last) + 1):
            inside_s = min(one.ended_s, (place + 1) * width_s) - max(one.started_s, place * width_s)
            slices[place] += weight * max(0.0, inside_s) / length_s / width_s
    return tuple(slices)


def best_possible(
    requests: Sequence[Ended], elapsed_s: float, count: int, goal: TuneGoal, *, limits: bool
) -> float | None:
    """The most that a run of `count` requests may still be worth, `elapsed_s` after it began; None where it is too
    early to say. Every request that is left succeeds within the limits, `FASTER_YET` times as fast as those before."""
    if elapsed_s < LOOK_FROM_S or len(requests) < max(4, LOOK_FROM * count) or len(requests) >= count:
        return None
    left = count - len(requests)
    if goal == "latency":
        whole = sorted(one.ended_s - one.started_s for one in requests if one.ok)
        fastest = whole[0] / FASTER_YET if whole else elapsed_s
        values = sorted([*whole, *[fastest] * left])
        return 1 / median(values)
    done = sum(_weight(one, limits=limits) for one in requests)
    each = 1.0 if limits else fmean([one.tokens for one in requests if one.ok] or [0])
    return (done + left * each) / (elapsed_s * (1 + left / (FASTER_YET * len(requests))))


def is_hopeless(
    requests: Sequence[Ended], elapsed_s: float, count: int, goal: TuneGoal, default: float, *, limits: bool
) -> bool:
    """`default`: the worth of the default at the same load; 0 where that is not known."""
    most = best_possible(requests, elapsed_s, count, goal, limits=limits)
    return most is not None and most < HOPELESS * default


def ratio_of_runs(default: Sequence[float], other: Sequence[float], *, questions: int = 1) -> Ratio | None:
    """Of the mean worths of whole runs, each pair with the same prompts. None where the default's is 0."""
    paired = len(default) == len(other)
    return ratios_of(default, other, {"worth": fmean}, paired=paired, questions=questions).get("worth")


def widened(ratio: Ratio, default: Sequence[float]) -> Ratio:
    """With how far the default's own visits are apart, which one run of a candidate cannot show: the squares of both
    add up, on the logarithm. Of fewer than three visits nothing is known."""
    if len(default) < 3 or ratio.low is None or ratio.high is None or min(default) <= 0 or ratio.value <= 0:
        return ratio
    apart = Z * stdev([math.log(worth) for worth in default])
    up = math.exp(math.hypot(math.log(ratio.high / ratio.value), apart))
    return Ratio(ratio.value, ratio.value / up, ratio.value * up)


def ratio_within(default: Sequence[float], other: Sequence[float], value: float, goal: TuneGoal) -> Ratio:
    """`value`: the ratio of two single runs; the interval is that of their samples, which knows nothing of how much one
    start differs from the next."""
    of = Quantile(0.5) if goal == "latency" else fmean
    found = ratios_of(default, other, {"worth": of}).get("worth")
    if found is None or found.low is None or found.high is None:
        return Ratio(value)
    return Ratio(value, value * found.low / found.value, value * found.high / found.value)
