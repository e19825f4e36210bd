"""The Pareto front, against looking at all pairs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from moonpad.stats.pareto import pareto_front

numbers = st.integers(0, 8).map(float)


@given(st.lists(st.tuples(numbers, numbers), max_size=30))
def test_it_is_what_nothing_beats(points: list[tuple[float, float]]) -> None:
    def beaten(point: tuple[float, float]) -> bool:
        return any(other != point and other[0] >= point[0] and other[1] >= point[1] for other in points)

    front = pareto_front(points)
    assert sorted(front) == [place for place, point in enumerate(points) if not beaten(point)]
    assert [points[place][0] for place in front] == sorted(points[place][0] for place in front)


def test_a_faster_user_costs_throughput() -> None:
    assert pareto_front([(10.0, 5.0), (4.0, 9.0), (4.0, 8.0), (3.0, 9.0), (10.0, 5.0)]) == [1, 4, 0]
