"""Fault 15: a stop while requests stream. What runs may finish, what is new is refused, what is late is counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from moonpad.facts.processes import is_alive
from tests.conftest import Moonpad
from tests.faults.helpers import await_event, events_of, everybody, run_folder, set_launch, streams, wait_until

pytestmark = pytest.mark.usefixtures("clean_world")

TOKEN_S = 0.005  # the fake engine's


def await_shutting_down(moonpad: Moonpad) -> None:
    """Until the engine has heard that it is to end."""
    log = run_folder(moonpad) / "engine.log"
    wait_until(lambda: "Shutting down" in log.read_text(), lambda: log.read_text()[-500:], 10.0)


def drain(moonpad: Moonpad, spec: Path, port: int, stream_s: float, drain_s: float) -> tuple[int, int]:
    """(finished, cut) of eight streams of `stream_s` seconds, as `down` counts them and their clients saw it."""
    set_launch(spec, drain=f"{drain_s:g}s")
    assert moonpad("up", str(spec)).code == 0
    open_ = streams(port, 8, int(stream_s / TOKEN_S))
    open_.await_tokens()
    living = everybody(moonpad)
    down = moonpad.start("down", "fake", "--drain", f"{drain_s:g}s")
    await_event(moonpad, "draining")
    await_shutting_down(moonpad)
    (late,) = streams(port, 1, 5).wait()
    assert late.status == 503, f"what is new is refused, and this was answered with {late}"
    seen = open_.wait(stream_s + drain_s + 30)
    output, errors = down.communicate(timeout=30)
    assert down.returncode == 0, errors
    assert not any(is_alive(pid, start) for pid, start in living.items())
    drained = await_event(moonpad, "drained")
    assert drained["finished"] == open_.finished
    assert drained["cut"] == 8 - open_.finished
    assert [stream.status for stream in seen] == [200] * 8
    assert all(stream.finished or stream.error for stream in seen), "no client is left waiting"
    assert str(drained["cut"] or drained["finished"]) in output, "it is said to the one who asked"
    return drained["finished"], drained["cut"]


def test_streams_finish(moonpad: Moonpad, fake_spec: Path, free_port: int) -> None:
    """Fault 15, scaled: eight streams of four seconds, twenty to drain."""
    assert drain(moonpad, fake_spec, free_port, stream_s=4.0, drain_s=20.0) == (8, 0)


@pytest.mark.slow
def test_streams_finish_in_full(moonpad: Moonpad, fake_spec: Path, free_port: int) -> None:
    """Fault 15, in full: eight streams of five seconds, ten to drain."""
    assert drain(moonpad, fake_spec, free_port, stream_s=5.0, drain_s=10.0) == (8, 0)


def test_long_streams_are_cut(moonpad: Moonpad, fake_spec: Path, free_port: int) -> None:
    """Fault 15, scaled: sixty seconds to go, two to drain."""
    assert drain(moonpad, fake_spec, free_port, stream_s=60.0, drain_s=2.0) == (0, 8)


@pytest.mark.slow
def test_long_streams_are_cut_in_full(moonpad: Moonpad, fake_spec: Path, free_port: int) -> None:
    """Fault 15, in full: sixty seconds to go, ten to drain."""
    assert drain(moonpad, fake_spec, free_port, stream_s=60.0, drain_s=10.0) == (0, 8)


@pytest.mark.slow
def test_without_a_drain_they_are_cut_at_once(moonpad: Moonpad, fake_spec: Path, free_port: int) -> None:
    """Fault 15: with `drain = "0s"` nothing is drained, and no client is left waiting."""
    assert moonpad("up", str(fake_spec)).code == 0
    open_ = streams(free_port, 4, 100_000)
    open_.await_tokens()
    assert moonpad("down", "fake").code == 0
    assert all(stream.error for stream in open_.wait())
    assert not events_of(moonpad, "draining")
