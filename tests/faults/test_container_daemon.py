"""An engine in a container image whose daemon goes away: fault 72, against a fake docker."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from moonpad.facts.processes import send_signal
from moonpad.run.keeper_client import tell
from moonpad.store.run_folder import RunFolder
from tests.conftest import Moonpad
from tests.faults.container_world import (
    OTHER,
    Docker,
    await_generation,
    client_of,
    docker,
    image_spec,
    serves,
    state_of,
    up,
)
from tests.faults.helpers import (
    await_event,
    await_gone,
    await_state,
    events_of,
    everybody,
    keeper_document,
    keeper_of,
    run_folder,
    set_launch,
    status_of,
    wait_until,
)

__all__ = ["docker", "image_spec"]


def test_daemon_restarted(moonpad: Moonpad, docker: Docker, image_spec: Path, free_port: int) -> None:
    """Away for a while, the engine serving all the time: its state is asked for, no second container is made."""
    docker.start()
    docker.run_other()
    run = up(moonpad, image_spec)
    container = docker.id_of(f"moonpad-{run}")
    client = client_of(moonpad)
    calls_before = len(docker.calls("ps"))
    docker.kill()
    await_gone(dict([client]), 10.0)
    # Asked three times and more with nobody there: how it is, is not known, and nothing is done about it.
    wait_until(lambda: len(docker.calls("ps")) >= calls_before + 3, lambda: "nobody asks", 20.0)
    assert serves(free_port)
    assert state_of(moonpad) in ("ready", "unattended")
    assert events_of(moonpad, "stopping") == []
    docker.start()
    docker.await_attached()
    await_state(moonpad, "ready")
    assert docker.id_of(f"moonpad-{run}") == container
    assert len(docker.calls("run")) == 2, "ours and the other one"
    assert docker.stopped() == set()
    assert moonpad("down").code == 0
    assert docker.running() == [OTHER]


def test_daemon_restarted_during_the_start(moonpad: Moonpad, docker: Docker, image_spec: Path) -> None:
    docker.start(FAKE_LOAD_S="2")
    starting = moonpad.start("up", str(image_spec), "--json")
    await_event(moonpad, "phase")
    client = client_of(moonpad)
    docker.kill()
    await_gone(dict([client]), 10.0)
    docker.start()
    _, stderr = starting.communicate(timeout=60)
    assert starting.returncode == 0, stderr
    assert len(docker.calls("run")) == 1
    assert moonpad("down").code == 0


def test_daemon_that_takes_its_containers_with_it(moonpad: Moonpad, docker: Docker, image_spec: Path) -> None:
    """Without live-restore: once it is back it says that nothing runs, and that is an end like any other."""
    set_launch(image_spec, restarts=1)
    docker.start()
    run = up(moonpad, image_spec)
    client = client_of(moonpad)
    docker.end()
    await_gone(dict([client]), 10.0)
    docker.start()
    await_generation(moonpad, 2)
    assert events_of(moonpad, "reattached") == []
    assert docker.running() == [f"moonpad-{run}"]
    assert len(docker.calls("run")) == 2
    assert moonpad("down").code == 0


def test_daemon_away_during_down(moonpad: Moonpad, docker: Docker, image_spec: Path) -> None:
    """What stops the container is tried until the daemon is there."""
    set_launch(image_spec, stop_grace="20s")
    docker.start()
    run = up(moonpad, image_spec)
    docker.kill()
    stopping = moonpad.start("down", "fake", "--json")
    wait_until(lambda: len(docker.calls("rm")) >= 2, lambda: "nobody tries", 20.0)
    assert stopping.poll() is None, "nobody says that it is down"
    docker.start()
    stdout, stderr = stopping.communicate(timeout=60)
    assert stopping.returncode == 0, stderr
    assert json.loads(stdout)["was_up"] is True
    assert docker.running() == []
    assert docker.stopped() == {f"moonpad-{run}"}
    assert state_of(moonpad) == "stopped"


def test_daemon_away_for_good(moonpad: Moonpad, docker: Docker, image_spec: Path) -> None:
    """`down` does not know, and says so, until the daemon answers; meanwhile nothing is started in its place."""
    docker.start()
    run = up(moonpad, image_spec)
    docker.kill()
    for _ in range(2):
        down = moonpad("down", "fake")
        assert down.code == 6
        assert "the container of fake may still run" in down.stderr
        assert keeper_document(moonpad)["after_stop"], "it is still to be done"
    assert state_of(moonpad) == "unattended"
    assert moonpad("up", str(image_spec)).code in (0, 3, 6), "adopted or refused, never doubled"
    docker.start()
    assert docker.running() == [f"moonpad-{run}"]
    assert f"moonpad-{run} still runs" in status_of(moonpad)["because"]
    assert moonpad("down", "fake").code == 0
    assert docker.running() == []
    assert state_of(moonpad) == "stopped"
    assert len(docker.calls("run")) == 1


def test_no_restart_while_nobody_can_say(moonpad: Moonpad, docker: Docker, image_spec: Path) -> None:
    """The gang has ended, what it may have left cannot be removed: another container beside it is never started."""
    set_launch(image_spec, restarts=3)
    docker.start()
    up(moonpad, image_spec)
    docker.kill()
    pid, start = keeper_of(moonpad)
    assert tell(RunFolder("fake", run_folder(moonpad)), "cycle", reason="hung, says the controller")["ok"]
    await_gone({pid: start}, 60.0)
    document = keeper_document(moonpad)
    assert (document["state"], document["generation"], bool(document["after_stop"])) == ("failed", 1, True)
    docker.start()
    assert len(docker.calls("run")) == 1
    assert moonpad("down", "fake").code == 0
    assert docker.running() == []


def test_daemon_away_and_nobody_left(moonpad: Moonpad, docker: Docker, image_spec: Path) -> None:
    """No keeper, no client, no daemon: not taken for stopped."""
    docker.start(FAKE_IGNORE_TERM="1")
    up(moonpad, image_spec)
    processes = everybody(moonpad)
    for pid, start in processes.items():
        send_signal(pid, start, signal.SIGKILL)
    await_gone(processes, 5.0)
    docker.end()
    assert state_of(moonpad) == "unattended"
    down = moonpad("down", "fake")
    assert down.code == 6
    assert "Cannot connect to the Docker daemon" in down.stderr
    docker.start()
    assert state_of(moonpad) == "failed", "the daemon took the container with it"
    assert moonpad("down", "fake").code == 0
    assert state_of(moonpad) == "stopped"


@pytest.mark.slow
def test_daemon_that_does_not_answer(moonpad: Moonpad, docker: Docker, image_spec: Path) -> None:
    """It hangs: no command of ours does."""
    docker.start()
    up(moonpad, image_spec)
    assert docker.daemon is not None
    send_signal(*client_of(moonpad), signal.SIGKILL)
    docker.await_attached()
    docker.daemon.send_signal(signal.SIGSTOP)
    try:
        assert state_of(moonpad) in ("ready", "unattended")
        pid, start = keeper_of(moonpad)
        send_signal(pid, start, signal.SIGKILL)
        await_gone({pid: start}, 5.0)
        assert "timed out" in status_of(moonpad)["because"]
    finally:
        docker.daemon.send_signal(signal.SIGCONT)
    assert moonpad("down", "fake").code == 0
    assert docker.running() == []
