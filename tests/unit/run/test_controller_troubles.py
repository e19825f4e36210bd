"""The controller where its keeper, its key or its disk fail it."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from moonpad.run import controller_state
from moonpad.run.controller_state import ControllerJournal, read_controller
from moonpad.store import journal
from moonpad.store.atomic_files import replace_json
from moonpad.values.supervision import State
from tests.unit.run.rig import POLICY, Engine, Rig

# --- the key


def test_without_the_key_it_follows_what_it_can(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MOONPAD_TEST_KEY", raising=False)
    rig.prepare(POLICY, key={"env": "MOONPAD_TEST_KEY", "file": None})
    rig.run(100.0)
    assert rig.names == ["phase"] * 3 + ["healthy"]
    assert rig.written.state is State.STARTING
    assert "no token can be requested: MOONPAD_TEST_KEY is not set" in rig.written.because
    assert rig.requests == [], "an engine that is healthy is not stopped because our key is away"
    assert "token" not in rig.probes


def test_the_key_may_come_back(rig: Rig, tmp_path: Path) -> None:
    key = tmp_path / "key"
    rig.prepare(POLICY, key={"env": None, "file": str(key)})
    rig.run(30.0)
    assert "token" not in rig.probes
    key.write_text("secret")
    key.chmod(0o600)
    rig.run(60.0)
    assert rig.names == ["phase"] * 3 + ["healthy", "ready"]


# --- the keeper


def test_it_ends_with_its_keeper(rig: Rig) -> None:
    rig.prepare(POLICY)
    document = rig.folder.keeper()
    controller = rig.controller()
    assert controller.tick() is not None
    replace_json(rig.folder.path / "keeper.json", {**document, "keeper": {"pid": os.getpid(), "start": 1}})
    assert controller.tick() is None, "another process has that pid"
    replace_json(rig.folder.path / "keeper.json", {**document, "boot_id": "another"})
    assert controller.tick() is None
    (rig.folder.path / "keeper.json").unlink()
    assert controller.tick() is None


def test_a_keeper_that_does_not_answer_is_told_again(rig: Rig) -> None:
    rig.engine = lambda generation: Engine(dies_at_s=60.0) if generation == 1 else Engine()
    rig.prepare(POLICY)
    rig.deaf_until = 1050.0
    rig.run(40.0)
    assert rig.times("ready"), "what is so is written whoever listens"
    assert rig.requests == []
    rig.run(58.0)
    assert rig.told_words == ["ready"]
    rig.deaf_until = 1100.0
    rig.run(120.0)
    assert rig.told_words == ["ready", "start", "ready"]
    assert len(rig.times("restarting")) == 1


def test_a_keeper_that_cannot_write_is_asked(rig: Rig) -> None:
    """The disk is full: keeper.json stands still, and the engine has ended, and is started again."""
    rig.engine = lambda generation: Engine(dies_at_s=60.0) if generation == 1 else Engine()
    rig.prepare(POLICY)
    rig.run(50.0)
    rig.writes_keeper_json = False
    rig.run(150.0)
    assert rig.told_words == ["ready", "start", "ready"]
    assert rig.generation == 2
    assert rig.written.generation == 2


def test_a_new_controller_asks_a_keeper_that_cannot_write(rig: Rig) -> None:
    """The same, and the controller that has started the next generation is killed at once (state machine, seed 43)."""
    rig.engine = lambda generation: Engine(dies_at_s=60.0) if generation == 1 else Engine()
    rig.prepare(POLICY)
    rig.run(50.0)
    while rig.generation == 1:
        rig.writes_keeper_json = rig.state != "waiting"
        rig.run(rig.now - 1000.0 + 0.1)
    assert json.loads((rig.folder.path / "keeper.json").read_text())["state"] == "waiting"
    rig.alive = None
    rig.run(150.0)
    assert rig.told_words == ["ready", "start", "ready"]
    assert rig.written.generation == 2


def test_a_token_of_an_engine_that_has_died_since_is_not_ready(rig: Rig) -> None:
    """The keeper knows of its death, and its file does not say so yet."""
    rig.prepare(POLICY)
    rig.run(2.0)
    rig.writes_keeper_json, rig.undead = False, True
    rig.state = "stopping"
    controller = rig.controller()
    for _ in range(20):
        rig.now += controller.tick() or 0.0
    assert "ready" in rig.told_words
    assert "ready" not in rig.names


# --- a full disk


def test_a_full_disk_delays_events_and_loses_none(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    append_line, replace = journal.append_line, controller_state.replace_json

    def full(*_args: object) -> None:
        if rig.now < 1060.0:
            raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(journal, "append_line", lambda *args: full() or append_line(*args))
    monkeypatch.setattr(controller_state, "replace_json", lambda *args: full() or replace(*args))
    rig.engine = lambda generation: Engine(dies_at_s=10.0) if generation == 1 else Engine()
    rig.prepare(POLICY)
    rig.run(55.0)
    assert rig.names == []
    assert rig.generation == 2, "it goes on"
    rig.run(65.0)
    one_start = ["phase"] * 3 + ["healthy", "ready"]
    assert rig.names == [*one_start, "restarting", *one_start, "stable"]
    times = [event["t_s"] for event in rig.events]
    assert times == sorted(times)
    assert times[0] < 1002.0, "when it happened, not when it was written"
    assert rig.written.state is State.READY


def test_unwritten_events_are_bounded(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_args: object) -> None:
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(journal, "append_line", full)
    events = ControllerJournal(rig.folder, lambda: 0.0)
    for number in range(5000):
        events.append("unhealthy", number=number)
    kept = [event["number"] for event in events.events()]
    assert kept == list(range(5000 - journal.UNWRITTEN_EVENTS, 5000))


# --- the process


def test_what_cannot_be_read_is_no_state(rig: Rig) -> None:
    assert read_controller(rig.folder) is None
    replace_json(rig.folder.path / "controller.json", {"schema": 2, "pid": 1, "state": "dreaming"})
    assert read_controller(rig.folder) is None


def test_nothing_is_written_where_nothing_changes(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.prepare(POLICY)
    rig.run(60.0)
    before = (rig.folder.path / "controller.json").stat().st_ino

    def fail(*_args: object) -> None:
        raise AssertionError("written")

    monkeypatch.setattr(journal, "append_line", fail)
    monkeypatch.setattr(controller_state, "replace_json", fail)
    rig.run(600.0)
    assert (rig.folder.path / "controller.json").stat().st_ino == before
