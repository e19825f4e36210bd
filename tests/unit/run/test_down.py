"""Stopping a run, with a keeper that answers, one that does not, and none; and what becomes of its requests."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from moonpad.facts.processes import send_signal
from moonpad.run import down
from moonpad.run.down import stop_run, tidy_up
from moonpad.run.drain import Drained, Requests
from moonpad.run.keeper.locks import release_lock, take_lock
from moonpad.run.keeper.stop import name_temp_dir
from moonpad.run.run_status import read_status
from moonpad.store.atomic_files import read_json, replace_json
from moonpad.store.paths import lock_path, port_claim
from moonpad.store.run_folder import RunFolder, create_run
from moonpad.values.errors import ContactLost
from moonpad.values.supervision import State
from tests.unit.run.stopped_runs import FakeKeeper, Spawn, lives, requests, run, spawn

__all__ = ["spawn"]


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr("moonpad.store.paths.claims_folder", lambda: tmp_path / "locks")


# --- without a keeper ------------------------------------------------------------------------------------------------


def test_the_job_is_finished(spawn: Spawn, tmp_path: Path) -> None:
    """The engine, the controller, and all that a killed keeper could not remove."""
    engine, controller, gone = spawn(), spawn(), spawn("true")
    temp_dir = Path(name_temp_dir(str(tmp_path)))
    temp_dir.mkdir()
    (temp_dir / "socket").touch()
    shared = Path(f"/dev/shm/psm_moonpad_{os.getpid()}")
    shared.touch()
    folder = run(
        kept_by=gone,
        owned=[engine],
        controller=controller,
        temp_dir=str(temp_dir),
        shared_memory=[str(shared)],
        after_stop=[[["touch", str(tmp_path / "after")]]],
        ports=[1],
    )
    parts = [folder.path / f".controller.json.{pid}.part" for pid in (gone["pid"], os.getpid())]
    for part in parts:
        part.touch()
    ours = {"run": folder.run_id, "pid": gone["pid"]}
    replace_json(lock_path("tiny"), ours)
    replace_json(port_claim(1), ours)
    assert read_status(folder, None).state is State.UNATTENDED

    stopped = stop_run(folder, 4.0)

    assert (stopped.was_up, stopped.by, stopped.signal, stopped.killed) == (True, "us", "INT", 0)
    assert not lives(engine)
    assert not lives(controller)
    assert not temp_dir.exists()
    assert not shared.exists()
    assert [part.exists() for part in parts] == [False, True], "half a file of the dead, and one that is being written"
    assert (tmp_path / "after").exists()
    assert not lock_path("tiny").exists()
    assert not port_claim(1).parent.exists()
    event = folder.last_event("stopped")
    assert event is not None
    assert event["reason"] == "finished by down: the keeper was gone"
    assert (event["shared_memory_removed"], event["temp_files_removed"]) == ([shared.name], 1)
    assert read_status(folder, None).state is State.STOPPED
    recorded = folder.keeper()
    assert (recorded["owned"], recorded["after_stop"], recorded["temp_dir"]) == ([], [], "")
    assert not stop_run(folder, 4.0).was_up


def test_what_another_run_is_to_take_the_name_of(spawn: Spawn) -> None:
    """Nothing of it lives, and after this its leftovers would be unknown. Its lock is for the next keeper."""
    shared = Path(f"/dev/shm/psm_moonpad_{os.getpid()}")
    shared.touch()
    folder = run(kept_by=spawn("true"), owned=[], shared_memory=[str(shared)])
    replace_json(lock_path("tiny"), {"run": folder.run_id})
    tidy_up(folder)
    assert not shared.exists()
    assert lock_path("tiny").exists()
    assert read_status(folder, None).because == "finished by up: the keeper was gone"


def test_what_another_up_is_about_to_start_is_not_tidied_up(spawn: Spawn) -> None:
    """Its keeper has the lock, and has written nothing yet; or has written that it lives."""
    folder = create_run("tiny")
    replace_json(lock_path("tiny"), {"run": folder.run_id})
    tidy_up(folder)
    assert folder.last_event("stopped") is None
    folder = run(kept_by=spawn(), owned=[])
    tidy_up(folder)
    assert folder.last_event("stopped") is None


def test_what_is_deaf_is_killed(spawn: Spawn) -> None:
    deaf = spawn(sys.executable, "-c", DEAF)
    wait_until_deaf(deaf)
    folder = run(kept_by=spawn("true"), owned=[deaf])
    stopped = stop_run(folder, 0.2)
    assert (stopped.signal, stopped.killed, lives(deaf)) == ("KILL", 1, False)
    assert not stopped.eased


DEAF = """
import signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True:
    time.sleep(60)
"""


def wait_until_deaf(process: dict[str, int]) -> None:
    while "SigIgn:\t0000000000000000" in (text := Path(f"/proc/{process['pid']}/status").read_text()) or not deaf_in(
        text
    ):
        pass


def deaf_in(status: str) -> bool:
    ignored = int(next(line for line in status.splitlines() if line.startswith("SigIgn")).split()[1], 16)
    return bool(ignored & 1 << (signal.SIGTERM - 1))


def test_what_only_writes_to_the_log_goes_too(spawn: Spawn) -> None:
    """An orphan that no snapshot of its killed keeper names."""
    folder = run(kept_by=spawn("true"), owned=[])
    with folder.log_path.open("w") as log, subprocess.Popen(("sleep", "600"), stdout=log) as orphan:
        assert stop_run(folder, 1.0).was_up
        assert orphan.wait(10) == -signal.SIGTERM


def test_nothing_is_left_but_a_lock(spawn: Spawn) -> None:
    """Its engine had ended by itself when its keeper was killed: it was not up, and the next `up` finds no leftover."""
    folder = run(kept_by=spawn("true"), owned=[])
    replace_json(lock_path("tiny"), {"run": folder.run_id})
    assert not stop_run(folder, 1.0).was_up
    assert not lock_path("tiny").exists()
    assert read_status(folder, None).state is State.STOPPED


def test_another_runs_lock_is_its_own(spawn: Spawn) -> None:
    folder = run(kept_by=spawn("true"), owned=[spawn()], ports=[1])
    replace_json(lock_path("tiny"), {"run": "another"})
    replace_json(port_claim(1), {"run": "another"})
    stop_run(folder, 1.0)
    assert read_json(lock_path("tiny")) == {"run": "another"}
    assert read_json(port_claim(1)) == {"run": "another"}


def test_what_has_ended_is_left_as_it_is(spawn: Spawn) -> None:
    folder = run(kept_by=spawn("true"), owned=[], state="failed")
    before = {path.name: path.read_bytes() for path in folder.path.iterdir()}
    assert not stop_run(folder, 1.0).was_up
    assert before == {path.name: path.read_bytes() for path in folder.path.iterdir()}


def test_the_machine_was_rebooted(spawn: Spawn) -> None:
    """The pids and the shared memory of another boot belong to others by now."""
    stranger = spawn()
    shared = Path(f"/dev/shm/psm_moonpad_{os.getpid()}")
    folder = run(kept_by=stranger, owned=[stranger], boot_id="another", shared_memory=[str(shared)])
    # Held open: what no process holds may be claimed by the keeper of another test that loses a process just then.
    with shared.open("w"):
        try:
            assert not stop_run(folder, 1.0).was_up
            assert lives(stranger)
            assert shared.exists()
        finally:
            shared.unlink()


# --- by its keeper ---------------------------------------------------------------------------------------------------


def test_the_keeper_does_it(spawn: Spawn, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = FakeKeeper(spawn, monkeypatch)
    stopped = stop_run(kept.folder, 7.0)
    assert kept.requests == [{"do": "stop", "drain_s": 0.0, "grace_s": 7.0, "reason": "asked to stop"}]
    assert (stopped.was_up, stopped.by, stopped.signal, stopped.killed) == (True, "keeper", "INT", 0)
    assert stopped.drained is None


def test_no_patience_is_a_hurry(spawn: Spawn, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = FakeKeeper(spawn, monkeypatch)
    assert stop_run(kept.folder, 60.0, patience_s=0.0).signal == "KILL"
    assert [request["do"] for request in kept.requests] == ["hurry"]


def test_patience_that_ends_is_a_hurry(spawn: Spawn, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = FakeKeeper(spawn, monkeypatch, deaf_to="stop")
    assert stop_run(kept.folder, 60.0, patience_s=0.1).signal == "KILL"
    assert [request["do"] for request in kept.requests] == ["stop", "hurry"]


@pytest.mark.parametrize("halted", [False, True])
def test_a_keeper_that_does_not_answer(spawn: Spawn, monkeypatch: pytest.MonkeyPatch, halted: bool) -> None:
    """It gets a signal, and is continued where it was halted; this one dies of it, and the job is finished."""
    process, engine = spawn(), spawn()
    if halted:
        send_signal(process["pid"], process["start"], signal.SIGSTOP)

    def no_answer(*_: object, **__: object) -> None:
        raise ContactLost("no answer")

    monkeypatch.setattr(down, "tell", no_answer)
    stopped = stop_run(run(kept_by=process, owned=[engine]), 2.0)
    assert (stopped.was_up, stopped.by) == (True, "us")
    assert not lives(process)
    assert not lives(engine)


def test_a_keeper_that_could_write_nothing(spawn: Spawn, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full: only the lock says who it is, and its socket answers."""
    process = spawn()
    folder = create_run("tiny")
    lock_path("tiny").parent.mkdir()
    lock = take_lock(str(lock_path("tiny")), {"run": folder.run_id, "pid": process["pid"]})
    assert lock is not None
    actions: list[str] = []

    def tell(folder: RunFolder, do: str, *_: object, **__: object) -> dict[str, Any]:
        actions.append(do)
        send_signal(process["pid"], process["start"], signal.SIGKILL)
        assert lock is not None
        release_lock(str(lock_path("tiny")), lock)
        return {"ok": True}

    monkeypatch.setattr(down, "tell", tell)
    monkeypatch.setattr(down, "FIRST_WORD_S", 0.0)
    assert stop_run(folder, 1.0).was_up
    assert actions == ["stop"]
    assert not lives(process)


# --- the requests that run -------------------------------------------------------------------------------------------


def test_what_runs_finishes(spawn: Spawn, monkeypatch: pytest.MonkeyPatch) -> None:
    """The keeper drains, no longer than the engine would; it is over when nothing runs and the last answer is out."""
    monkeypatch.setattr(down, "FLUSH_S", 0.3)
    kept = FakeKeeper(spawn, monkeypatch, drain_s=30.0, deaf_to="stop")
    requests(monkeypatch, 8, 3, 0)
    stopped = stop_run(kept.folder, 7.0, drain_s=60.0)
    assert kept.requests[0] == {"do": "stop", "drain_s": 30.0, "grace_s": 7.0, "reason": "asked to stop"}
    assert stopped.drained == Drained(8, 8, 0, refuses_new=True)
    drained = kept.folder.last_event("drained")
    assert drained is not None
    assert (drained["finished"], drained["cut"]) == (8, 0)


def test_an_idle_engine_is_not_waited_for(spawn: Spawn, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has nothing to finish, and is not waited for while it tidies up."""
    monkeypatch.setattr(down, "FLUSH_S", 60.0)
    kept = FakeKeeper(spawn, monkeypatch, drain_s=30.0, deaf_to="stop")
    requests(monkeypatch, 0)
    stopped = stop_run(kept.folder, 60.0)
    assert [request["do"] for request in kept.requests] == ["stop", "hurry"]
    assert stopped.eased
    assert stopped.drained is None


def test_a_busy_engine_has_its_grace(spawn: Spawn, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = FakeKeeper(spawn, monkeypatch, drain_s=30.0, deaf_to="stop")
    requests(monkeypatch, *[1] * 6, None)
    lines: list[str] = []

    def say(text: str) -> None:
        lines.append(text)
        if len(lines) == 30:  # about a second, in which an idle one would have been hurried
            assert lives(kept.engine)
            kept.end("stop")

    stopped = stop_run(kept.folder, 60.0, say=say)
    assert [request["do"] for request in kept.requests] == ["stop"]
    assert not stopped.eased


def test_what_is_late_is_cut(spawn: Spawn, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = FakeKeeper(spawn, monkeypatch, drain_s=30.0, deaf_to="stop")
    requests(monkeypatch, 8, 5, 3)
    stopped = stop_run(kept.folder, 60.0, drain_s=0.5)
    assert [request["do"] for request in kept.requests] == ["stop", "hurry"]
    assert stopped.drained == Drained(8, 5, 3, refuses_new=True)
    assert not stopped.eased, "it had to be killed"


def test_an_engine_that_cannot_refuse(spawn: Spawn, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not told anything before nothing runs, or the time is over."""
    kept = FakeKeeper(spawn, monkeypatch)
    requests(monkeypatch, 2, 4, 0)
    lines: list[str] = []
    stopped = stop_run(kept.folder, 7.0, drain_s=60.0, say=lines.append)
    assert lines[0] == "draining tiny: 2 requests run"
    assert kept.requests == [{"do": "stop", "drain_s": 0.0, "grace_s": 7.0, "reason": "asked to stop"}]
    assert stopped.drained == Drained(2, 2, 0, refuses_new=False)


def test_an_engine_that_cannot_refuse_is_cut(spawn: Spawn, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = FakeKeeper(spawn, monkeypatch)
    requests(monkeypatch, 2, 1)
    assert stop_run(kept.folder, 7.0, drain_s=0.3).drained == Drained(2, 1, 1, refuses_new=False)


@pytest.mark.parametrize("drain_s", [0.0, 30.0])
def test_an_engine_that_does_not_say(spawn: Spawn, monkeypatch: pytest.MonkeyPatch, drain_s: float) -> None:
    """Not reported is not zero, and a count that cannot be seen is not waited for."""
    kept = FakeKeeper(spawn, monkeypatch, drain_s=drain_s)
    requests(monkeypatch, None)
    assert stop_run(kept.folder, 7.0, drain_s=60.0).drained == Drained(None, None, None, refuses_new=drain_s > 0)


def test_an_engine_that_was_never_ready_has_none(spawn: Spawn, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = FakeKeeper(spawn, monkeypatch, drain_s=30.0)
    kept.folder.events_path.unlink()
    assert stop_run(kept.folder, 7.0, drain_s=60.0).drained == Drained(0, 0, 0, refuses_new=True)


def test_requests_are_asked_for_now_and_then() -> None:
    now_s, answers = [0.0], iter([3, None, 1, 0, 0])
    seen = Requests(lambda: next(answers), lambda: now_s[0])
    assert (seen.first, seen.last, seen.had_any, str(seen)) == (3, 3, True, "3 requests run")
    seen.look()
    assert next(answers) is None, "it was asked a moment ago"
    now_s[0] = 1.0
    seen.look()
    assert (seen.last, str(seen), seen.idle_for_s()) == (1, "1 request runs", None)
    now_s[0] = 2.0
    seen.look()
    assert seen.idle_for_s() == 0.0
    now_s[0] = 3.5
    assert seen.idle_for_s() == 1.5
    assert seen.drained(0, refuses_new=True) == Drained(3, 3, 0, refuses_new=True)
    assert seen.drained(5, refuses_new=False) == Drained(3, 0, 5, refuses_new=False), "new ones came in"
    assert not Requests(lambda: 0).had_any
