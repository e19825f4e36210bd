"""Whatever waits for an instant is done at it, in order, by one timer."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from moonpad.load.timers import SOON_S, Timers


class Leaping(selectors.SelectSelector):
    """Where a loop would sleep, its clock is put on."""

    now_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.now_s += max(0.0, timeout or 0.0)
        return super().select(0)


class ByLeaps(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.leaping = Leaping()
        super().__init__(self.leaping)

    def time(self) -> float:
        return self.leaping.now_s


def at_once(step: Callable[[], None]) -> None:
    step()


instants = st.lists(st.floats(-1.0, 5.0), max_size=12)


@given(instants, instants)
def test_each_is_done_once_at_its_instant_whenever_it_was_given(first: list[float], later: list[float]) -> None:
    done: list[tuple[float, float]] = []

    async def main() -> None:
        clock = asyncio.get_running_loop().time
        waits = Timers(clock, at_once)
        for instant_s in first:
            waits.at(instant_s, lambda at=instant_s: done.append((at, clock())))
        await asyncio.sleep(1.5)
        for instant_s in later:
            waits.at(instant_s, lambda at=instant_s: done.append((max(at, 1.5), clock())))
        await asyncio.sleep(6.0)

    with asyncio.Runner(loop_factory=ByLeaps) as runner:
        runner.run(main())
    assert sorted(at for at, _ in done) == sorted([*first, *(max(at, 1.5) for at in later)])
    assert all(abs(max(0.0, at) - done_s) <= SOON_S + 1e-6 for at, done_s in done)


def test_what_one_does_may_wait_again_and_what_fails_is_told() -> None:
    done: list[str] = []

    def run_step(step: Callable[[], None]) -> None:
        try:
            step()
        except ValueError as error:
            done.append(str(error))

    async def main() -> None:
        waits = Timers(asyncio.get_running_loop().time, run_step)

        def fails() -> None:
            raise ValueError("it failed")

        def again() -> None:
            done.append("once")
            waits.at(1.0, lambda: done.append("in the past"))
            waits.at(2.5, lambda: done.append("again"))

        waits.at(2.0, again)
        waits.at(2.0, fails)
        waits.at(3.0, lambda: done.append("never"))
        await asyncio.sleep(2.7)
        waits.forget()
        await asyncio.sleep(2.0)

    with asyncio.Runner(loop_factory=ByLeaps) as runner:
        runner.run(main())
    assert done == ["once", "in the past", "it failed", "again"]
