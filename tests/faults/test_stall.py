"""Hung, and only busy. An engine hangs where requests run, nothing moves, and one token does not come: all three."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from moonpad.facts.processes import send_signal
from tests.conftest import Moonpad
from tests.faults.helpers import (
    await_event,
    await_state,
    controller_of,
    events_of,
    pid_of_role,
    set_launch,
    status_of,
    streams,
    wait_until,
)

pytestmark = pytest.mark.usefixtures("clean_world")

HANGS = {"FAKE_HANG_AFTER": "20", "FAKE_HEALTH_LIES": "1"}
FOUND_S = 60.0  # after the last token, with the spec's own times


def hang(moonpad: Moonpad, spec: Path, port: int, stall_after_s: float, stall_probe_s: float) -> None:
    """An engine that hangs in its first generation only is found, said with its reasons, and comes back."""
    set_launch(
        spec, restarts=1, stall_after=f"{stall_after_s * 1000:.0f}ms", stall_probe=f"{stall_probe_s * 1000:.0f}ms"
    )
    once = {"FAKE_CRASHES": "1", "FAKE_COUNT": str(moonpad.home / "count")}
    assert moonpad("up", str(spec), **HANGS, **once).code == 0
    hung = streams(port, 2, 1000, timeout_s=600.0)
    hung.await_answered()
    stalled = await_event(moonpad, "stalled", stall_after_s + stall_probe_s + 30)
    assert stalled["running"] in (2, 3), "the canary may be taken in, and hang with the others"
    assert stalled["generation_tokens"] == 20
    assert stalled["still_s"] >= stall_after_s
    for reason in ("requests run", "nothing has moved", "one token did not come"):
        assert reason in stalled["reason"]
    ready = await_event(moonpad, "ready", 30.0, count=2)
    assert ready["generation"] == 2
    assert len(events_of(moonpad, "restarting")) == 1
    assert all(stream.error and not stream.finished for stream in hung.wait()), "its clients were not left waiting"
    (stream,) = streams(port, 1, 50).wait()
    assert (stream.finished, stream.tokens) == (True, 50)
    assert status_of(moonpad)["state"] == "ready"
    assert moonpad("down", "fake").code == 0


def test_hang_with_healthy_health(moonpad: Moonpad, fake_spec: Path, free_port: int) -> None:
    """Fault 9, scaled: found although `/health` is 200, and started again."""
    hang(moonpad, fake_spec, free_port, stall_after_s=1.0, stall_probe_s=0.5)


@pytest.mark.slow
def test_hang_in_full(moonpad: Moonpad, fake_spec: Path, free_port: int) -> None:
    """Fault 9, with the spec's own times: within sixty seconds of the last token."""
    hang(moonpad, fake_spec, free_port, stall_after_s=30.0, stall_probe_s=15.0)
    assert events_of(moonpad, "stalled")[0]["still_s"] <= FOUND_S


def test_hang_that_is_only_said(moonpad: Moonpad, fake_spec: Path, free_port: int) -> None:
    """Fault 9 with `restart_on_stall = false`: the state says it, and nobody touches the engine."""
    set_launch(fake_spec, restarts=3, restart_on_stall=False, stall_after="500ms", stall_probe="500ms")
    assert moonpad("up", str(fake_spec), **HANGS).code == 0
    engine = pid_of_role(moonpad, "api")
    hung = streams(free_port, 2, 1000)
    hung.await_answered()
    await_event(moonpad, "stalled")
    status = await_state(moonpad, "stalled")
    assert "requests run" in status["because"]
    controller = controller_of(moonpad)
    send_signal(*controller, signal.SIGKILL)  # what the next one makes of it
    await_event(moonpad, "controller_started", count=2)
    assert await_state(moonpad, "stalled")["because"] == status["because"]
    assert len(events_of(moonpad, "stalled")) == 1
    assert pid_of_role(moonpad, "api") == engine
    assert not events_of(moonpad, "restarting")
    down = moonpad("down", "fake")
    assert down.code == 0, down.stderr
    assert all(stream.error for stream in hung.wait())


def busy(moonpad: Moonpad, spec: Path, port: int, tokens: int, token_s: float, seconds: float) -> None:
    """64 requests of `tokens` tokens on one slot: the last one waits long, and so would a canary behind it."""
    assert moonpad("up", str(spec), FAKE_SLOTS="1", FAKE_TOKEN_S=str(token_s), FAKE_HEALTH_LIES="1").code == 0
    queue = streams(port, 64, tokens, timeout_s=3600.0)
    least = int(seconds / token_s)
    wait_until(lambda: queue.tokens >= least, lambda: f"{queue.tokens} of {least} tokens", 2 * least * token_s + 60)
    status = status_of(moonpad)
    assert (status["state"], len(events_of(moonpad, "ready"))) == ("ready", 1)
    assert not events_of(moonpad, "stalled")
    assert not events_of(moonpad, "restarting")
    assert moonpad("down", "fake").code == 0
    queue.wait()


def test_busy_is_not_hung(moonpad: Moonpad, fake_spec: Path, free_port: int) -> None:
    """Fault 10, scaled: the queue is ten times as long as a canary may take, and tokens flow."""
    set_launch(fake_spec, restarts=3, stall_after="500ms", stall_probe="200ms")
    busy(moonpad, fake_spec, free_port, tokens=10, token_s=0.08, seconds=3.0)


@pytest.mark.slow
def test_busy_is_not_hung_in_full(moonpad: Moonpad, fake_spec: Path, free_port: int) -> None:
    """Fault 10, in full: five minutes with the spec's own times."""
    set_launch(fake_spec, restarts=3, stall_after="30s", stall_probe="15s")
    busy(moonpad, fake_spec, free_port, tokens=480, token_s=0.1, seconds=300.0)
