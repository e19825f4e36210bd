"""Which plan comes first for a goal, by what is predicted: the choice, what it beats, the regret that it may have, and
the front of what one user gets against what a device gives."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from moonpad.values.estimate import Estimate
from moonpad.values.prediction import Prediction
from moonpad.values.records import replace
from moonpad.values.workload import Workload

SpeedGoal = Literal["latency", "throughput", "cost", "context"]
Limits = Mapping[str, float]
"""Seconds by the names of the figures: `ttft_s`, `tpot_s`, `e2el_s`."""

SAME: Final = 0.02
"""Plans closer to each other than this are equal: the documented order of layouts decides (plan/ranking.py)."""
CLIENTS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
"""The loads that are tried where none is asked for, and those of the front."""


REFINED: Final = 4
"""Loads that are tried between the largest that keeps the limits and the next."""


@dataclass(frozen=True, slots=True)
class LoadPoint:
    """One plan, by its place among the plans, at one load."""

    plan: int
    prediction: Prediction

    @property
    def per_user(self) -> float:
        return self.prediction.output_tokens_per_s_per_user.value

    @property
    def per_device(self) -> float:
        return self.prediction.output_tokens_per_s_per_device.value


@dataclass(frozen=True, slots=True)
class SpeedVerdict:
    """`order`: the places of the plans, best first. `gain`: how much better the first is than the second, as a share;
    its low end is above 0 where that is more than the ranges of both. `regret`: how much better than the first another
    may be, as a share, by the ends of ranges that are taken to be independent."""

    order: tuple[int, ...]
    kept: bool
    """The first keeps every limit."""
    gain: Estimate | None
    regret: float
    rival: int | None
    """The plan that the regret is against."""


def load_points(
    predictions: Iterable[tuple[int, Callable[[Workload], Prediction | None]]],
    workload: Workload,
    clients: Sequence[int] = CLIENTS,
) -> tuple[LoadPoint, ...]:
    """Every plan in a closed loop at growing numbers of clients, up to the one from which it gives no more."""
    points = []
    for plan, predict in predictions:
        before = 0.0
        for count in clients:
            prediction = predict(replace(workload, concurrency=count, rate_per_s=None, arrivals_s=(), requests=None))
            if prediction is None:
                break
            points.append(LoadPoint(plan, prediction))
            rate = prediction.output_tokens_per_s.value
            if rate <= before * (1 + SAME):
                break  # all further clients wait
            before = rate
    return tuple(points)


def refined(
    points: Sequence[LoadPoint], predict: Callable[[Workload], Prediction | None], goal: SpeedGoal, limits: Limits
) -> list[LoadPoint]:
    """More points of one plan, between the largest load that keeps the limits and the next."""
    kept = [point for point in points if missed(point.prediction, limits) <= 1]
    if goal == "latency" or not limits or not kept or len(kept) == len(points):
        return []
    low = max(_clients(point) for point in kept)
    high = min((_clients(point) for point in points if _clients(point) > low), default=low)
    found = []
    for _ in range(REFINED):
        middle = round(math.sqrt(low * high))
        if not low < middle < high:
            break
        workload = replace(points[0].prediction.workload, concurrency=middle)
        if (prediction := predict(workload)) is None:
            break
        found.append(LoadPoint(points[0].plan, prediction))
        low, high = (middle, high) if missed(prediction, limits) <= 1 else (low, middle)
    return found


def _clients(point: LoadPoint) -> int:
    return point.prediction.workload.concurrency or 1


def front_of(points: Sequence[LoadPoint], limits: Limits) -> tuple[LoadPoint, ...]:
    """Those that keep the limits and that no other beats in both figures, the fastest for one user first."""
    kept = sorted((point for point in points if missed(point.prediction, limits) <= 1), key=_fastest_user)
    front: list[LoadPoint] = []
    for point in kept:
        if not front or point.per_device > front[-1].per_device:
            front.append(point)
    return tuple(front)


def _fastest_user(point: LoadPoint) -> tuple[float, float, int]:
    return -point.per_user, -point.per_device, point.plan


def missed(prediction: Prediction, limits: Limits) -> float:
    """The largest figure over its limit; 1 or less where all are kept. An open loop that is not kept up with keeps no
    limit."""
    over = [getattr(prediction, name).value / limit for name, limit in limits.items()]
    if prediction.saturated:
        over.append(1.0 + 1 / max(prediction.requests_per_s.value, 1e-9))
    return max(over, default=0.0)


def worth(prediction: Prediction, goal: SpeedGoal) -> Estimate:
    """More is better: answers a second that one client gets one after the other, or tokens a second of a device."""
    if goal != "latency":
        return prediction.output_tokens_per_s_per_device
    whole = prediction.e2el_s
    return Estimate(1 / whole.value, 1 / whole.high, 1 / max(whole.low, whole.value * 1e-3), whole.because)


def best_load(points: Sequence[LoadPoint], goal: SpeedGoal, limits: Limits) -> LoadPoint:
    """Of one plan's points. Raises ValueError where there is none."""
    return min(points, key=lambda point: _key(point.prediction, goal, limits))


def _key(prediction: Prediction, goal: SpeedGoal, limits: Limits) -> tuple[float, float]:
    over = missed(prediction, limits)
    return max(1.0, over), -worth(prediction, goal).value


def verdict(
    predictions: Mapping[int, Prediction],
    goal: SpeedGoal,
    limits: Limits,
    last: Mapping[int, int],
    wanted: int | None = None,
) -> SpeedVerdict:
    """`predictions` by the places of plans, which are in the documented order. `last`: the group of a plan, of which
    smaller ones come first whatever is predicted (plans that surely fit). `wanted`: the plan that a person asked for,
    which comes first whatever the others give.

    Raises:
        ValueError: nothing is predicted.
    """
    if not predictions:
        raise ValueError("nothing is predicted")
    by_speed = sorted(predictions, key=lambda place: (last[place], *_key(predictions[place], goal, limits)))
    order: list[int] = []
    while by_speed:
        # The first in the documented order among those that are as good as the best of the rest.
        best = by_speed[0]
        over = max(1.0, missed(predictions[best], limits))
        alike = [place for place in by_speed if last[place] == last[best] and _alike(predictions, best, place, goal)]
        alike = [place for place in alike if missed(predictions[place], limits) <= over]
        order.append(min(alike))
        by_speed.remove(order[-1])
    if wanted in order:
        order.insert(0, order.pop(order.index(wanted)))
    first = predictions[order[0]]
    able = [place for place in order[1:] if missed(predictions[place], limits) <= 1 or missed(first, limits) > 1]
    able = [place for place in able if last[place] == last[order[0]]]
    gain = _ratio(worth(first, goal), worth(predictions[able[0]], goal)) if able else None
    regret, rival = 0.0, None
    for place in able:
        ahead = _ratio(worth(predictions[place], goal), worth(first, goal)).high
        if ahead > regret:
            regret, rival = ahead, place
    return SpeedVerdict(tuple(order), missed(first, limits) <= 1, gain, regret, rival)


def _alike(predictions: Mapping[int, Prediction], best: int, other: int, goal: SpeedGoal) -> bool:
    return worth(predictions[other], goal).value >= worth(predictions[best], goal).value * (1 - SAME)


def gain_over(left: Estimate, right: Estimate) -> Estimate:
    """How much more `left` is, as a share. Its low end is above 0 where that is more than the ranges of both."""
    return _ratio(left, right)


def _ratio(left: Estimate, right: Estimate) -> Estimate:
    """left / right - 1. The squares of independent relative errors add up."""
    share = left.value / right.value
    down = math.hypot(math.log(left.value / left.low), math.log(right.high / right.value))
    up = math.hypot(math.log(left.high / left.value), math.log(right.value / right.low))
    return Estimate(share - 1, share * math.exp(-down) - 1, share * math.exp(up) - 1, "ranges taken to be independent")


def usd_per_million_tokens(prediction: Prediction, devices: int, usd_per_device_hour: float) -> Estimate:
    """Of output tokens; prompts are not counted."""
    rate = prediction.output_tokens_per_s
    hour = devices * usd_per_device_hour / 3600 * 1e6
    return Estimate(hour / rate.value, hour / rate.high, hour / rate.low, rate.because)
