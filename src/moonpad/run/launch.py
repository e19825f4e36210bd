"""Hands the bound processes of a run to a keeper of their own."""

from __future__ import annotations

import getpass
import json
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from moonpad.environments.places import cache_home
from moonpad.run import keeper
from moonpad.store.places import endpoints_folder, port_claim, runtime_temp_base
from moonpad.store.run_folder import RunFolder
from moonpad.values.binding import BoundProcess
from moonpad.values.errors import LaunchFailed, MoonpadError, PreflightRefused
from moonpad.values.supervision import Policy

ANSWER_LIMIT_S = 20.0

# A key that the user has for something else must not end up guarding (or unlocking) this engine.
NOT_INHERITED = ("VLLM_API_KEY",)


def start_keeper(
    folder: RunFolder,
    processes: Sequence[BoundProcess],
    *,
    grace_s: float,
    policy: Policy,
    ports: Sequence[int] = (),
    foreground: bool = False,
) -> int:
    """Starts the keeper and returns its pid once it holds the run's lock, and the run is the current one of its name.

    `ports` are claimed for this run among all users of this machine.
    Call it with `interrupts_held()`: an exception between its start and its return would leave a run that nobody stops.

    Raises:
        PreflightRefused: somebody else holds the lock or a port; the message says who, where and since when.
        LaunchFailed: the keeper gave no answer, or cannot write.
    """
    for process in processes:
        for path, content, mode in process.files:
            _write_file(folder.path / path, content, mode)
    folder.lock_path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    job = {
        "run_dir": str(folder.path),
        "lock": str(folder.lock_path),
        "claims": [str(port_claim(port)) for port in ports],
        "pointer": {"path": str(endpoints_folder() / f"{folder.name}.json"), "document": folder.pointer_document()},
        "holder": {
            "run": folder.run_id,
            "user": getpass.getuser(),
            "host": platform.node(),
            "at": time.strftime("%Y-%m-%d %H:%M:%S"),
        },
        "grace_s": grace_s,
        "restarts": policy.restarts,
        "foreground_of": os.getpid() if foreground else 0,
        "temp_base": runtime_temp_base(),
        "cgroup": os.environ.get("MOONPAD_CGROUP") != "off",
        "log_bytes": keeper.LOG_BYTES,
        "controller": {
            # -P: the folder that it runs in is not a place to import from.
            "argv": [sys.executable, "-P", "-m", "moonpad.run.controller", str(folder.path), folder.name],
            "env": dict(os.environ),
        },
        "processes": [_as_job(process, folder) for process in processes],
    }
    answer = _ask_keeper(job, folder)
    if answer.get("ok"):
        return int(answer["pid"])
    raise _refusal(folder, answer)


def _refusal(folder: RunFolder, answer: dict[str, Any]) -> MoonpadError:
    holder = answer.get("holder") or {}
    who = f"{holder.get('user', 'somebody')} on {holder.get('host', 'this host')}"
    since = holder.get("at", "an unknown time")
    if answer.get("why") == "locked":
        return PreflightRefused(
            f"{folder.name} is being kept up already, by {who} since {since}", remedy=f"moonpad down {folder.name}"
        )
    if answer.get("why") == "claimed":
        what = Path(str(answer.get("claim"))).stem.replace("-", " ")
        return PreflightRefused(
            f"{what} is claimed by {holder.get('run', 'another run')} of {who} since {since}",
            remedy="wait until that run is down, or set another [endpoint] port",
        )
    return LaunchFailed(
        f"the keeper cannot work: {answer.get('error') or answer.get('why')}",
        remedy=f"look at {folder.path.parent}: is there room, may you write?",
    )


def _as_job(process: BoundProcess, folder: RunFolder) -> dict[str, Any]:
    inherited = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
    # The engine gets a temporary directory of the run's own, which goes with it; what it compiles is kept.
    kept = {"TORCHINDUCTOR_CACHE_DIR": os.environ.get("TORCHINDUCTOR_CACHE_DIR", str(cache_home() / "torchinductor"))}
    secret = {name: value.reveal() for name, value in process.secret_env.items()}
    return {
        "name": process.name,
        "argv": process.argv,
        "env": {**inherited, **kept, **process.env, **secret},
        "log": str(folder.path / process.log) if process.log else str(folder.log_path),
        "after_stop": process.after_stop,
        "after_end": process.after_end,
        "reattach": process.reattach,
        "patience_s": process.patience_s,
        "beats": process.beats,
    }


def _ask_keeper(job: dict[str, Any], folder: RunFolder) -> dict[str, Any]:
    # -I -S: nothing of the user's Python set-up reaches the keeper, and it is there in some tens of milliseconds.
    command = (sys.executable, "-I", "-S", str(Path(keeper.__file__)), str(folder.path))
    child = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    assert child.stdin is not None  # noqa: S101 - for mypy: a pipe was asked for
    assert child.stdout is not None  # noqa: S101
    assert child.stderr is not None  # noqa: S101
    with child.stdin:
        child.stdin.write(json.dumps(job))
    line = child.stdout.readline()
    if not line:
        trouble = child.stderr.read().strip().splitlines()
        child.wait(ANSWER_LIMIT_S)
        raise LaunchFailed(f"the keeper did not start: {trouble[-1] if trouble else 'no word from it'}")
    child.stdout.close()
    child.stderr.close()
    if not job["foreground_of"]:
        child.wait(ANSWER_LIMIT_S)  # it forked, and its child is the keeper
    answer: dict[str, Any] = json.loads(line)
    return answer


def _write_file(path: Path, content: str, mode: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), mode)
        file.write(content)


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Between the keeper's start and its answer nobody knows its pid: a Ctrl-C there waits until somebody does."""
    held = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, held)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
