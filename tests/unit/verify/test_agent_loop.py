"""The agent loop: a server that is right to the end, one that forgets, one whose context is too short."""

from __future__ import annotations

import asyncio
import json
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from moonpad.cli.command_line import run
from moonpad.verify.agent_loop import LoopResult, pages, run_loop, turn_of
from moonpad.verify.api import connect
from tests.broken_endpoints.server import BrokenEndpoint, serve
from tests.threaded import threaded
from tests.unit.verify.fake_endpoint import Fake, served

CALL = {"id": "functions.open_page:0", "type": "function", "function": {"name": "open_page", "arguments": "{}"}}
TURN: dict[str, Any] = {
    "turn": 1,
    "seconds": 0.5,
    "prompt_tokens": 90,
    "because": "",
    "answer": {"role": "assistant", "content": "", "tool_calls": [CALL], "finish_reason": "tool_calls"},
    "result": "next: bababa",
}


def broken(*faults: str, **more: Any) -> AbstractContextManager[str]:
    return threaded(serve(BrokenEndpoint(frozenset(faults), **more)))


def looped(calls: int, *faults: str, context: int = 65_536) -> LoopResult:
    async def ask() -> LoopResult:
        async with serve(BrokenEndpoint(frozenset(faults), context=context)) as at, connect(at) as api:
            return await run_loop(api, calls)

    return asyncio.run(ask())


def test_three_hundred_calls() -> None:
    result = looped(300)
    assert result.complete, result.as_json()
    assert result.made == 300


def test_the_turn_of_a_drift() -> None:
    result = looped(300, "forgets at turn 137")
    assert (result.made, result.complete) == (136, False)
    assert result.drift is not None
    assert result.drift.number == 137
    assert "'elsewhere' was opened" in result.drift.because


@pytest.mark.parametrize(
    ("fault", "turn", "because"),
    [
        ("ids begin again", 2, "should count 1"),
        ("ids of another make", 1, "the id of a call"),
        ("no tool parser", 1, "0 calls"),
        ("thinking is in the content", 1, "thinking is in the content"),
        ("a call ends with stop", 1, "finish_reason is 'stop'"),
        ("the last brace is lost", 1, "not JSON"),
        ("the results of tools are lost", 2, "was named"),
    ],
)
def test_what_a_drift_is(fault: str, turn: int | None, because: str) -> None:
    drift = looped(3, fault).drift
    assert (drift and drift.number) == turn
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
        assert run(["verify", "--url", url, "--loop", "5", "--numerics"]) == 2
        assert run(["verify", "--url", url, "--loop", "0"]) == 2


def test_turns_are_kept_as_they_come_and_it_goes_on_from_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A server whose context ends ends the first run; one with more of it gets the whole history, and the rest."""
    folder = tmp_path / "loop"
    argv = ["--loop", "20", "--out", str(folder), "--json"]
    with broken(context=1000) as url:
        assert run(["verify", "--url", url, *argv]) == 5
    first = json.loads(capsys.readouterr().out)
    assert 0 < first["made"] < 20
    lines = [json.loads(line) for line in (folder / "turns.jsonl").read_text().splitlines()]
    assert lines[0] == {"calls": 20, "seed": 0}
    assert [line["turn"] for line in lines[1:]] == list(range(1, first["made"] + 1))
    with broken() as url:
        assert run(["verify", "--url", url, *argv]) == 0
        assert run(["verify", "--url", url, *argv, "--seed", "1"]) == 2
    kept = [json.loads(line)["turn"] for line in (folder / "turns.jsonl").read_text().splitlines()[1:]]
    assert kept == list(range(1, 22))
    verdict = json.loads((folder / "verdict.json").read_text())
    assert (verdict["made"], verdict["drift"], verdict["ended"]) == (20, None, "")


def test_a_drift_is_asked_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["--loop", "140", "--out", str(tmp_path), "--json"]
    with broken("forgets at turn 137") as url:
        assert run(["verify", "--url", url, *argv]) == 5
        assert run(["verify", "--url", url, *argv]) == 5
    with broken() as url:
        assert run(["verify", "--url", url, *argv]) == 0
        assert run(["verify", "--url", url, *argv]) == 0
    assert "traceback" not in capsys.readouterr().err.lower()


def test_a_contact_that_is_lost_costs_no_turn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with broken(dies_after=7) as url:
        assert run(["verify", "--url", url, "--loop", "20", "--out", str(tmp_path), "--json"]) == 6
    document = json.loads(capsys.readouterr().out)
    assert document["made"] == 7
    assert document["ended"]
    assert len((tmp_path / "turns.jsonl").read_text().splitlines()) == 8


@pytest.mark.parametrize(
    "row", [{}, {"turn": 1}, {**TURN, "answer": {}}, {**TURN, "answer": None}, {**TURN, "result": 3}]
)
def test_a_line_that_is_no_turn_is_left_out(row: dict[str, object]) -> None:
    assert turn_of(row) is None


def test_a_turn_comes_back_as_it_was() -> None:
    turn = turn_of(TURN)
    assert turn is not None
    assert turn.as_json() == TURN
