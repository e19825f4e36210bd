"""A watch of the fake engine: under load, stopped by SIGSTOP, hung, killed, restarted, down. The user's requests are
never touched."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from moonpad.facts.processes import send_signal
from tests.conftest import Moonpad
from tests.faults.helpers import await_event, await_state, owned_of, pid_of_role, set_launch, streams

pytestmark = [pytest.mark.usefixtures("clean_world"), pytest.mark.slow]


def watched(moonpad: Moonpad) -> dict[str, Any]:
    ended = moonpad("watch", "fake", "--once", "--every", "500ms", "--json")
    assert ended.code == 0, ended.stderr
    (row,) = json.loads(ended.stdout)["endpoints"]
    return dict(row)


def codes(row: dict[str, Any]) -> list[str]:
    return [alert["code"] for alert in row["alerts"]]


def test_sound_under_load_and_then_down(moonpad: Moonpad, fake_spec: Path, free_port: int) -> None:
    assert moonpad("up", str(fake_spec)).code == 0
    load = streams(free_port, 3, 2000, timeout_s=120.0)
    load.await_answered()
    row = watched(moonpad)
    assert (row["state"], row["generation"], row["restarts"], row["alerts"]) == ("ready", 1, 0, [])
    assert row["running"] == 3
    assert row["tokens_per_s"]["out"] > 0
    assert row["kv_tokens"]["planned"]
    assert row["log"]
    assert all(stream.finished and stream.tokens == 2000 for stream in load.wait())
    table = moonpad("watch", "--once", "--every", "500ms")
    assert table.code == 0
    assert "\x1b" not in table.stdout, "a pipe has no colours"
    assert moonpad("down", "fake").code == 0
    row = watched(moonpad)
    assert (row["state"], row["alerts"]) == ("stopped", []), "down on purpose"
    assert moonpad("watch", "--once").code == 2, "nothing is up"


def test_an_engine_that_is_stopped_does_not_hang_the_watch(moonpad: Moonpad, fake_spec: Path) -> None:
    set_launch(fake_spec, restart_on_stall=False)
    assert moonpad("up", str(fake_spec)).code == 0
    api = pid_of_role(moonpad, "api")
    process = api, owned_of(moonpad)[api]
    send_signal(*process, signal.SIGSTOP)
    try:
        row = watched(moonpad)
        assert row["state"] == "slow answer"
        assert codes(row) == ["not-answering"]
        assert "load" in row["not_reported"]
    finally:
        send_signal(*process, signal.SIGCONT)
    assert moonpad("down", "fake").code == 0


def test_a_hang_that_the_controller_found(moonpad: Moonpad, fake_spec: Path, free_port: int) -> None:
    set_launch(fake_spec, restart_on_stall=False, stall_after="500ms", stall_probe="500ms")
    assert moonpad("up", str(fake_spec), FAKE_HANG_AFTER="20", FAKE_HEALTH_LIES="1").code == 0
    streams(free_port, 2, 1000).await_answered()
    await_state(moonpad, "stalled")
    row = watched(moonpad)
    assert row["state"] == "stalled"
    assert codes(row) == ["hung"]
    assert moonpad("down", "fake").code == 0


def test_a_core_that_was_killed_and_came_back(moonpad: Moonpad, fake_spec: Path) -> None:
    set_launch(fake_spec, restarts=3)
    assert moonpad("up", str(fake_spec)).code == 0
    core = pid_of_role(moonpad, "core")
    send_signal(core, owned_of(moonpad)[core], signal.SIGKILL)
    await_event(moonpad, "ready", 30.0, count=2)
    row = watched(moonpad)
    assert (row["generation"], row["restarts"]) == (2, 1)
    assert codes(row) == ["restarted"]
    assert moonpad("down", "fake").code == 0
