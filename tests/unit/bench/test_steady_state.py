"""The window by hand, and by an oracle that looks at every instant."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.bench.metrics import LEAST_SHARE, NEARLY, metrics_of, steady_window
from tests.unit.bench.records import record


def test_the_ends_of_a_run_are_no_part_of_it() -> None:
    assert steady_window([0.0, 1.0, 2.0, 5.0], [9.0, 5.0, 8.0, 9.0]) == (2.0, 8.0)


def test_a_burst_that_is_over_at_once_has_no_window() -> None:
    assert steady_window([0.0, 1.0, 50.0, 50.0], [100.0, 2.0, 51.0, 51.0]) is None
    assert steady_window([], []) is None


spans = st.lists(
    st.tuples(st.integers(0, 50), st.integers(1, 50)).map(lambda pair: (pair[0], pair[0] + pair[1])), min_size=1
)


@given(spans)
def test_it_lies_where_nearly_all_run(rows: list[tuple[int, int]]) -> None:
    actual = steady_window([float(start) for start, _ in rows], [float(end) for _, end in rows])
    first, last = min(start for start, _ in rows), max(end for _, end in rows)
    running = {at: sum(start <= at < end for start, end in rows) for at in range(first, last)}
    enough = NEARLY * max(running.values())
    full = [at for at, count in running.items() if count >= enough]
    window = (float(full[0]), float(full[-1] + 1))
    wide = window[1] - window[0] >= LEAST_SHARE * (last - first)
    assert actual == (window if wide else None)


def test_its_throughput_counts_the_tokens_within() -> None:
    """Two users: the second begins at 1 and ends at 3; within are the chunks at 1, 2 and 3, two tokens each."""
    long = record(0, tokens_at_s=(0.5, 1.0, 2.0, 3.0, 4.0), output_tokens=10)
    short = record(1, scheduled_s=1.0, tokens_at_s=(1.5, 3.0), output_tokens=2)
    steady = metrics_of([long, short], 4.0).steady
    assert steady is not None
    assert (steady.from_s, steady.to_s) == (1.0, 3.0)
    assert steady.output_throughput == pytest.approx((3 * 2 + 2) / 2.0)
