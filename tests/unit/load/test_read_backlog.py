"""Work that waits is done in order, in short turns, and at once where something must not come before it."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from moonpad.load.read_backlog import TURN_S, Backlog


class Clock:
    """Each piece of work takes as long as the test says."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s

    def pass_by(self, seconds: float) -> None:
        self.now_s += seconds


def test_between_two_turns_others_come_in() -> None:
    clock = Clock()
    seen: list[str] = []

    def take(at_s: float, data: bytes) -> None:
        clock.now_s += 0.6 * TURN_S
        seen.append(f"{at_s:g} {data.decode()}")

    async def main() -> None:
        backlog = Backlog(clock)
        backlog.put(0.0, clock.pass_by, 0.6 * TURN_S)  # what comes alone is done at once, and what follows it waits
        for number, name in enumerate("abcd"):
            backlog.put(clock.now_s, take, float(number), name.encode())
        assert seen == []
        for _ in range(4):
            await asyncio.sleep(0)
            seen.append("others")

    asyncio.run(main())
    assert seen == ["0 a", "1 b", "others", "2 c", "3 d", "others", "others", "others"]


def test_work_that_fails_does_not_keep_what_is_behind_it() -> None:
    clock, seen, errors = Clock(), list[str](), list[str]()

    def fails() -> None:
        raise ValueError("it failed")

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: errors.append(str(context["exception"])))
        backlog = Backlog(clock)
        backlog.put(0.0, seen.append, "alone")
        backlog.put(0.0, fails)
        backlog.put(0.0, seen.append, "behind")
        for _ in range(3):
            await asyncio.sleep(0)

    asyncio.run(main())
    assert (seen, errors) == (["alone", "behind"], ["it failed"])


@given(st.lists(st.sampled_from("puw"), max_size=30))
def test_nothing_is_lost_or_overtaken(steps: list[str]) -> None:
    """put, clear (u) and wait in any order: what was put comes once, in its order."""
    clock, seen, put = Clock(), list[int](), 0

    def take(at_s: float, data: bytes) -> None:
        clock.now_s += TURN_S
        seen.append(round(at_s))

    async def main() -> None:
        nonlocal put
        backlog = Backlog(clock)
        for step in steps:
            if step == "p":
                backlog.put(clock.now_s, take, float(put), b"")
                put += 1
            elif step == "u":
                backlog.clear()
                assert len(seen) == put
            else:
                await asyncio.sleep(0)
        backlog.clear()

    asyncio.run(main())
    assert seen == list(range(put))
