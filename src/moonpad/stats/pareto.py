"""Which of several points nothing beats in both directions at once. Pure."""

from __future__ import annotations

from collections.abc import Sequence

Point = tuple[float, float]


def pareto_front(points: Sequence[Point]) -> list[int]:
    """The places of those that no other is above in one and at least equal in the other, by rising x.

    Of equal points all are in it or none.
    """
    front: list[int] = []
    best_y = float("-inf")
    last: Point | None = None
    for place in sorted(range(len(points)), key=lambda at: points[at], reverse=True):
        if points[place][1] > best_y or points[place] == last:
            front.append(place)
            best_y, last = points[place][1], points[place]
    return front[::-1]
