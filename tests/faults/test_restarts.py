"""Crash loops and flapping: restarts are few, ever later, and counted; only what stays healthy is *stable*."""

from __future__ import annotations

import os
import signal
from itertools import pairwise
from pathlib import Path

import pytest

from tests.conftest import Moonpad
from tests.faults.helpers import (
    await_event,
    await_gone,
    await_state,
    events_of,
    everybody,
    pid_of_role,
    set_launch,
    status_of,
    streams,
)

pytestmark = pytest.mark.usefixtures("clean_world")


def crash_loop(moonpad: Moonpad, spec: Path, backoff_s: float, crash_at: str) -> None:
    """Four starts, each of which crashes soon after it was ready."""
    set_launch(spec, restarts=3, restart_backoff=f"{backoff_s * 1000:.0f}ms")
    up = moonpad.start("up", str(spec), "--foreground", FAKE_CRASH_AT=crash_at)
    _, errors = up.communicate(timeout=120)
    assert up.returncode == 4, errors
    assert "3" in errors
    restarts = events_of(moonpad, "restarting")
    assert [event["restart"] for event in restarts] == [1, 2, 3]
    assert [event["of"] for event in restarts] == [3, 3, 3]
    assert [event["delay_s"] for event in restarts] == [backoff_s, 2 * backoff_s, 4 * backoff_s]
    spawned = events_of(moonpad, "spawned")
    assert [event["generation"] for event in spawned] == [1, 2, 3, 4]
    for ended, restarting, begun in zip(events_of(moonpad, "ended"), restarts, spawned[1:], strict=False):
        assert begun["t_s"] - ended["t_s"] >= restarting["delay_s"], "it was waited for"
    assert len(events_of(moonpad, "giving_up")) == 1
    (failed,) = events_of(moonpad, "failed")
    assert failed["generation"] == 4
    status = status_of(moonpad)
    assert status["state"] == "failed"
    assert "3 restarts" in status["because"], status


def test_crash_loop(moonpad: Moonpad, fake_spec: Path) -> None:
    """Fault 12: at most three restarts, ever later; then it is final, and the command that stayed says so with 4."""
    crash_loop(moonpad, fake_spec, backoff_s=0.1, crash_at="ready+400ms")


@pytest.mark.slow
def test_crash_loop_in_full(moonpad: Moonpad, fake_spec: Path) -> None:
    """Fault 12, with the pauses that a spec has by default."""
    crash_loop(moonpad, fake_spec, backoff_s=2.0, crash_at="ready+1s")


@pytest.mark.slow
def test_restarted_engine_serves(moonpad: Moonpad, fake_spec: Path, free_port: int) -> None:
    """Fault 12: an engine that crashes once is there again, in the same run, at the same port."""
    set_launch(fake_spec, restarts=3)
    count = moonpad.home / "count"
    up = moonpad("up", str(fake_spec), "--json", FAKE_CRASH_AT="request:2", FAKE_CRASHES="1", FAKE_COUNT=str(count))
    assert up.code == 0, up.stderr
    first = everybody(moonpad)
    streams(free_port, 1, 5).wait()  # the second request, after the one that readiness asked for
    await_event(moonpad, "ready", count=2)
    (stream,) = streams(free_port, 1, 5).wait()
    assert stream.finished, stream
    status = await_state(moonpad, "ready")
    assert status["run"] == up.json["run"]
    assert status["pid"] not in first
    assert count.stat().st_size == 2, "two starts"
    (ended,) = events_of(moonpad, "ended")
    assert "exit 1" in ended["reason"]
    assert moonpad("down", "fake").code == 0


@pytest.mark.slow
def test_what_was_never_ready_is_not_tried_again(moonpad: Moonpad, fake_spec: Path) -> None:
    """Fault 12: before the first *ready* an end is final, whatever `restarts` says."""
    set_launch(fake_spec, restarts=3)
    up = moonpad("up", str(fake_spec), FAKE_CRASH_AT="load:40%")
    assert up.code == 4
    assert len(events_of(moonpad, "spawned")) == 1
    assert not events_of(moonpad, "restarting")


def test_down_ends_a_pause(moonpad: Moonpad, fake_spec: Path) -> None:
    """Fault 12: between two starts nothing runs, `status` says so, and `down` means down."""
    set_launch(fake_spec, restarts=3, restart_backoff="60s")
    assert moonpad("up", str(fake_spec)).code == 0
    living = everybody(moonpad)
    os.kill(pid_of_role(moonpad, "api"), signal.SIGKILL)
    await_event(moonpad, "restarting")
    status = status_of(moonpad)
    assert status["state"] == "starting", status
    assert moonpad("up", str(fake_spec)).code in (0, 3), "it is up, in its way"
    assert len(events_of(moonpad, "spawned")) == 1
    assert moonpad("down", "fake").code == 0
    await_gone(living, 5.0)
    assert status_of(moonpad)["state"] == "stopped"
    assert len(events_of(moonpad, "spawned")) == 1


def flapping(moonpad: Moonpad, spec: Path, flap_s: float, until_s: float, min_healthy_s: float) -> None:
    """`/health` is 200 and 503 in turns of `flap_s` until `until_s`, and 200 from then on."""
    assert flap_s < min_healthy_s
    set_launch(spec, restarts=3, min_healthy=f"{min_healthy_s * 1000:.0f}ms")
    up = moonpad("up", str(spec), FAKE_FLAP_S=str(flap_s), FAKE_FLAP_UNTIL_S=str(until_s))
    assert up.code == 0, up.stderr
    stable = await_event(moonpad, "stable", until_s + min_healthy_s + 30)
    (ready,) = events_of(moonpad, "ready")
    failing = events_of(moonpad, "unhealthy")
    assert failing, "it was seen"
    assert ready["t_s"] < failing[-1]["t_s"], "a sound engine is ready at once"
    for before, after in pairwise([*failing, stable]):
        assert before["t_s"] < after["t_s"], "stable is the last word"
    assert stable["t_s"] - failing[-1]["t_s"] >= min_healthy_s
    assert len(events_of(moonpad, "spawned")) == 1, "flapping is not a reason to start again"
    assert moonpad("down", "fake").code == 0


def test_flapping(moonpad: Moonpad, fake_spec: Path) -> None:
    """Fault 13, scaled: *stable* waits for a quiet stretch; *ready* does not."""
    flapping(moonpad, fake_spec, flap_s=0.8, until_s=3.2, min_healthy_s=1.2)


@pytest.mark.slow
def test_flapping_in_full(moonpad: Moonpad, fake_spec: Path) -> None:
    """Fault 13, in full: two seconds each, for a minute; thirty seconds make it stable."""
    flapping(moonpad, fake_spec, flap_s=2.0, until_s=60.0, min_healthy_s=30.0)
