"""The truth table of `status`: what is recorded against what lives and what answers. No process of ours is started."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from moonpad.facts.processes import read_boot_id, read_stat
from moonpad.observe.readiness import ProbeAnswer
from moonpad.run import run_status
from moonpad.run.endpoints import find_run
from moonpad.run.keeper.locks import take_lock, write_holder
from moonpad.run.run_status import RunStatus, read_status
from moonpad.store.atomic_files import replace_json
from moonpad.store.paths import lock_path
from moonpad.store.run_folder import RunFolder, create_run
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import ContactLost, UsageError
from moonpad.values.supervision import State

ENDPOINT = Endpoint("http://127.0.0.1:1/v1", "tiny", None, "vllm-cpu")
HEALTHY, UNWELL = ProbeAnswer(200, ""), ProbeAnswer(503, "")
REFUSED, SLOW = ProbeAnswer(None, "Connection refused"), ProbeAnswer(None, "timed out", timed_out=True)


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(run_status, "ask_health", lambda *_: HEALTHY)


@pytest.fixture
def engine() -> Iterator[dict[str, int]]:
    """Something that lives, to stand for a process of the engine."""
    child = subprocess.Popen(("sleep", "600"))
    yield identity(child.pid)
    child.kill()
    child.wait()


@pytest.fixture
def health(monkeypatch: pytest.MonkeyPatch) -> Callable[[ProbeAnswer], None]:
    return lambda answer: monkeypatch.setattr(run_status, "ask_health", lambda *_: answer)


@pytest.fixture
def keeper_says(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """The keeper's answer over its socket."""
    return lambda **answer: monkeypatch.setattr(run_status, "tell", lambda *_, **__: {"ok": True, **answer})


def identity(pid: int) -> dict[str, int]:
    stat = read_stat(pid)
    assert stat is not None
    return {"pid": pid, "start": stat[1]}


US = identity(os.getpid())
GONE = {"pid": US["pid"], "start": US["start"] + 1}
"""Our pid as another process had it before us."""


def run(state: str = "running", **fields: Any) -> RunFolder:
    """A run whose keeper and controller are this process."""
    folder = create_run("tiny")
    owned = fields.pop("owned", [])
    document = {
        "schema": 2,
        "state": state,
        "because": "its processes run",
        "boot_id": read_boot_id(),
        "keeper": US,
        "controller": US,
        "generation": 1,
        "roots": [{"name": "engine", **process} for process in owned[:1]],
        "owned": owned,
        "after_stop": [],
        "cgroup": "",
        **fields,
    }
    replace_json(folder.path / "keeper.json", document)
    return folder


def says(folder: RunFolder, state: str, **fields: Any) -> None:
    """The controller's word."""
    word = {"schema": 2, **US, "boot_id": read_boot_id(), "generation": 1, "state": state, "because": "it says so"}
    replace_json(folder.path / "controller.json", {**word, "stable": False, "restarts": 0, **fields})


def at(folder: RunFolder) -> RunStatus:
    """The truth, which must not have changed anything."""
    before = {path.name: path.read_bytes() for path in folder.path.iterdir()}
    status = read_status(folder, ENDPOINT)
    assert before == {path.name: path.read_bytes() for path in folder.path.iterdir()}
    return status


# --- a keeper that lives ---------------------------------------------------------------------------------------------


def test_before_the_controller_has_looked() -> None:
    status = at(run(controller=None))
    assert (status.state, status.because) == (State.STARTING, "its controller is about to start")
    status = at(run())
    assert (status.state, status.because) == (State.STARTING, "its controller has not looked at it yet")
    assert (status.up, status.stopping, status.keeper_pid, status.controller_pid) == (True, False, US["pid"], US["pid"])


def test_the_controller_is_believed(engine: dict[str, int], health: Callable[[ProbeAnswer], None]) -> None:
    folder = run(owned=[engine])
    says(folder, "starting", because="loading weights 40%")
    assert (at(folder).state, at(folder).because) == (State.STARTING, "loading weights 40%")
    says(folder, "stalled", because="the engine hangs")
    assert (at(folder).state, at(folder).because) == (State.STALLED, "the engine hangs")
    says(folder, "ready", because="one real token came back", stable=True, restarts=2)
    status = at(folder)
    assert (status.state, status.because) == (State.READY, "one real token came back; /health answers 200")
    assert (status.stable, status.restarts, status.engine_pid) == (True, 2, engine["pid"])


def test_a_lost_process_is_no_longer_ready(engine: dict[str, int]) -> None:
    """`/health` may answer 200 still; its keeper has seen what died, and stops the rest in a moment."""
    folder = run(owned=[engine], lost="VLLM::Worker_TP0 (pid 7) died: SIGKILL")
    says(folder, "ready", stable=True)
    status = at(folder)
    wanted = "is being stopped: 1 process left, VLLM::Worker_TP0 (pid 7) died: SIGKILL"
    assert (status.state, status.because, status.stopping) == (State.FAILED, wanted, True)


@pytest.mark.parametrize(("answer", "why"), [(REFUSED, "Connection refused"), (UNWELL, "503")])
def test_ready_is_what_answers_now(answer: ProbeAnswer, why: str, health: Callable[[ProbeAnswer], None]) -> None:
    folder = run()
    says(folder, "ready", stable=True)
    health(answer)
    status = at(folder)
    assert (status.state, status.because) == (State.STALLED, f"was ready, and /health does not answer: {why}")
    assert not status.stable


def test_no_answer_within_our_short_time_proves_nothing(health: Callable[[ProbeAnswer], None]) -> None:
    folder = run()
    says(folder, "ready")
    health(SLOW)
    status = at(folder)
    assert status.state is State.READY
    assert "takes longer than 0.20 s" in status.because


def test_a_word_on_another_generation_counts_for_nothing() -> None:
    folder = run(generation=2)
    says(folder, "ready", generation=1, stable=True, restarts=1)
    status = at(folder)
    assert (status.state, status.stable, status.restarts) == (State.STARTING, False, 1)


@pytest.mark.parametrize(("answer", "words"), [(HEALTHY, "answers 200"), (REFUSED, "does not answer: Connection ref")])
def test_without_a_controller_it_is_unattended(
    answer: ProbeAnswer, words: str, health: Callable[[ProbeAnswer], None]
) -> None:
    """What it has said last may be old: the endpoint is asked instead."""
    folder = run(controller=None)
    folder.append_event("controller_started", pid=2**22, starts=1)
    says(folder, "ready", **GONE)
    health(answer)
    status = at(folder)
    assert (status.state, status.controller_pid, status.up) == (State.UNATTENDED, None, True)
    assert "its controller ended" in status.because
    assert words in status.because


def test_a_controller_that_is_in_no_file_yet() -> None:
    """Between its start and the keeper's next look; our parent stands for the keeper, we for the controller."""
    folder = run(controller=None, keeper=identity(os.getppid()))
    folder.append_event("controller_started", pid=os.getpid(), starts=1)
    status = at(folder)
    assert (status.state, status.controller_pid) == (State.STARTING, os.getpid())


def test_the_keepers_own_word_is_newer_than_its_file(keeper_says: Callable[..., None]) -> None:
    """A full disk keeps it from writing."""
    folder = run()
    says(folder, "ready", generation=1)
    keeper_says(state="running", because="its processes run", generation=2)
    assert at(folder).state is State.STARTING
    keeper_says(state="stopping", because="asked to stop", generation=2)
    assert at(folder).stopping


def test_waiting_for_a_decision() -> None:
    folder = run("waiting", because="engine ended: exit 1")
    assert at(folder).because == "its controller is deciding whether to restart it, after: engine ended: exit 1"
    folder.append_event("restarting", reason="x", delay_s=3600.0, restart=1, of=3, generation=1)
    status = at(folder)
    assert (status.state, status.stopping) == (State.STARTING, False)
    assert status.because.startswith(("restart 1 of 3 in 3600.0 s", "restart 1 of 3 in 3599."))
    assert status.because.endswith(", after: engine ended: exit 1")


def test_a_decision_on_an_earlier_end_is_not_this_ones() -> None:
    folder = run("waiting", because="engine ended: exit 1", generation=2)
    folder.append_event("restarting", reason="x", delay_s=1.0, restart=1, of=3, generation=1)
    assert "deciding whether" in at(folder).because


def test_given_up() -> None:
    folder = run("waiting", because="engine ended: exit 1")
    folder.append_event("giving_up", reason="given up after 3 restarts", generation=1)
    assert (at(folder).state, at(folder).because) == (State.FAILED, "given up after 3 restarts")


@pytest.mark.parametrize(
    ("because", "state"), [("asked to stop", State.STOPPED), ("engine ended: SIGKILL", State.FAILED)]
)
def test_being_stopped(because: str, state: State, engine: dict[str, int]) -> None:
    status = at(run("stopping", because=because, owned=[engine]))
    assert (status.state, status.stopping, status.up) == (state, True, True)
    assert status.because == f"is being stopped: 1 process left, {because}"


def test_a_keeper_that_is_about_to_go() -> None:
    status = at(run("failed", because="engine ended: exit 1"))
    assert (status.state, status.because, status.stopping) == (State.FAILED, "engine ended: exit 1", True)


def test_an_older_keeper_has_no_controller(health: Callable[[ProbeAnswer], None]) -> None:
    """Schema 1: who is ready was written down as an event, by `up` or by `status`."""
    folder = run(schema=1, controller=None)
    assert at(folder).state is State.STARTING
    folder.append_event("ready", token_s=0.1)
    assert at(folder).state is State.READY
    health(REFUSED)
    assert at(folder).state is State.STALLED


# --- a keeper that has gone ------------------------------------------------------------------------------------------


def test_something_is_left(engine: dict[str, int]) -> None:
    status = at(run(keeper=GONE, owned=[engine]))
    assert (status.state, status.because) == (
        State.UNATTENDED,
        "the keeper is gone, with 1 process of the run still running",
    )
    assert (status.up, status.keeper_pid, status.engine_pid) == (True, None, engine["pid"])


def test_something_is_left_that_only_its_log_betrays() -> None:
    folder = run(keeper=GONE)
    with folder.log_path.open("w") as log, subprocess.Popen(("sleep", "600"), stdout=log) as orphan:
        status = at(folder)
        orphan.kill()
    assert (status.state, list(status.owned)) == (State.UNATTENDED, [orphan.pid])


def test_a_recycled_pid_is_not_ours() -> None:
    status = at(run(keeper=GONE, owned=[GONE]))
    assert (status.state, status.up) == (State.FAILED, False)
    assert status.because == "the keeper was killed, and none of its processes is left"


def test_another_boot(engine: dict[str, int]) -> None:
    status = at(run(owned=[engine], boot_id="another"))
    assert (status.state, status.up) == (State.FAILED, False)
    assert status.because == "the host was rebooted; this run is no longer active"


@pytest.mark.parametrize("state", ["stopped", "failed"])
def test_its_last_word(state: str) -> None:
    folder = run(state, keeper=GONE)
    folder.append_event(state, reason="that is why")
    assert (at(folder).state, at(folder).because, at(folder).up) == (State(state), "that is why", False)


def test_its_last_word_where_one_of_the_two_did_not_fit() -> None:
    folder = run("stopping", keeper=GONE)
    folder.append_event("stopped", reason="asked to stop")
    assert (at(folder).state, at(folder).because) == (State.STOPPED, "asked to stop")
    assert at(run("failed", keeper=GONE, because="that is why")).because == "that is why"


def test_gone_between_two_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """It writes its last word and ends after its file was read, before it is looked for."""
    folder = run("stopping", keeper=GONE)
    last = run("stopped", keeper=GONE, because="asked to stop").keeper()
    documents = iter([folder.keeper()])
    monkeypatch.setattr(RunFolder, "keeper", lambda _: next(documents, last))
    assert read_status(folder, None).state is State.STOPPED


def test_a_keeper_that_has_written_nothing_yet() -> None:
    """It holds the name's lock, and that is all; the pid in it may be that of its launcher, which is gone."""
    folder = create_run("tiny")
    lock_path("tiny").parent.mkdir()
    killed = "its keeper was killed before it had started anything"
    assert (at(folder).because, at(folder).up) == (killed, False)
    handle = take_lock(str(lock_path("tiny")), {"run": folder.run_id, "pid": 1})
    assert handle is not None
    assert (at(folder).state, at(folder).up, at(folder).keeper_pid) == (State.STARTING, True, 1)
    write_holder(handle, {"run": "another", "pid": 1})
    assert (at(folder).because, at(folder).up) == (killed, False)
    write_holder(handle, {"run": folder.run_id, "pid": 1})
    os.close(handle)
    assert (at(folder).because, at(folder).up) == (killed, False), "a file without a holder is not a lock"


# --- which run is meant ----------------------------------------------------------------------------------------------


def named(name: str, folder: RunFolder) -> RunFolder:
    folder_of_name = RunFolder(name, folder.path)
    replace_json(folder_of_name.pointer_path, folder_of_name.pointer_document())
    return folder_of_name


def test_the_only_one_that_is_up() -> None:
    named("a", run("stopped", keeper=GONE))
    up = named("b", run())
    assert find_run(None).path == up.path
    named("c", run())
    with pytest.raises(UsageError, match="several endpoints are up: b, c"):
        find_run(None)


def test_a_run_of_a_newer_moonpad_does_not_hide_others() -> None:
    named("a", run(schema=3))
    named("b", run("stopped", keeper=GONE))
    with pytest.raises(ContactLost, match="newer moonpad"):
        read_status(find_run(None), None)
    up = named("c", run())
    assert find_run(None).path == up.path


def test_restarts_tell_how_long_is_left() -> None:
    folder = run("waiting", because="x")
    decided_s = folder.append_event("restarting", delay_s=5.0, restart=2, of=3, generation=1)["t_s"]
    _, because = run_status._waiting(folder, folder.keeper(), decided_s + 3.0)
    assert because.startswith("restart 2 of 3 in 2.0 s"), because
    _, because = run_status._waiting(folder, folder.keeper(), time.monotonic() + 60.0)
    assert because.startswith("restart 2 of 3 in 0.0 s")
