"""Two scorings of the same texts: how far apart they are, and how far they may be. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

TIMES_FLOOR: Final = 3.0
"""How many times the noise of one engine two engines may differ. Measured on the real vLLM: 1.0 where it is right, 42
where it is wrong (benchmarks/results/numerics.json)."""

LEAST_MEAN: Final = 0.05
LEAST_LARGEST: Final = 1.0
LEAST_CHANGED: Final = 0.02
"""Summing bfloat16 in another order causes this much between two right engines, even if each repeats its own answers
exactly."""


@dataclass(frozen=True, slots=True)
class Scored:
    """`tokens` of the prompt, as the engine names them; for each after the first its log-probability (natural), and
    the token that the engine finds likeliest there. Both are one shorter than `tokens`."""

    tokens: tuple[str, ...]
    logprobs: tuple[float, ...]
    likeliest: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.tokens or not len(self.tokens) - 1 == len(self.logprobs) == len(self.likeliest):
            raise ValueError(
                f"{len(self.tokens)} tokens with {len(self.logprobs)} log-probabilities and "
                f"{len(self.likeliest)} likeliest tokens"
            )


@dataclass(frozen=True, slots=True)
class TokenPlace:
    """A position of a text, 0 for its first token."""

    text: str
    position: int


@dataclass(frozen=True, slots=True)
class Distance:
    """Absolute differences of natural log-probabilities over `positions` tokens.

    changed: the share of positions where another token is the likeliest. first_changed: the first of them.
    """

    positions: int
    mean: float
    largest: float
    changed: float
    largest_at: TokenPlace
    first_changed: TokenPlace | None


@dataclass(frozen=True, slots=True)
class NoiseLimits:
    mean: float
    largest: float
    changed: float


def tokens_differ(expected: Mapping[str, Scored], answers: Mapping[str, Scored]) -> TokenPlace | None:
    """Where the two read different tokens: then nothing can be compared."""
    for name, scored in expected.items():
        other = answers[name].tokens
        for position, (ours, theirs) in enumerate(zip(scored.tokens, other, strict=False)):
            if ours != theirs:
                return TokenPlace(name, position)
        if len(scored.tokens) != len(other):
            return TokenPlace(name, min(len(scored.tokens), len(other)))
    return None


def distance(expected: Mapping[str, Scored], answers: Mapping[str, Scored]) -> Distance:
    """Over all texts; both must have the same tokens (`tokens_differ`)."""
    gaps: list[tuple[float, TokenPlace]] = []
    changed: list[TokenPlace] = []
    for name, ours in expected.items():
        theirs = answers[name]
        rows = zip(ours.logprobs, theirs.logprobs, ours.likeliest, theirs.likeliest, strict=True)
        for position, (own, other, own_best, other_best) in enumerate(rows, 1):
            gaps.append((abs(own - other), TokenPlace(name, position)))
            if own_best != other_best:
                changed.append(TokenPlace(name, position))
    largest, where = max(gaps, key=lambda gap: gap[0])
    mean = sum(gap for gap, _ in gaps) / len(gaps)
    return Distance(len(gaps), mean, largest, len(changed) / len(gaps), where, changed[0] if changed else None)


def limits_of(floors: Sequence[Distance]) -> NoiseLimits:
    """From noise: how far a trusted engine is from itself (A/A), or how far rounding alone moves the model. The judged
    engine's distance from itself does not count: if it computes wrongly, it may do so in another way each time."""

    def limit(least: float, *noise: float) -> float:
        return max(least, TIMES_FLOOR * max(noise, default=0.0))

    return NoiseLimits(
        limit(LEAST_MEAN, *(floor.mean for floor in floors)),
        limit(LEAST_LARGEST, *(floor.largest for floor in floors)),
        limit(LEAST_CHANGED, *(floor.changed for floor in floors)),
    )


def beyond(distance: Distance, limits: NoiseLimits, other: str) -> list[str]:
    """What differs more than noise, one sentence each; none: the two compute the same."""
    sentences = []
    if distance.mean > limits.mean:
        sentences.append(
            f"log-probabilities differ from {other} by {distance.mean:.3f} on average; "
            f"noise explains at most {limits.mean:.3f}"
        )
    if distance.largest > limits.largest:
        at = distance.largest_at
        sentences.append(
            f"the log-probability at token {at.position} of {at.text} differs from {other} by {distance.largest:.2f}; "
            f"noise explains at most {limits.largest:.2f}"
        )
    if distance.changed > limits.changed:
        sentences.append(
            f"the likeliest token differs from {other} at {distance.changed:.1%} of the positions; "
            f"noise explains at most {limits.changed:.1%}"
        )
    return sentences
