"""The agent loop: a server that is right to the end, one that forgets, one whose context is too short."""

from __future__ import annotations

import asyncio
import json

import pytest

from moonpad.cli.main import run
from moonpad.verify.api import connect
from moonpad.verify.loop import LoopResult, pages, run_loop
from tests.broken_endpoints.server import BrokenEndpoint, serve
from tests.unit.verify.fake_endpoint import Fake, served


def looped(calls: int, *faults: str, context: int = 65_536) -> LoopResult:
    async def ask() -> LoopResult:
        async with serve(BrokenEndpoint(frozenset(faults), context=context)) as at, connect(at) as api:
            return await run_loop(api, calls)

    return asyncio.run(ask())


def test_three_hundred_calls() -> None:
    result = looped(300)
    assert result.whole, result.as_json()
    assert result.made == 300


def test_the_turn_of_a_drift() -> None:
    result = looped(300, "forgets at turn 137")
    assert (result.made, result.whole) == (136, False)
    assert result.drift is not None
    assert result.drift.turn == 137
    assert "'elsewhere' was opened" in result.drift.because


@pytest.mark.parametrize(
    ("fault", "turn", "because"),
    [
        ("ids begin again", 2, "should count 1"),
        ("ids of another make", 1, "the id of a call"),
        ("no tool parser", 1, "0 calls"),
        ("thinking is in the content", None, ""),
        ("a call ends with stop", 1, "finish_reason is 'stop'"),
        ("the last brace is lost", 1, "no JSON"),
        ("the results of tools are lost", 2, "was named"),
    ],
)
def test_what_a_drift_is(fault: str, turn: int | None, because: str) -> None:
    drift = looped(3, fault).drift
    assert (drift and drift.turn) == turn
    assert drift is None or because in drift.because


def test_a_context_that_is_too_short_is_no_drift() -> None:
    result = looped(300, context=2000)
    assert result.drift is None
    assert 0 < result.made < 300
    assert "maximum context length" in result.ended


def test_pages_are_the_same_of_one_seed() -> None:
    assert pages(300, 1) == pages(300, 1) != pages(300, 2)
    assert len(set(pages(300, 1))) == 300


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    with served(Fake(faults=frozenset({"no tool parser"}))) as url:
        assert run(["verify", "--url", url, "--loop", "5", "--json"]) == 5
        assert json.loads(capsys.readouterr().out)["drift"]["turn"] == 1
        assert run(["verify", "--url", url, "--loop", "5", "--only", "chat"]) == 2
        assert run(["verify", "--url", url, "--loop", "0"]) == 2
