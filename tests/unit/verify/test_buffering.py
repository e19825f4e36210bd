"""A stream that comes at once is the proxy's fault, unless the client itself stood still."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest

from moonpad.verify.api import Api
from moonpad.verify.probe import Outcome, Status
from moonpad.verify.probes import streaming
from moonpad.verify.probes.streaming import LONGER, STORY_TOKENS, timely

STEADY = [0.1 * number for number in range(1, 40)]
AT_ONCE = [3.9 + 0.001 * number for number in range(40)]


@pytest.mark.parametrize(
    ("arrivals", "client_late_s", "status"),
    [
        (STEADY, 0.0, Status.PASS),
        (STEADY, 2.0, Status.PASS),
        (AT_ONCE, 0.0, Status.FAIL),
        (AT_ONCE, 0.1, Status.FAIL),
        (AT_ONCE, 3.5, Status.SKIP),
    ],
)
def test_whose_fault_it_is(arrivals: list[float], client_late_s: float, status: Status) -> None:
    assert timely(arrivals, client_late_s).status is status


@pytest.mark.parametrize(
    ("looks", "status", "asked"),
    [
        ([(STEADY, 2.0)], Status.PASS, [STORY_TOKENS]),
        ([(AT_ONCE, 1.3), (STEADY, 6.0)], Status.PASS, [STORY_TOKENS, LONGER * STORY_TOKENS]),
        ([(AT_ONCE, 1.3), (AT_ONCE, 6.0)], Status.FAIL, [STORY_TOKENS, LONGER * STORY_TOKENS]),
        ([([0.1] * 40, 0.1), (STEADY, 6.0)], Status.PASS, [STORY_TOKENS, LONGER * STORY_TOKENS]),
        ([(AT_ONCE, 30.0), (AT_ONCE, 30.0)], Status.FAIL, [STORY_TOKENS, STORY_TOKENS]),
    ],
)
def test_one_late_stream_is_looked_at_again(
    monkeypatch: pytest.MonkeyPatch, looks: list[tuple[list[float], float]], status: Status, asked: list[int]
) -> None:
    """A gateway that stood still for the second that a short stream took does not buffer; a longer one tells."""
    seen: list[int] = []

    async def story(api: Api, tokens: int) -> tuple[Outcome, float]:
        arrivals, whole_s = looks[len(seen)]
        seen.append(tokens)
        return timely(arrivals, 0.0), whole_s

    monkeypatch.setattr(streaming, "_story", story)
    assert asyncio.run(streaming.judge_buffering(cast(Api, None))).status is status
    assert seen == asked
