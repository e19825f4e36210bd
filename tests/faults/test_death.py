"""Deaths of the engine's processes: said at once and by their true cause, and nothing outlives them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from moonpad.facts.processes import send_signal
from moonpad.run.keeper_client import tell
from moonpad.run.launch import KEEPER_PROGRAM
from moonpad.store.run_folder import RunFolder
from tests.conftest import ROOT, Moonpad
from tests.faults.helpers import (
    COMM,
    await_event,
    await_gone,
    comm_of,
    events_of,
    everybody,
    job_of,
    keeper_document,
    keeper_of,
    owned_of,
    pid_of_role,
    pids_of_role,
    run_folder,
    set_launch,
    status_of,
    wait_until,
)

pytestmark = pytest.mark.usefixtures("clean_world")

FOUND_S = 5.0  # a dead process is noticed, and said
GONE_S = 15.0  # and nothing of its gang is left


def test_dies_while_loading(moonpad: Moonpad, fake_spec: Path) -> None:
    """Fault 1: said when it happens, not at the start timeout, with the phase, the status and the first true error."""
    set_launch(fake_spec, start_timeout="600s")
    up = moonpad.start("up", str(fake_spec), FAKE_CRASH_AT="load:40%", FAKE_EXIT="37")
    await_event(moonpad, "failed")
    _, errors = up.communicate(timeout=FOUND_S)
    assert up.returncode == 4, errors
    assert "loading weights 40%" in errors
    assert "exit 37" in errors
    assert "ValueError: the tensor is too large" in errors
    assert "Engine core initialization failed" not in errors, "that is the last error, not the cause"
    assert status_of(moonpad)["state"] == "failed"


@pytest.mark.parametrize("lies", [pytest.param(False, marks=pytest.mark.slow), True], ids=["engine ends", "lives on"])
def test_worker_killed(moonpad: Moonpad, fake_spec: Path, lies: bool) -> None:
    """Fault 4: a worker gets SIGKILL, as from the kernel's OOM killer. The gang ends, the event names pid and signal.

    An engine that notices ends by itself, with an exit status that says nothing; one that does not is ended.
    """
    assert moonpad("up", str(fake_spec), **({"FAKE_HEALTH_LIES": "1"} if lies else {})).code == 0
    living = everybody(moonpad)
    worker = pid_of_role(moonpad, "worker")
    os.kill(worker, signal.SIGKILL)
    failed = await_event(moonpad, "failed", GONE_S)
    await_gone(living, GONE_S)
    assert f"(pid {worker}) died: SIGKILL" in failed["reason"]
    assert "VLLM::Worker_TP0" in failed["reason"]
    first = failed["deaths"][0]
    assert (first["pid"], first["how"]) == (worker, "SIGKILL")
    assert failed["oom_kills"] in (0, None), "nothing ran out of memory"
    assert status_of(moonpad)["state"] == "failed"


def test_api_server_killed(moonpad: Moonpad, fake_spec: Path) -> None:
    """Fault 5: the workers have left its process group and session, listen to nothing, and do not survive it. What
    they leave in shared memory and in the temporary directory goes too."""
    set_launch(fake_spec, stop_grace="1s")
    assert moonpad("up", str(fake_spec), FAKE_IGNORE_TERM="1").code == 0
    living = everybody(moonpad)
    api, workers = pid_of_role(moonpad, "api"), pids_of_role(moonpad, "worker")
    assert len(workers) == 2
    for worker in workers:
        assert os.getsid(worker) != os.getsid(api)
        assert os.getpgid(worker) != os.getpgid(api)
    os.kill(api, signal.SIGKILL)
    await_gone(living, GONE_S)
    failed = await_event(moonpad, "failed")
    assert failed["killed"] >= 2, "the workers; the core may see that they are gone, and end"
    assert len(failed["shared_memory_removed"]) >= 2
    assert failed["temp_files_removed"] >= 1
    status = status_of(moonpad)
    assert status["state"] == "failed"
    assert "SIGKILL" in status["because"]


def test_maker_of_shared_memory_killed_at_once(moonpad: Moonpad, fake_spec: Path, free_port: int) -> None:
    """Whose it is can be seen only while its maker lives, and that was too short for anybody to look."""
    bystander = Path(f"/dev/shm/psm_bystander_{free_port}")
    with bystander.open("wb"):  # a stranger's, made at the same time
        assert moonpad("up", str(fake_spec), FAKE_LOST_MAKER="1", FAKE_LOAD_S="2").code == 0
        until = time.monotonic() + 20  # its maker sleeps first, and a busy machine wakes it late
        while not Path(f"/dev/shm/psm_moonpad_{free_port}_lost").exists():
            assert time.monotonic() < until
            time.sleep(0.05)
        try:
            assert moonpad("down", "fake").code == 0
            assert f"psm_moonpad_{free_port}_lost" in await_event(moonpad, "stopped")["shared_memory_removed"]
            assert bystander.exists()
        finally:
            bystander.unlink()


@contextmanager
def stranger(title: str) -> Iterator[subprocess.Popen[str]]:
    """A process that is not ours and is called as one of the engine's, in its name and in its command line."""
    code = (
        "import sys, time; from tests.fake_engine.titles import set_title; "
        "set_title(sys.argv[1]); print('there', flush=True); time.sleep(600)"
    )
    child = subprocess.Popen(
        (sys.executable, "-c", code, title), cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "there\n"
        yield child
    finally:
        child.kill()
        child.communicate()


@pytest.mark.parametrize("kept", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["kept", "keeper killed"])
def test_renamed_worker_is_found(moonpad: Moonpad, fake_spec: Path, kept: bool) -> None:
    """Fault 6: ownership depends on no name and no environment. A stranger of the same name is untouched."""
    set_launch(fake_spec, stop_grace="1s")
    assert moonpad("up", str(fake_spec), FAKE_IGNORE_TERM="1").code == 0
    worker = pid_of_role(moonpad, "worker")
    assert not Path(f"/proc/{worker}/environ").read_bytes().strip(b"\0"), "its environment says nothing"
    owned = owned_of(moonpad)
    assert worker in owned
    with stranger("VLLM::Worker_TP0") as other:
        assert comm_of(other.pid) == comm_of(worker)
        assert other.pid not in owned
        if not kept:
            send_signal(*keeper_of(moonpad), signal.SIGKILL)
        assert moonpad("down", "fake").code == 0
        await_gone(owned, FOUND_S)
        assert other.poll() is None, "a stranger was ended"
        assert comm_of(other.pid).startswith(COMM["worker"])


def test_core_aborts_and_health_lies(moonpad: Moonpad, fake_spec: Path) -> None:
    """Fault 11: the process that computes dies by a C++ abort, its parent does not collect it, `/health` stays 200."""
    assert moonpad("up", str(fake_spec), FAKE_CORE_ABORT_AT="ready+3s").code == 0
    living = everybody(moonpad)
    (core,) = [
        process["pid"] for process in keeper_document(moonpad)["owned"] if process["title"] == "VLLM::EngineCore"
    ]
    await_gone({core: living[core]}, 20.0)
    died = await_event(moonpad, "died", FOUND_S)
    assert (died["pid"], died["title"], died["how"]) == (core, "VLLM::EngineCore", "SIGABRT")
    await_gone(living, GONE_S)
    status = status_of(moonpad)
    assert status["state"] == "failed"
    assert "VLLM::EngineCore" in status["because"]
    assert "SIGABRT" in status["because"]


COMPUTES_ASIDE = "sleep 600 & sleep 600; wait"


@pytest.mark.parametrize("asked_s", [-1.0, 1e9], ids=["after the token was asked for", "before"])
def test_the_young_die_before_the_keeper_knows_of_the_token(moonpad: Moonpad, asked_s: float) -> None:
    """A core of two seconds may be killed between its first token and the controller's word that one came. A compiler
    of a start is as young, and may die as it likes."""
    folder = RunFolder("lone", moonpad.state / "runs" / "lone")
    job = job_of(folder.path, ["/bin/sh", "-c", COMPUTES_ASIDE], dict(moonpad.env))
    command = (sys.executable, "-I", "-S", str(KEEPER_PROGRAM), "keep")
    answer = json.loads(
        subprocess.run(command, input=json.dumps(job), capture_output=True, check=True, text=True).stdout
    )

    def document() -> dict[str, Any]:
        return json.loads((folder.path / "keeper.json").read_text())  # type: ignore[no-any-return]

    wait_until(lambda: len(document()["owned"]) == 3, lambda: str(document()), FOUND_S)
    began_s = time.monotonic()
    aside = document()["owned"][-1]
    assert send_signal(aside["pid"], aside["start"], signal.SIGKILL)
    await_gone({aside["pid"]: aside["start"]}, FOUND_S)
    wait_until(lambda: len(document()["owned"]) == 2, lambda: str(document()), FOUND_S)
    assert tell(folder, "ready", generation=1, asked_s=began_s + asked_s)["ok"]
    if asked_s < 0:
        wait_until(lambda: document()["state"] == "failed", lambda: str(document()), GONE_S)
        assert f"(pid {aside['pid']}) died: SIGKILL" in document()["because"]
    else:
        assert tell(folder, "status")["ready"]
        assert not events_of(moonpad, "died")
        assert tell(folder, "stop")["ok"]
    own = document()["keeper"]
    assert own["pid"] == answer["pid"]
    await_gone({own["pid"]: own["start"]}, GONE_S)


def shared_of(moonpad: Moonpad) -> int:
    """How many pieces of shared memory the keeper knows of: the core has one, and each worker."""
    return len(keeper_document(moonpad)["shared_memory"]) if any(moonpad.state.glob("runs/*/keeper.json")) else 0


@pytest.mark.slow
def test_core_aborts_while_loading(moonpad: Moonpad, fake_spec: Path) -> None:
    """Fault 11 before it is ready: nothing waits for the start timeout."""
    set_launch(fake_spec, start_timeout="600s")
    up = moonpad.start("up", str(fake_spec), FAKE_LOAD_S="60")
    # What a process maps and dies with before anybody has looked at it, nobody can know.
    wait_until(lambda: shared_of(moonpad) >= 3, lambda: str(keeper_document(moonpad)), 10.0)
    os.kill(pid_of_role(moonpad, "core"), signal.SIGABRT)
    _, errors = up.communicate(timeout=GONE_S)
    assert up.returncode == 4, errors
    assert "loading weights" in errors


def test_term_ignored(moonpad: Moonpad, fake_spec: Path) -> None:
    """Fault 14: INT, TERM, KILL, within the configured time, and it is said that killing was needed."""
    set_launch(fake_spec, stop_grace="1s")
    assert moonpad("up", str(fake_spec), FAKE_IGNORE_TERM="1").code == 0
    living = everybody(moonpad)
    down = moonpad("down", "fake")
    assert down.code == 0
    assert "had to be killed" in down.stdout
    await_gone(living, FOUND_S)
    stopped = await_event(moonpad, "stopped")
    assert stopped["signal"] == "KILL"
    assert stopped["killed"] >= 2, "the workers; the others may see that they are gone, and end"
    assert stopped["left"] == []
    assert stopped["t_s"] - await_event(moonpad, "stopping")["t_s"] >= 1.0, "it had its time to end by itself"
    assert not run_folder(moonpad).joinpath("control.sock").exists()
