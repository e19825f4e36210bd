"""When the rounds of a warm-up have found their pace."""

from __future__ import annotations

import pytest

from moonpad.tune.pace import Pace


@pytest.mark.parametrize(
    ("rounds_s", "steady_at"),
    [
        ((1.0, 1.0), 2),
        ((1.92, 1.35, 0.75, 0.81), 4),  # the first start with graphs on an H200
        ((3.57, 3.03, 2.0, 1.7, 1.65), 5),
        ((1.02, 0.94, 2.92), 2),
        ((1.0, 2.0, 1.0, 1.0), 4),  # slower is no sign of it
        ((4.0, 2.0, 1.0, 0.5), None),
    ],
)
def test_two_rounds_in_a_row_near_the_fastest(rounds_s: tuple[float, ...], steady_at: int | None) -> None:
    pace = Pace()
    steady = [number for number, round_s in enumerate(rounds_s, 1) if pace.is_steady(round_s)]
    assert (steady[0] if steady else None) == steady_at
