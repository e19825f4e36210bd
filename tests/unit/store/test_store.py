"""Append lines, replace by rename; torn lines are survived."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from moonpad.store.files import append_line, read_json, read_lines, replace_json, replace_text
from moonpad.store.places import state_home
from moonpad.store.run_folder import create_run, current_run, current_runs, point_to


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def test_a_torn_line_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    append_line(path, {"event": "a"})
    with path.open("a") as file:
        file.write('{"event": "b", "t')
    assert [record["event"] for record in read_lines(path)] == ["a"]


def test_a_failed_replacement_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.json"
    replace_json(path, {"state": "old"})

    def full_disk(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space"):
        replace_text(path, "new")
    assert read_json(path) == {"state": "old"}
    assert [one.name for one in tmp_path.iterdir()] == ["run.json"]


def test_files_are_private(tmp_path: Path) -> None:
    replace_json(tmp_path / "a.json", {})
    append_line(tmp_path / "b.jsonl", {})
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


def test_a_relative_state_home_is_ignored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert state_home() == tmp_path / ".local" / "state" / "moonpad"


def test_the_pointer_names_the_current_run() -> None:
    assert current_run("tiny") is None
    first = create_run("tiny")
    point_to(first)
    second = create_run("tiny")
    assert current_run("tiny") == first
    point_to(second)
    assert current_run("tiny") == second
    assert current_runs() == (second,)


def test_a_hostile_pointer_stays_inside(tmp_path: Path) -> None:
    replace_json(tmp_path / "moonpad" / "endpoints" / "tiny.json", {"run": "../../etc"})
    assert current_run("tiny") is None


def test_the_first_event_of_a_name_counts() -> None:
    folder = create_run("tiny")
    folder.append_event("ready", token_s=1)
    folder.append_event("ready", token_s=2)
    found = folder.event("ready")
    assert found is not None
    assert found["token_s"] == 1
