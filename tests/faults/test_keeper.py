"""One run from `up` to `down`, and what an endpoint needs to be called ready. The faults have files of their own."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from moonpad.facts.processes import is_alive, send_signal
from tests.conftest import Moonpad
from tests.faults.helpers import (
    PLANNED_KV_TOKENS,
    await_event,
    await_gone,
    await_state,
    events_of,
    everybody,
    keeper_document,
    keeper_of,
    owned_of,
    run_folder,
    set_launch,
    status_of,
)

pytestmark = pytest.mark.usefixtures("clean_world")


def test_up_status_down(moonpad: Moonpad, fake_spec: Path) -> None:
    up = moonpad("up", str(fake_spec), "--json")
    assert up.code == 0, up.stderr
    assert up.json["kv_tokens"] == 310_672
    state = status_of(moonpad)
    assert (state["state"], state["model"]) == ("ready", "kimi-k2-tiny")
    assert state["kv_tokens"]["planned"]["value"] == PLANNED_KV_TOKENS
    assert state["kv_tokens"]["measured"] == 310_672, "what the fake engine's log says"
    (kept,) = [json.loads(line) for line in (moonpad.state / "calibrations.jsonl").read_text().splitlines()]
    assert (kept["engine"], kept["kv_tokens"], kept["planned_kv_tokens"]) == ("vllm-cpu", 310_672, PLANNED_KV_TOKENS)
    owned = owned_of(moonpad)
    assert len(owned) >= 4, "the API server, the core and two workers that detached themselves"
    document = keeper_document(moonpad)
    temp_dir = Path(document["temp_dir"])
    assert temp_dir.is_dir()
    assert (run_folder(moonpad) / "control.sock").stat().st_mode & 0o777 == 0o600
    down = moonpad("down", "fake", "--json")
    assert down.code == 0
    assert down.json["was_up"] is True
    assert not any(is_alive(pid, start) for pid, start in owned.items())
    assert status_of(moonpad)["state"] == "stopped"
    assert not temp_dir.exists()


def test_healthy_and_unable(moonpad: Moonpad, fake_spec: Path) -> None:
    """`/health` answers 200 and the first real request 500: that is not ready."""
    up = moonpad("up", str(fake_spec), FAKE_FIRST_REQUEST="500")
    assert up.code == 4
    assert "the engine core died" in up.stderr
    assert not events_of(moonpad, "ready")


def test_start_timeout(moonpad: Moonpad, fake_spec: Path) -> None:
    set_launch(fake_spec, start_timeout="1s")
    up = moonpad("up", str(fake_spec), FAKE_NO_PORT="1")
    assert up.code == 4
    assert "not ready after 1 s" in up.stderr
    assert status_of(moonpad)["state"] == "failed"


@pytest.mark.slow
def test_keeper_killed_before_it_looked(moonpad: Moonpad, fake_spec: Path) -> None:
    """Orphans that no snapshot names: what writes to the run's log is the run's."""
    set_launch(fake_spec, stop_grace="1s")
    assert moonpad("up", str(fake_spec), FAKE_IGNORE_TERM="1", MOONPAD_CGROUP="off").code == 0
    living = everybody(moonpad)
    pid, start = keeper_of(moonpad)
    send_signal(pid, start, signal.SIGKILL)
    await_gone({pid: start}, 5.0)
    snapshot = run_folder(moonpad) / "keeper.json"
    document = json.loads(snapshot.read_text())
    snapshot.write_text(json.dumps({**document, "owned": document["roots"]}))
    send_signal(document["roots"][0]["pid"], document["roots"][0]["start"], signal.SIGKILL)
    assert status_of(moonpad)["state"] == "unattended"
    assert moonpad("down", "fake").code == 0
    await_gone(living, 1.0)


def test_foreground_dies_with_its_command(moonpad: Moonpad, fake_spec: Path) -> None:
    """`--foreground` killed outright: nobody is left to stop the engine, so the keeper does."""
    running = moonpad.start("up", str(fake_spec), "--foreground")
    await_event(moonpad, "ready")
    living = everybody(moonpad)
    running.kill()
    running.communicate(timeout=10)
    await_gone(living, 15.0)


def test_foreground_ends_with_ctrl_c(moonpad: Moonpad, fake_spec: Path) -> None:
    running = moonpad.start("up", str(fake_spec), "--foreground")
    assert running.stdout is not None
    # The log follows once it is ready; the test ends by its own time limit where it never does.
    while "CPU KV cache size: 310,672 tokens" not in (line := running.stdout.readline()):
        assert line, "the log is shown"
    os.killpg(running.pid, signal.SIGINT)
    running.communicate(timeout=20)
    assert running.returncode == 130


@pytest.mark.slow
def test_no_wait_then_it_is_ready(moonpad: Moonpad, fake_spec: Path) -> None:
    up = moonpad("up", str(fake_spec), "--no-wait", "--json")
    assert up.json["state"] == "starting"
    await_event(moonpad, "ready")
    await_state(moonpad, "ready")
    assert [event["seen_by"] for event in events_of(moonpad, "ready")] == ["controller"]
    assert moonpad("down", "fake").code == 0


def test_logs(moonpad: Moonpad, fake_spec: Path) -> None:
    """All of it, the last lines of it, and `-f` until the run ends."""
    assert moonpad("up", str(fake_spec)).code == 0
    assert "100% Completed" in moonpad("logs", "fake").stdout
    assert moonpad("logs", "fake", "-n", "1").stdout.count("\n") == 1
    following = moonpad.start("logs", "-f")
    moonpad("down", "fake")
    output, _ = following.communicate(timeout=20)
    assert following.returncode == 0
    assert "Starting vLLM server" in output


def test_key_never_shows(moonpad: Moonpad, fake_spec: Path) -> None:
    """Fault 59 for this path: not in argv, not in the run folder, not in what is printed."""
    fake_spec.write_text(fake_spec.read_text().replace("[endpoint]", '[endpoint]\napi_key_env = "CANARY_KEY"'))
    canary = "canary-7c1d9a"
    up = moonpad("up", str(fake_spec), CANARY_KEY=canary)
    assert up.code == 0, up.stderr
    shown = up.stdout + up.stderr
    for pid in everybody(moonpad):
        shown += Path(f"/proc/{pid}/cmdline").read_text()
    for path in moonpad.state.rglob("*"):
        if path.is_file():
            shown += path.read_text(errors="replace")
    assert canary not in shown
    refused = moonpad("up", str(fake_spec))
    assert refused.code == 3
    assert "CANARY_KEY is not set" in refused.stderr
    assert moonpad("down", "fake", CANARY_KEY=canary).code == 0
