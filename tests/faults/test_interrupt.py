"""Fault 7: Ctrl-C at any instant of a start. One stops it cleanly, a second one at once; never an orphan.

The exit code is 130. It is 0 where the endpoint was ready before: then the start has done what it was asked for, and
`down` ends it. It is -2 (a death by SIGINT, 130 in a shell too) while Python itself starts and imports, before the
first line of ours, and 1 in the milliseconds in which it looks for what `-m` needs: nothing is there then that could be
left.
"""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import pytest

from moonpad.facts.processes import is_alive
from tests.conftest import Moonpad
from tests.faults.helpers import await_event, events_of, everybody, status_of

pytestmark = pytest.mark.usefixtures("clean_world")


def interrupt(moonpad: Moonpad, spec: Path, delay_s: float, load_s: float, number: int = signal.SIGINT) -> None:
    """`up`, and the signal after so many seconds; what must be so afterwards, whenever it came."""
    up = moonpad.start("up", str(spec), FAKE_LOAD_S=str(load_s))
    time.sleep(delay_s)
    os.killpg(up.pid, number)
    output, errors = up.communicate(timeout=30)
    code = up.returncode
    if code == 0:
        assert "is ready at" in output, "0 means ready"
        assert status_of(moonpad)["state"] == "ready"
        assert moonpad("down", "fake").code == 0
    elif code == -number or "Could not import runpy module" in errors:
        assert not list(moonpad.state.glob("runs/*")), f"it was in our hands already: {errors}"
    else:
        assert code == 130, errors
        assert "Traceback" not in errors
    for event in events_of(moonpad, "stopped"):
        assert event["left"] == []
    for path in moonpad.state.glob("endpoints/*.json"):
        assert status_of(moonpad)["state"] == "stopped", path


@pytest.mark.parametrize("seed", range(6))
def test_ctrl_c(moonpad: Moonpad, fake_spec: Path, seed: int) -> None:
    """Fault 7, reduced: one instant of each sixth of a short start."""
    interrupt(moonpad, fake_spec, 0.4 * (seed + random.Random(seed).random()), load_s=1.0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(50))
def test_ctrl_c_in_full(moonpad: Moonpad, fake_spec: Path, seed: int) -> None:
    """Fault 7, in full: fifty instants of eight seconds, of which the engine loads for six."""
    interrupt(moonpad, fake_spec, random.Random(1000 + seed).uniform(0.0, 8.0), load_s=6.0)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("seed", range(5))
def test_kill_and_closed_terminal(moonpad: Moonpad, fake_spec: Path, seed: int, number: int) -> None:
    """Fault 7: `kill` and a closed terminal are as good as Ctrl-C."""
    interrupt(moonpad, fake_spec, random.Random(seed).uniform(0.0, 2.5), load_s=1.0, number=number)


def test_second_ctrl_c_hurries(moonpad: Moonpad, fake_spec: Path) -> None:
    """Fault 7: the second one ends an engine that does not listen within three seconds, whatever grace it has."""
    fake_spec.write_text(fake_spec.read_text().replace('stop_grace = "4s"', 'stop_grace = "60s"'))
    up = moonpad.start("up", str(fake_spec), FAKE_LOAD_S="60", FAKE_IGNORE_TERM="1")
    await_event(moonpad, "phase")
    living = everybody(moonpad)
    os.killpg(up.pid, signal.SIGINT)
    await_event(moonpad, "stopping")
    os.killpg(up.pid, signal.SIGINT)
    up.communicate(timeout=3.0)
    assert up.returncode == 130
    assert not any(is_alive(pid, start) for pid, start in living.items())
    assert await_event(moonpad, "stopped")["signal"] == "KILL"
