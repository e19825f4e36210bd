"""The controller against a keeper, an engine and a clock of our own: whole histories in no time, killed anywhere."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from moonpad.facts.processes import read_boot_id, read_start
from moonpad.observe.metrics import EngineLoad
from moonpad.observe.readiness import ProbeAnswer
from moonpad.run.controller_state import ControllerState, read_controller
from moonpad.values.supervision import Policy, State
from tests.unit.run.rig import HEALTHY, IN_VAIN, POLICY, SHARDS, SICK, TOKEN, Engine, Rig, hanging

# --- a start


def test_a_start(rig: Rig) -> None:
    rig.prepare(POLICY)
    rig.run(60.0)
    phases = [(event["phase"], event["percent"]) for event in rig.events if event["event"] == "phase"]
    assert phases == [("loading weights", 0), ("loading weights", 40), ("loading weights", 100)]
    assert rig.names == ["phase"] * 3 + ["healthy", "ready", "stable"]
    ready = rig.one_event("ready")
    assert (ready["seen_by"], ready["generation"]) == ("controller", 1)
    assert 3.0 <= rig.times("ready")[0] <= 4.0
    assert rig.times("stable")[0] - rig.times("ready")[0] == pytest.approx(30.0, abs=1.0)
    assert rig.told_words == ["ready"]
    fields = rig.requests[0][2]
    assert fields["generation"] == 1
    assert fields["asked_s"] == pytest.approx(rig.requests[0][0] - ready["token_s"], abs=0.2), "when it was asked for"
    assert rig.probes.count("token") == 1
    assert rig.written == ControllerState(
        os.getpid(), read_start(os.getpid()), read_boot_id(), 1, State.READY, "/health answers 200", True, 0
    )
    assert rig.written.is_alive


def test_the_state_while_it_starts(rig: Rig) -> None:
    rig.prepare(POLICY)
    rig.run(2.0)
    assert (rig.written.state, rig.written.because) == (State.STARTING, "loading weights 40%")


def test_refused(rig: Rig) -> None:
    rig.engine = lambda _: Engine(token=lambda _: ProbeAnswer(500, "the engine core died"))
    rig.prepare(POLICY)
    rig.run(60.0)
    assert rig.names[-2:] == ["healthy", "refused"]
    assert "500: the engine core died" in rig.one_event("refused")["answer"]
    (_, do, fields) = rig.requests[-1]
    assert do == "fail"
    assert fields["reason"] == ("/health answered 200, and the first real request failed (500: the engine core died)")
    assert rig.state == "failed"
    assert "ready" not in rig.told_words


def test_overdue(rig: Rig) -> None:
    rig.engine = lambda _: Engine(load_s=1000.0)
    rig.prepare(POLICY)
    rig.run(100.0)
    assert rig.times("overdue")[0] == pytest.approx(60.0, abs=0.5)
    assert rig.one_event("overdue")["budget_s"] == 60.0
    assert rig.requests == [
        (rig.requests[0][0], "fail", {"reason": "not ready after 60 s, the last phase was: loading weights 0%"})
    ]


def test_the_budget_counts_from_the_spawn(rig: Rig) -> None:
    """Not from the start of a controller that was killed meanwhile."""
    rig.engine = lambda _: Engine(load_s=1000.0)
    rig.kill_at = frozenset(range(100, 10_000, 100))
    rig.prepare(POLICY)
    rig.run(100.0)
    assert rig.times("overdue")[0] == pytest.approx(60.0, abs=2.0)


def test_an_engine_that_dies_on_its_first_token_is_the_keepers(rig: Rig) -> None:
    """No answer at all is not a refusal: the keeper knows how it ended, and says it."""
    rig.engine = lambda _: Engine(dies_at_s=3.3, token=lambda _: ProbeAnswer(None, "connection reset"))
    rig.prepare(POLICY)
    rig.run(60.0)
    assert rig.requests == []
    assert rig.because == "vllm ended: exit 1"


def test_no_answer_again_and_again_is_a_refusal(rig: Rig) -> None:
    rig.engine = lambda _: Engine(token=lambda _: ProbeAnswer(None, "connection reset"))
    rig.prepare(POLICY)
    rig.run(60.0)
    assert rig.told_words == ["fail"]
    assert "no answer: connection reset" in rig.because


def test_the_last_words_of_a_dead_engine_are_read(rig: Rig) -> None:
    rig.prepare(POLICY)
    controller = rig.controller()
    controller.tick()
    with rig.folder.log_path.open("a") as log:
        log.write(SHARDS.format(80))
    rig.end("vllm ended: exit 1", final=True)
    assert controller.tick() is None
    assert rig.one_event("phase")["percent"] == 80


# --- an engine that ends


def test_a_crash_loop_is_bounded(rig: Rig) -> None:
    """Fault 12: three restarts, longer and longer pauses, then the end, and it is said."""
    rig.engine = lambda _: Engine(dies_at_s=5.0)
    rig.prepare(POLICY)
    rig.run(600.0)
    restarts = [event for event in rig.events if event["event"] == "restarting"]
    assert [(event["delay_s"], event["restart"], event["of"]) for event in restarts] == [
        (2.0, 1, 3),
        (4.0, 2, 3),
        (8.0, 3, 3),
    ]
    assert all(event["reason"] == "vllm ended: exit 1" for event in restarts)
    spawned = rig.times("spawned")
    assert len(spawned) == 4
    for event, at_s in zip(restarts, spawned[1:], strict=True):
        assert at_s + 1000.01 - event["t_s"] >= event["delay_s"]
    reason = "vllm ended: exit 1; given up after 3 restarts within 1 h 00 min"
    assert rig.one_event("giving_up")["reason"] == reason
    assert (rig.state, rig.because) == ("failed", reason)


def test_restarts_that_are_long_ago_do_not_count(rig: Rig) -> None:
    rig.engine = lambda _: Engine(dies_at_s=2000.0)
    rig.prepare(POLICY)
    rig.run(12_000.0)
    delays = [event["delay_s"] for event in rig.events if event["event"] == "restarting"]
    assert delays == [2.0, 4.0, 4.0, 4.0, 4.0]
    assert rig.state == "running"
    assert rig.written.restarts == 5


def test_the_state_while_it_waits(rig: Rig) -> None:
    rig.engine = lambda _: Engine(dies_at_s=5.0)
    rig.prepare(Policy(restart_backoff_s=100.0))
    rig.run(30.0)
    assert rig.state == "waiting"
    assert rig.written.state is State.STARTING
    assert rig.written.because == "waiting to be restarted: vllm ended: exit 1"
    assert rig.written.restarts == 1


def test_a_stop_while_it_waits_is_obeyed(rig: Rig) -> None:
    rig.engine = lambda _: Engine(dies_at_s=5.0)
    rig.prepare(Policy(restart_backoff_s=100.0))
    rig.run(30.0)
    rig.state = "stopped"
    rig.write()
    rig.run(300.0)
    assert "start" not in rig.told_words


def test_a_later_generation_that_cannot_start_counts_as_an_end(rig: Rig) -> None:
    """The keeper decides whether it is one more end or the last."""
    rig.engine = lambda generation: Engine(dies_at_s=5.0) if generation == 1 else Engine(load_s=1000.0)
    rig.prepare(POLICY)
    rig.run(200.0)
    (_, do, fields) = rig.requests[-1]
    assert do == "cycle"
    assert "not ready after 60 s" in fields["reason"]


# --- an engine that hangs


def test_a_hang_is_found_and_ended(rig: Rig) -> None:
    rig.engine = lambda generation: hanging() if generation == 1 else Engine()
    rig.prepare(POLICY)
    rig.run(200.0)
    stalled = rig.one_event("stalled")
    assert 65.0 <= rig.times("stalled")[0] <= 80.0, "at most 60 s after the last token"
    assert (stalled["running"], stalled["waiting"], stalled["generation_tokens"]) == (3.0, 1.0, 20.0)
    assert stalled["still_s"] >= 45.0
    assert rig.told_words == ["ready", "cycle", "start", "ready"]
    assert rig.requests[1][2] == {"reason": stalled["reason"]}
    assert rig.one_event("restarting")["reason"] == stalled["reason"]
    assert rig.written.state is State.READY
    assert rig.written.generation == 2


def test_a_hang_that_is_only_to_be_seen(rig: Rig) -> None:
    rig.engine = lambda _: Engine(
        metrics=lambda age_s: EngineLoad(3.0, 0.0, 0.5, min(age_s, 20.0) if age_s < 300 else age_s, 10.0),
        token=lambda age_s: IN_VAIN if 20 < age_s < 300 else TOKEN,
    )
    rig.prepare(Policy(restart_on_stall=False))
    rig.run(200.0)
    assert rig.written.state is State.STALLED
    assert rig.written.because == rig.one_event("stalled")["reason"]
    rig.run(400.0)
    assert rig.written.state is State.READY
    assert rig.names[-2:] == ["stalled", "recovered"]
    assert rig.told_words == ["ready"]


def test_busy_is_not_hung(rig: Rig) -> None:
    """Fault 10: 64 long requests and one slot. The canary waits in the queue, tokens flow, in bursts."""
    rig.engine = lambda _: Engine(
        metrics=lambda age_s: EngineLoad(1.0, 63.0, 0.9, age_s // 35, 10.0),
        token=lambda age_s: TOKEN if age_s < 5 else IN_VAIN,
    )
    rig.prepare(POLICY)
    rig.run(3600.0)
    assert rig.names == ["phase"] * 3 + ["healthy", "ready", "stable"]
    assert rig.told_words == ["ready"]


def test_an_engine_without_a_counter_is_never_hung(rig: Rig) -> None:
    rig.engine = lambda _: Engine(
        metrics=lambda _: EngineLoad(3.0, 0.0, 0.5, None, None), token=lambda age_s: TOKEN if age_s < 5 else IN_VAIN
    )
    rig.prepare(POLICY)
    rig.run(300.0)
    assert rig.told_words == ["ready"]
    assert rig.probes.count("token") == 1
    assert rig.written.because == (
        "/health answers 200; hangs cannot be detected: /metrics has no count of generated tokens"
    )


# --- probes


def test_flapping_delays_only_stable(rig: Rig) -> None:
    """Fault 13."""
    rig.engine = lambda _: Engine(health=lambda age_s: SICK if age_s < 100 and age_s // 2 % 2 else HEALTHY)
    rig.prepare(POLICY)
    rig.run(200.0)
    assert rig.times("ready")[0] <= 5.0, "a token is a token"
    assert rig.times("stable")[0] >= 130.0
    assert 20 <= len(rig.times("unhealthy")) <= 25, "once for each change"
    assert "503" in next(event for event in rig.events if event["event"] == "unhealthy")["reason"]
    assert rig.told_words == ["ready"]


def test_the_state_while_probes_fail(rig: Rig) -> None:
    rig.engine = lambda _: Engine(health=lambda age_s: SICK if age_s > 20 else HEALTHY)
    rig.prepare(POLICY)
    rig.run(60.0)
    assert (rig.written.state, rig.written.because) == (State.READY, "/health: 503")
    assert rig.written.stable is False


def test_scaled_time_is_looked_at_more_often(rig: Rig) -> None:
    rig.engine = lambda _: hanging(5.0)
    rig.prepare(Policy(stall_after_s=1.0, min_healthy_s=1.0, restart_on_stall=False))
    rig.run(60.0)
    assert rig.times("stable")[0] - rig.times("ready")[0] == pytest.approx(1.0, abs=0.25)
    assert rig.times("stalled")[0] == pytest.approx(5.0 + 1.0 + 15.0, abs=0.5)


# --- the process


def test_the_process(rig: Rig) -> None:
    """Ctrl-C is not for it, TERM ends it at once, and it says what it sees."""
    rig.now = time.monotonic()
    rig.prepare(POLICY)
    child = subprocess.Popen(
        (sys.executable, "-P", "-m", "moonpad.run.controller", str(rig.folder.path), "kimi"),
        cwd=rig.folder.path,
        stderr=subprocess.PIPE,
    )
    try:
        until = time.monotonic() + 30.0
        while (state := read_controller(rig.folder)) is None:
            assert child.poll() is None
            assert time.monotonic() < until
            time.sleep(0.02)
        assert (state.pid, state.state, state.because) == (child.pid, State.STARTING, "starting")
        child.send_signal(signal.SIGINT)
        child.send_signal(signal.SIGHUP)
        with rig.folder.log_path.open("a") as log:
            log.write(SHARDS.format(40))
        while (state := read_controller(rig.folder)) is None or state.because != "loading weights 40%":
            assert child.poll() is None, "it goes on"
            assert time.monotonic() < until
            time.sleep(0.02)
        child.terminate()
        assert child.wait(10.0) == -signal.SIGTERM
        assert not state.is_alive
    finally:
        child.kill()
        child.communicate()
