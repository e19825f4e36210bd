"""A loop that stands still is late by as long, by a clock that the test moves."""

import asyncio

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
    assert lag.p99_s >= 0.5 - EVERY_S
    assert LoopLag().p99_s == 0.0


def test_one_pause_counts_by_its_length() -> None:
    """Half a second of ten is more than a hundredth, though it is one wake-up of five hundred."""
    lag = LoopLag()
    lag.late_s.extend([0.0] * 475 + [0.5])
    assert (lag.p99_s, lag.longest_s) == (0.5, 0.5)
    short = LoopLag()
    short.late_s.extend([0.0] * 475 + [0.05])
    assert short.p99_s == 0.0
