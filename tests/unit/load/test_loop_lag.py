"""A loop that stands still is late by as long, by a clock that the test moves."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.load.loop_lag import EVERY_S, LoopLag, watch_lag


def test_wakes_that_come_late() -> None:
    now_s = 0.0

    async def main() -> LoopLag:
        nonlocal now_s
        async with watch_lag(lambda: now_s) as lag:
            while len(lag.late_s) < 2:
                await asyncio.sleep(EVERY_S / 2)
                now_s += 0.5  # two of these, or more, for one wake
        return lag

    lag = asyncio.run(main())
    assert all(late_s >= 0.5 - EVERY_S for late_s in lag.late_s)
    assert lag.p99_s >= 0.9 * (0.5 - EVERY_S)
    assert LoopLag().p99_s == 0.0


def test_one_pause_counts_by_its_length() -> None:
    """Half a second of ten: what comes in its first 0.4 s, which is in 4 of 100, waits for more than 0.1 s."""
    lag = LoopLag()
    lag.late_s.extend([0.0] * 475 + [0.5])
    assert lag.p99_s == pytest.approx(0.4, abs=0.001)
    assert lag.longest_s == 0.5
    short = LoopLag()
    short.late_s.extend([0.0] * 475 + [0.05])
    assert short.p99_s == 0.0


@given(st.lists(st.floats(0.0, 0.5), max_size=40))
def test_it_is_what_instants_drawn_at_random_wait(late_s: list[float]) -> None:
    """By a walk over the whole time in steps of a millisecond, beside the closed form."""
    lag = LoopLag()
    lag.late_s.extend(late_s)
    walks = ([0.0] * 20 + [late - (step + 0.5) / 1000 for step in range(int(late * 1000))] for late in late_s)
    waits_s = sorted(wait_s for walk in walks for wait_s in walk)
    exact = waits_s[int(0.99 * len(waits_s))] if waits_s else 0.0
    assert lag.p99_s == pytest.approx(exact, abs=0.004)
