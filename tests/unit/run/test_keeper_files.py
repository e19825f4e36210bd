"""What the keeper writes: its archive, the engine's log, the journal, locks and claims."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from moonpad.run.keeper.locks import await_holder, read_holder, release_lock, take_claim, take_lock
from moonpad.run.keeper.log_file import bound_log, renew_log
from moonpad.run.keeper_archive import keeper_archive
from moonpad.store.atomic_files import replace_json
from moonpad.store.journal import UNWRITTEN_EVENTS, Journal


def test_the_archive_is_whole_and_always_the_same(tmp_path: Path) -> None:
    """Each of its modules can be imported without moonpad's own environment."""
    path = tmp_path / "keeper.pyz"
    path.write_bytes(keeper_archive())
    with zipfile.ZipFile(path) as archive:
        names = [name.removesuffix(".py").replace("/", ".") for name in archive.namelist() if name != "__main__.py"]
    names = [name.removesuffix(".__init__") for name in names if not name.endswith(".__main__")]
    script = (
        "import importlib, sys; sys.path.insert(0, sys.argv[1])\n"
        "for name in sys.argv[2:]: assert sys.argv[1] in (importlib.import_module(name).__file__ or '')"
    )
    subprocess.run((sys.executable, "-I", "-S", "-c", script, str(path), *names), check=True, cwd=tmp_path)
    assert "moonpad.run.keeper.remote_agent" in names
    keeper_archive.cache_clear()
    assert keeper_archive() == path.read_bytes()


# --- the log ---


def test_log_is_moved_while_it_is_written(tmp_path: Path) -> None:
    log = tmp_path / "engine.log"
    with log.open("ab", buffering=0) as writer:
        writer.write(b"first line\n" + b"x" * 1500)
        assert bound_log(str(log), 1000) == 0
        assert log.stat().st_size == 0
        writer.write(b"after\n")
    assert log.read_bytes() == b"after\n", "a writer that appends goes on at the start"
    assert (tmp_path / "engine.log.1").read_bytes().startswith(b"first line\n")
    assert (tmp_path / "engine.log.head").read_bytes().startswith(b"first line\n")


def test_log_below_its_limit_is_left_alone(tmp_path: Path) -> None:
    log = tmp_path / "engine.log"
    assert bound_log(str(log), 1000) is None
    log.write_bytes(b"x" * 1000)
    assert bound_log(str(log), 1000) is None
    assert [path.name for path in tmp_path.iterdir()] == ["engine.log"]


def test_logs_are_bounded_in_number(tmp_path: Path) -> None:
    log = tmp_path / "engine.log"
    for turn in range(10):
        log.write_bytes(b"%d" % turn * 2000)
        bound_log(str(log), 1000)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "engine.log",
        "engine.log.1",
        "engine.log.2",
        "engine.log.3",
        "engine.log.head",
    ]
    assert (tmp_path / "engine.log.1").read_bytes()[:1] == b"9"
    assert (tmp_path / "engine.log.head").read_bytes()[:1] == b"0", "the start is what says how it began"


def test_log_of_a_full_disk_is_cut_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    log = tmp_path / "engine.log"
    log.write_bytes(b"x" * 2000)
    monkeypatch.setattr(os, "sendfile", full)
    assert bound_log(str(log), 1000) == 2000, "what was lost is counted"
    assert log.stat().st_size == 0
    assert [path.name for path in tmp_path.iterdir()] == ["engine.log"]


def test_a_new_generation_has_a_new_log(tmp_path: Path) -> None:
    log = tmp_path / "engine.log"
    log.write_text("the first generation\n")
    (tmp_path / "engine.log.head").write_text("its start")
    renew_log(str(log))
    assert not log.exists()
    assert not (tmp_path / "engine.log.head").exists()
    assert (tmp_path / "engine.log.1").read_text() == "the first generation\n"


# --- the journal ---


def test_journal_holds_what_a_full_disk_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(tmp_path / "events.jsonl")
    journal.append("one")
    whole = os.write

    def torn(handle: int, data: bytes) -> int:
        return whole(handle, data[:5])

    monkeypatch.setattr(os, "write", torn)
    journal.append("two")
    monkeypatch.setattr(os, "write", whole)
    journal.append("three")
    lines = (tmp_path / "events.jsonl").read_text().splitlines()
    assert lines[1] == '{"eve', "the torn line has an end of its own"
    assert [json.loads(line)["event"] for line in (lines[0], *lines[2:])] == ["one", "two", "three"]


def test_journal_is_bounded(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "missing" / "events.jsonl")
    for number in range(UNWRITTEN_EVENTS + 10):
        journal.append("event", number=number)
    assert len(journal.unwritten) == UNWRITTEN_EVENTS
    assert journal.unwritten[-1]["number"] == UNWRITTEN_EVENTS + 9


def test_replace_leaves_no_part(tmp_path: Path) -> None:
    circular: dict[str, object] = {}
    circular["itself"] = circular
    with pytest.raises(ValueError, match="Circular"):
        replace_json(tmp_path / "keeper.json", circular)
    assert not list(tmp_path.iterdir())


# --- locks ---


def test_lock_of_the_dead_is_taken_over(tmp_path: Path) -> None:
    path = str(tmp_path / "name.lock")
    script = (
        "import os, sys; from moonpad.run.keeper.locks import take_lock\n"
        "take_lock(sys.argv[1], {'user': 'ada', 'pid': os.getpid()}); os._exit(0)"
    )
    subprocess.run((sys.executable, "-c", script, path), check=True)
    former: dict[str, object] = {}
    handle = take_lock(path, {"user": "bob"}, former=former)
    assert handle is not None
    assert former["user"] == "ada"
    assert read_holder(path) == {"user": "bob"}
    assert take_lock(path, {"user": "eve"}) is None
    release_lock(path, handle)
    assert not list(tmp_path.iterdir())


def test_the_holder_of_a_lock_is_named_a_moment_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "a.lock")
    Path(path).touch()
    pauses: list[float] = []

    def sleep(pause_s: float) -> None:
        pauses.append(pause_s)
        if len(pauses) == 3:
            Path(path).write_text('{"user": "ada"}')

    monkeypatch.setattr(time, "sleep", sleep)
    assert await_holder(path) == {"user": "ada"}
    assert len(pauses) == 3
    Path(path).write_text("")
    now = iter(range(1000))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(now)))
    assert await_holder(path) == {}, "on a full disk it cannot be written, and the wait ends"


def test_claims_come_and_go_with_their_folder(tmp_path: Path) -> None:
    path = str(tmp_path / "locks" / "port-8000.lock")
    claim = take_claim(path, {"user": "ada"})
    assert claim is not None
    assert take_claim(path, {"user": "bob"}) is None
    assert Path(path).stat().st_mode & 0o777 == 0o666, "another user may take it over"
    assert (tmp_path / "locks").stat().st_mode & 0o7777 == 0o1777
    release_lock(path, claim)
