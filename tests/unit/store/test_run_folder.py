"""Run folders, the pointers to them, and what killed commands leave."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from moonpad.store import paths
from moonpad.store.atomic_files import append_line, read_json, replace_json
from moonpad.store.run_folder import RunFolder, create_run, current_run, current_runs, this_process
from moonpad.store.schema_version import SchemaTooNew


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def point_to(folder: RunFolder) -> None:
    """As the keeper does once it has the lock."""
    replace_json(folder.pointer_path, folder.pointer_document())


# --- places and pointers ---------------------------------------------------------------------------------------------


def test_a_relative_state_home_is_ignored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert paths.state_home() == tmp_path / ".local" / "state" / "moonpad"


def test_claims_are_the_same_for_everybody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert paths.port_claim(8000) == Path("/tmp/moonpad-locks/port-8000.lock")
    assert paths.RUNTIME_TEMP_BASE == "/tmp"


def test_the_pointer_names_the_current_run() -> None:
    assert current_run("tiny") is None
    first = create_run("tiny")
    point_to(first)
    second = create_run("tiny")
    assert current_run("tiny") == first
    point_to(second)
    assert current_run("tiny") == second
    assert current_runs() == (second,)
    assert read_json(second.pointer_path) == second.pointer_document()


@pytest.mark.parametrize("run", ["../../etc", "..", ".", "", None, 3, ["x"]])
def test_a_hostile_pointer_stays_inside(run: object, tmp_path: Path) -> None:
    (tmp_path / "moonpad" / "runs").mkdir(parents=True)
    replace_json(tmp_path / "moonpad" / "endpoints" / "tiny.json", {"schema": 2, "run": run})
    assert current_run("tiny") is None


def test_run_ids_that_collide_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = iter(["aaaa", "aaaa", "bbbb"])
    monkeypatch.setattr("secrets.token_hex", lambda size: next(numbers))
    monkeypatch.setattr("time.strftime", lambda *_: "20261120-120000")
    assert [create_run("tiny").run_id[-4:] for _ in range(2)] == ["aaaa", "bbbb"]


def test_a_disk_that_is_full_leaves_no_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("moonpad.store.run_folder.append_line", full_disk)
    with pytest.raises(OSError, match="No space"):
        create_run("tiny")
    assert list((tmp_path / "moonpad" / "runs").iterdir()) == []


# --- events ----------------------------------------------------------------------------------------------------------


def test_first_and_last_events() -> None:
    folder = create_run("tiny")
    assert folder.last_event("ready") is None
    for number in range(3):
        folder.append_event("ready", token_s=number)
        folder.append_event("ended", token_s=number)
    first, last = folder.event("ready"), folder.last_event("ready", "none")
    assert first is not None
    assert last is not None
    assert (first["token_s"], last["token_s"]) == (0, 2)
    assert folder.last_event() == folder.last_event("ready", "ended") == {**last, **(folder.last_event("ended") or {})}


def test_an_event_that_does_not_fit_costs_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = create_run("tiny")

    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("moonpad.store.run_folder.append_line", full_disk)
    assert folder.append_event("ready", token_s=1)["token_s"] == 1
    assert folder.event("ready") is None


# --- schemas ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", ["run.json", "keeper.json", "controller.json"])
@pytest.mark.parametrize("schema", [3, 0, "2", None, True, 2.0])
def test_an_unknown_schema_is_refused_by_name_and_number(file: str, schema: object) -> None:
    folder = create_run("tiny")
    folder.check_schema()
    replace_json(folder.path / file, {"schema": schema, "state": "running"})
    with pytest.raises(SchemaTooNew) as refused:
        folder.check_schema()
    assert file in refused.value.message
    assert folder.run_id in refused.value.message
    assert repr(schema) in refused.value.message
    assert refused.value.exit_code == 6
    if schema == 3:
        assert refused.value.message.endswith("written by a newer moonpad: schema 3, this one reads 1 and 2")


def test_a_newer_pointer_is_refused_and_hides_no_other() -> None:
    other = create_run("other")
    point_to(other)
    replace_json(paths.pointer_path("tiny"), {"schema": 3, "run": {"host": "a"}})
    tiny = current_run("tiny")
    assert tiny is not None
    for read in (tiny.about, tiny.keeper, tiny.controller, tiny.check_schema):
        with pytest.raises(SchemaTooNew, match=r"pointer tiny\.json was written by a newer moonpad: schema 3"):
            read()
    assert [folder.name for folder in current_runs()] == ["other", "tiny"]
    other.check_schema()


def test_what_schema_1_did_not_say_was_so() -> None:
    folder = create_run("tiny")
    replace_json(folder.path / "run.json", {"schema": 1, "name": "tiny"})
    replace_json(folder.path / "keeper.json", {"schema": 1, "state": "running", "owned": [{"pid": 7, "start": 8}]})
    about, keeper = folder.about(), folder.keeper()
    assert (about["policy"], about["drain_s"], about["ports"]) == ({"restarts": 0}, 0.0, [])
    assert (keeper["generation"], keeper["controller"], keeper["temp_dir"]) == (1, None, "")
    assert keeper["owned"] == [{"pid": 7, "start": 8, "title": ""}]
    assert folder.controller() == {}


# --- leftovers of a killed `up` -------------------------------------------------------------------------------------


def gone() -> dict[str, Any]:
    """A process that has ended."""
    code = "from moonpad.store.run_folder import this_process; import json; print(json.dumps(this_process()))"
    done = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def left_by(creator: dict[str, Any] | None, name: str = "tiny", *, age_s: float = 7200.0) -> RunFolder:
    folder = RunFolder(name, paths.runs_folder() / f"{name}-20261120-120000-{secrets.token_hex(2)}")
    folder.path.mkdir(parents=True)
    if creator is not None:
        append_line(folder.events_path, {"event": "created", **creator})
    old = time.time() - age_s
    os.utime(folder.path, (old, old))
    return folder


def test_what_a_killed_up_left_is_removed() -> None:
    dead = gone()
    leftovers = [
        left_by(dead),
        left_by({**this_process(), "start": 1}),  # our pid, and another process
        left_by({**this_process(), "boot_id": "another boot"}),
        left_by(None),  # killed before it wrote a line
    ]
    kept = [
        left_by(this_process()),
        left_by(dead, age_s=60.0),
        left_by(dead, "tiny-two"),
        left_by(dead, "tin"),
    ]
    with_keeper = left_by(dead)
    replace_json(with_keeper.path / "keeper.json", {})
    unsigned = left_by(None)
    (unsigned.path / "spec.toml").touch()
    for folder in (with_keeper, unsigned):
        os.utime(folder.path, (0, 0))
    fresh = create_run("tiny")
    assert [folder.path.exists() for folder in leftovers] == [False] * 4
    assert [folder.path.exists() for folder in (*kept, with_keeper, unsigned, fresh)] == [True] * 7


def test_a_run_that_a_lock_or_the_pointer_names_is_never_removed() -> None:
    """A keeper whose disk is full has no keeper.json, and its run is up."""
    dead = gone()
    locked, pointed, neither = left_by(dead), left_by(dead), left_by(dead)
    point_to(pointed)
    replace_json(locked.lock_path, {"run": locked.run_id, "pid": 1})
    create_run("tiny")
    assert [folder.path.exists() for folder in (locked, pointed, neither)] == [True, True, False]


def test_nothing_is_removed_while_the_lock_does_not_say_whose_it_is() -> None:
    folder = left_by(gone())
    folder.lock_path.parent.mkdir(parents=True)
    folder.lock_path.touch()
    create_run("tiny")
    assert folder.path.exists()
