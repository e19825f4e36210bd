"""Fault 8: `up`, the controller or the keeper is killed at any write of its state.

Afterwards `status` says what is so, a second `up` of the same spec adopts or refuses or starts anew, and never doubles;
`down` cleans.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from pathlib import Path

import pytest

from moonpad.facts.processes import find_descendants, send_signal
from tests.conftest import Moonpad
from tests.drawn import step_of_the_day
from tests.faults.helpers import (
    FINAL,
    await_event,
    await_gone,
    await_state,
    cmdline_of,
    comm_of,
    controller_of,
    events_of,
    invariants,
    keeper_of,
    owned_of,
    pid_of_role,
    set_launch,
    status_of,
    wait_until,
)
from tests.faults.kill_after import burnt, fuse
from tests.world import World

pytestmark = pytest.mark.usefixtures("clean_world")

UP = ("starting", "ready", "stalled", "unattended")


def engine() -> list[int]:
    """The living processes of fake engines, found by parentage alone: no file of ours is asked."""
    below = find_descendants({os.getpid()})
    return [pid for pid in below if comm_of(pid).startswith("VLLM::") or "/vllm.py" in cmdline_of(pid)]


def rows(moonpad: Moonpad) -> list[dict[str, object]]:
    done = moonpad("status", "--json")
    assert done.code == 0, done.stderr
    rows: list[dict[str, object]] = done.json["endpoints"]
    return rows


def await_truth(moonpad: Moonpad) -> str:
    """The state that `status` says, once it agrees with the processes; "" where it knows of no run."""
    last: list[dict[str, object]] = []

    def holds() -> bool:
        last[:] = rows(moonpad)
        states = [row["state"] for row in last]
        return all(state in UP for state in states) if engine() else all(state in FINAL for state in states)

    wait_until(holds, lambda: f"{last}, and the engine is {[(pid, comm_of(pid)) for pid in engine()]}", 15.0)
    return str(last[0]["state"]) if last else ""


def next_commands(moonpad: Moonpad, spec: Path) -> None:
    """What the next commands make of whatever is left."""
    state = await_truth(moonpad)
    before = engine()
    again = moonpad("up", str(spec), "--json")
    assert again.code in (0, 3), again.stderr
    if state == "ready":
        assert (again.code, again.json["changed"]) == (0, False), "it is adopted"
        assert engine() == before
    if state in ("", *FINAL):
        assert (again.code, again.json["changed"]) == (0, True), "nothing is in the way"
    servers = [pid for pid in engine() if comm_of(pid) == "VLLM::APIServer"]
    assert len(servers) <= 1, "it doubled"
    invariants(moonpad)
    down = moonpad("down", "fake", "--json")
    assert down.code == 0, down.stderr
    assert await_truth(moonpad) in FINAL
    assert not engine()


def kill_up(moonpad: Moonpad, spec: Path, number: int) -> str:
    """What `up` was about to write when it was killed, "" where it came to its end."""
    folder = moonpad.home / "fuse"
    up = moonpad("up", str(spec), **fuse(folder, "up", number))
    change = burnt(folder)
    assert up.code == (-signal.SIGKILL if change else 0), up.stderr
    next_commands(moonpad, spec)
    return change


def kill_keeper(moonpad: Moonpad, spec: Path, number: int) -> str:
    """The same for the keeper. One that lives until the engine is ready is killed while it stops it."""
    folder = moonpad.home / "fuse"
    up = moonpad("up", str(spec), **fuse(folder, "keeper", number))
    if up.code == 0 and not burnt(folder):
        assert moonpad("down", "fake").code == 0
        change = burnt(folder)
        assert not engine(), f"down said that it is done, and the keeper died before {change}"
        if not change:
            return ""
    else:
        wait_until(lambda: burnt(folder), lambda: f"{up.code}: {up.stderr}", 5.0)
        assert up.code in (0, 4, 6), up.stderr
        assert "Traceback" not in up.stderr
    next_commands(moonpad, spec)
    return burnt(folder)


def kill_controller(moonpad: Moonpad, spec: Path, number: int) -> str:
    """The same for the controller, in a run whose first engine dies. It costs the run nothing."""
    folder = moonpad.home / "fuse"
    up = moonpad("up", str(spec), **fuse(folder, "controller", number))
    assert up.code == 0, up.stderr
    os.kill(pid_of_role(moonpad, "api"), signal.SIGKILL)
    await_event(moonpad, "ready", count=2)
    await_event(moonpad, "stable", count=1)
    change = burnt(folder)
    if change:
        assert await_event(moonpad, "controller_ended")["how"] == "SIGKILL", change
        await_event(moonpad, "controller_started", count=2)
    await_state(moonpad, "ready")
    assert [event["generation"] for event in events_of(moonpad, "ready")] == [1, 2], change
    assert len(events_of(moonpad, "restarting")) == 1, f"{change}: it counts as one"
    assert [event["generation"] for event in events_of(moonpad, "spawned")] == [1, 2], (
        f"{change}: two starts of the engine"
    )
    invariants(moonpad)
    assert moonpad("down", "fake").code == 0
    assert not engine()
    return change


KILLS = {"up": kill_up, "keeper": kill_keeper, "controller": kill_controller}


@pytest.mark.parametrize(
    ("program", "number"),
    [("up", 20), ("keeper", 13), ("controller", 4)],
    ids=lambda value: str(value),
)
def test_killed_at_a_write(moonpad: Moonpad, fake_spec: Path, program: str, number: int) -> None:
    """Fault 8, reduced: some writes of each."""
    set_launch(fake_spec, restarts=3)
    assert KILLS[program](moonpad, fake_spec, number), f"{program} writes less than {number} times now"


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("program", list(KILLS))
def test_killed_at_each_write(moonpad: Moonpad, fake_spec: Path, free_port: int, program: str) -> None:
    """Fault 8, in full: each write of each, a quarter of them a day, until the program survives."""
    set_launch(fake_spec, restarts=3)
    number, step = step_of_the_day()
    world = World(moonpad.home, free_port)
    while change := KILLS[program](moonpad, fake_spec, number):
        # Half a file, never in place of a whole one, is what a loss of power leaves; it is removed by a later writer.
        left = [trace for trace in world.sweep() if ".part is left" not in trace]
        assert not left, f"{program} was killed before change {number}, {change}: {left}"
        shutil.rmtree(moonpad.state)
        number += step
    assert number > 8, "a program that writes its state does so more often"


def kill_running(moonpad: Moonpad, delay_s: float) -> None:
    """Kills the controller that runs after so many seconds; the engine does not notice."""
    time.sleep(delay_s)
    before = owned_of(moonpad)
    seen = len(events_of(moonpad, "controller_started"))
    if send_signal(*controller_of(moonpad), signal.SIGKILL):
        await_event(moonpad, "controller_started", 20.0, count=seen + 1)
    assert before.items() <= owned_of(moonpad).items(), "it took some of the engine with it"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_controller_killed_at_any_instant(moonpad: Moonpad, fake_spec: Path, seed: int) -> None:
    """Fault 8, in full: while it loads and when it is ready; the next controller goes on, nothing is done twice."""
    chance = random.Random(seed)
    up = moonpad.start("up", str(fake_spec), FAKE_LOAD_S="2")
    await_event(moonpad, "phase")
    kill_running(moonpad, chance.uniform(0.0, 1.0))
    _, errors = up.communicate(timeout=30)
    assert up.returncode == 0, errors
    living = pid_of_role(moonpad, "api")
    kill_running(moonpad, chance.uniform(0.0, 0.5))
    await_event(moonpad, "stable")
    assert status_of(moonpad)["state"] == "ready"
    assert pid_of_role(moonpad, "api") == living
    assert len(events_of(moonpad, "ready")) == 1
    assert len(events_of(moonpad, "healthy")) == 1
    assert moonpad("down", "fake").code == 0


def test_keeper_killed(moonpad: Moonpad, fake_spec: Path) -> None:
    """Fault 8: the keeper of an engine that is deaf to signals. The next command sees it and finishes the job, and
    nobody decides meanwhile for a run that nobody keeps."""
    set_launch(fake_spec, stop_grace="1s")
    assert moonpad("up", str(fake_spec), FAKE_IGNORE_TERM="1").code == 0
    owned = owned_of(moonpad)
    controller = controller_of(moonpad)
    pid, start = keeper_of(moonpad)
    send_signal(pid, start, signal.SIGKILL)
    await_gone(dict([(pid, start), controller]), 5.0)
    assert status_of(moonpad)["state"] == "unattended"
    assert moonpad("up", str(fake_spec)).code in (0, 3), "adopted or refused, never doubled"
    down = moonpad("down", "fake", "--json")
    assert down.code == 0
    assert down.json["killed"] >= 1
    await_gone(owned, 1.0)
