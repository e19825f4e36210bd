"""The controller, killed at any instant of whole histories."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from moonpad.observe.readiness import ProbeAnswer
from moonpad.store.run_folder import RunFolder
from moonpad.values.supervision import Policy, State
from tests.unit.run.rig import NOBODY, POLICY, Engine, Rig, hanging


def check_history(rig: Rig) -> None:
    """What must be so however often the controller was killed: nothing twice, and nothing forgotten."""
    events = list(rig.folder.events())
    generation, seen = 0, set()
    for event in events:
        if event["event"] == "spawned":
            generation, seen = event["generation"], set()
        what = (event["event"], event.get("phase"), event.get("percent"))
        if event["event"] not in ("unhealthy", "failed"):
            assert what not in seen, f"twice in generation {generation}: {what}"
        seen.add(what)
    restarts = [event for event in events if event["event"] == "restarting"]
    assert [event["restart"] for event in restarts] == list(range(1, len(restarts) + 1))
    assert len(rig.times("spawned")) == len(restarts) + 1
    for event, at_s in zip(restarts, rig.times("spawned")[1:], strict=True):
        assert at_s + 1000.01 - event["t_s"] >= event["delay_s"], "not before its time"


def crash_loop(folder: Path, kill_at: Iterable[int]) -> Rig:
    """Fault 8 within fault 12: a fourth restart never, and the end as if nothing had been."""
    rig = Rig(RunFolder("kimi", folder), kill_at=frozenset(kill_at))
    rig.engine = lambda _: Engine(dies_at_s=20.0)
    rig.prepare(POLICY)
    rig.run(600.0)
    check_history(rig)
    assert len(rig.times("restarting")) == 3
    assert (rig.state, rig.because) == ("failed", "vllm ended: exit 1; given up after 3 restarts within 1 h 00 min")
    return rig


def one_hang(folder: Path, kill_at: Iterable[int]) -> Rig:
    """Fault 8 within fault 9: one hang, one restart."""
    rig = Rig(RunFolder("kimi", folder), kill_at=frozenset(kill_at))
    rig.engine = lambda generation: hanging(10.0) if generation == 1 else Engine()
    rig.prepare(POLICY)
    for until_s in range(150, 1000, 10):  # a controller that is killed begins its watch again
        rig.run(until_s)
        if rig.generation == 2 and rig.written.stable:
            break
    check_history(rig)
    assert len(rig.times("stalled")) == 1
    assert rig.generation == 2
    assert (rig.written.state, rig.written.stable) == (State.READY, True)
    return rig


HISTORIES = pytest.mark.parametrize("history", [crash_loop, one_hang])


@HISTORIES
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kill_at=st.sets(st.integers(1, 500), max_size=12))
def test_killed_anywhere(
    tmp_path_factory: pytest.TempPathFactory, history: Callable[..., Rig], kill_at: set[int]
) -> None:
    """Between any two of the things that it does, and in rows."""
    history(tmp_path_factory.mktemp("run"), kill_at)


@pytest.mark.slow
@HISTORIES
def test_killed_everywhere(tmp_path_factory: pytest.TempPathFactory, history: Callable[..., Rig]) -> None:
    """At each third of the things that it does, one after the other."""
    last = history(tmp_path_factory.mktemp("whole"), ()).calls
    assert last > 300
    for call in range(1, last + 1, 3):
        history(tmp_path_factory.mktemp("run"), (call,))


def test_the_next_one_knows_what_the_last_one_knew(rig: Rig) -> None:
    rig.engine = lambda _: hanging(60.0)
    rig.prepare(Policy(restart_on_stall=False))
    rig.run(50.0)
    rig.alive = None
    rig.run(52.0)
    assert (rig.written.state, rig.written.stable) == (State.READY, True)
    rig.run(150.0)
    because = rig.written.because
    rig.alive = None
    rig.controller().tick()
    assert (rig.written.state, rig.written.because, rig.written.stable) == (State.STALLED, because, True)
    check_history(rig)
    assert rig.probes.count("token") == 2, "the first one, and one canary"


@pytest.mark.parametrize("answer", [ProbeAnswer(500, "no"), NOBODY])
def test_killed_between_the_verdict_and_the_word(rig: Rig, answer: ProbeAnswer) -> None:
    """`refused` or `overdue` stand in the events, and the keeper never heard of it."""
    rig.engine = lambda _: Engine(token=lambda _: answer) if answer.status else Engine(load_s=1000.0)
    rig.prepare(POLICY)
    rig.deaf_until = 2000.0
    rig.run(80.0)
    assert rig.requests == []
    rig.deaf_until, rig.alive = 0.0, None
    rig.run(90.0)
    assert rig.told_words == ["fail"]
    assert len([name for name in rig.names if name in ("refused", "overdue")]) == 1
