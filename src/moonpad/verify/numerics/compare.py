"""Two scorings of the same texts: how far apart they are, and how far they may be. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from moonpad.verify.numerics.scored import Scored

TIMES_FLOOR: Final = 3.0
"""How many times further apart two engines may be than noise moves one. Measured on the real vLLM: 1.0 where it is
right, 42 where it is not (benchmarks/results/numerics.json)."""

LEAST_MEAN: Final = 0.05
LEAST_LARGEST: Final = 1.0
LEAST_CHANGED: Final = 0.02
"""Rounding of bfloat16 in another order moves this much on engines that are both right, also where one of them gives
the same answer each time."""


@dataclass(frozen=True, slots=True)
class Place:
    """A position of a text, 0 for its first token."""

    text: str
    position: int


@dataclass(frozen=True, slots=True)
class Distance:
    """Absolute differences of natural log-probabilities over `positions` tokens.

    changed: the share of positions at which another token is the likeliest. first_changed: the first of them.
    """

    positions: int
    mean: float
    largest: float
    changed: float
    largest_at: Place
    first_changed: Place | None


@dataclass(frozen=True, slots=True)
class Limits:
    mean: float
    largest: float
    changed: float


def tokens_differ(wanted: Mapping[str, Scored], found: Mapping[str, Scored]) -> Place | None:
    """Where the two do not even read the same tokens: then nothing can be compared."""
    for name, one in wanted.items():
        other = found[name].tokens
        for position, (ours, theirs) in enumerate(zip(one.tokens, other, strict=False)):
            if ours != theirs:
                return Place(name, position)
        if len(one.tokens) != len(other):
            return Place(name, min(len(one.tokens), len(other)))
    return None


def distance(wanted: Mapping[str, Scored], found: Mapping[str, Scored]) -> Distance:
    """Of all texts together; both must have the same tokens (`tokens_differ`)."""
    gaps = [
        (abs(ours - theirs), Place(name, position))
        for name, one in wanted.items()
        for position, (ours, theirs) in enumerate(zip(one.logprobs, found[name].logprobs, strict=True), 1)
    ]
    changed = [
        Place(name, position)
        for name, one in wanted.items()
        for position, (ours, theirs) in enumerate(zip(one.likeliest, found[name].likeliest, strict=True), 1)
        if ours != theirs
    ]
    largest, where = max(gaps, key=lambda gap: gap[0])
    mean = sum(gap for gap, _ in gaps) / len(gaps)
    return Distance(len(gaps), mean, largest, len(changed) / len(gaps), where, changed[0] if changed else None)


def limits_of(floors: Sequence[Distance]) -> Limits:
    """From noise: how far a trusted engine is from itself (A/A), or rounding alone moves the model. Not from how far
    the judged engine is from itself: one that computes wrongly may do so in another way each time."""

    def limit(least: float, *seen: float) -> float:
        return max(least, TIMES_FLOOR * max(seen, default=0.0))

    return Limits(
        limit(LEAST_MEAN, *(floor.mean for floor in floors)),
        limit(LEAST_LARGEST, *(floor.largest for floor in floors)),
        limit(LEAST_CHANGED, *(floor.changed for floor in floors)),
    )


def beyond(distance: Distance, limits: Limits, other: str) -> list[str]:
    """What is further apart than it may be, one sentence each; none: the two compute the same."""
    found = []
    if distance.mean > limits.mean:
        found.append(
            f"log-probabilities differ from {other} by {distance.mean:.3f} on average, "
            f"at most {limits.mean:.3f} are noise"
        )
    if distance.largest > limits.largest:
        at = distance.largest_at
        found.append(
            f"from {other} by {distance.largest:.2f} at token {at.position} of {at.text}, "
            f"at most {limits.largest:.2f} are noise"
        )
    if distance.changed > limits.changed:
        found.append(
            f"another token than in {other} is the likeliest at {distance.changed:.1%} of the positions, "
            f"at most {limits.changed:.1%} are noise"
        )
    return found
