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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from moonpad.environments.paths import cache_home
from moonpad.facts.platform import this_system
from moonpad.run import keeper
from moonpad.run.keeper.log_file import LOG_BYTES
from moonpad.store.atomic_files import replace_as_is
from moonpad.store.paths import RUNTIME_TEMP_BASE, port_claim
from moonpad.store.run_folder import RunFolder
from moonpad.values.binding import BoundProcess
from moonpad.values.errors import LaunchFailed, MoonpadError, PreflightRefused
from moonpad.values.references import PortRef
from moonpad.values.supervision import Policy

ANSWER_LIMIT_S = 20.0
KEEPER_PROGRAM = Path(keeper.__file__).with_name("__main__.py")

NOT_INHERITED = ("VLLM_API_KEY",)
"""Keys that the user has for other engines must not guard (or unlock) this one."""


def refuse_other_systems() -> None:
    """Raises PreflightRefused, one sentence, where this is not Linux: the keeper needs subreapers, pidfds and /proc."""
    system = this_system()
    if system.system != "Linux":
        raise PreflightRefused(
            f"`moonpad up` needs Linux, and this is {system}; everything that needs no local engine still works."
        )


def start_keeper(
    folder: RunFolder,
    processes: Sequence[BoundProcess],
    *,
    grace_s: float,
    policy: Policy,
    ports: Mapping[PortRef, int],
    foreground: bool,
) -> None:
    """Starts the keeper, and returns once it holds the run's lock, and the run is the current one of its name.

    `ports` are claimed for this run among all users of this machine.
    Call it with `interrupts_blocked()`: an exception before it returns would leave a run without an owner.

    Raises:
        PreflightRefused: another run holds the lock or a port; the message says whose, where and since when.
        LaunchFailed: the keeper gave no answer, or cannot write.
    """
    for process in processes:
        for path, content, mode in process.files:
            replace_as_is(folder.path / path, content, mode)
    folder.lock_path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    now = time.strftime("%Y-%m-%d %H:%M:%S")
    job = {
        "run_dir": str(folder.path),
        "lock": str(folder.lock_path),
        "claims": [str(port_claim(port)) for port in ports.values()],
        "pointer": {"path": str(folder.pointer_path), "document": folder.pointer_document()},
        "holder": {"run": folder.run_id, "user": _user(), "host": platform.node(), "at": now},
        "grace_s": grace_s,
        "restarts": policy.restarts,
        "foreground_of": os.getpid() if foreground else 0,
        "temp_base": RUNTIME_TEMP_BASE,
        "cgroup": os.environ.get("MOONPAD_CGROUP") != "off",
        "log_bytes": LOG_BYTES,
        "controller": {
            # -P: nothing is imported from its working directory.
            "argv": [sys.executable, "-P", "-m", "moonpad.run.controller", str(folder.path), folder.name],
            "env": dict(os.environ),
        },
        "processes": [_as_job(process, folder) for process in processes],
    }
    answer = _ask_keeper(job, folder)
    if not answer.get("ok"):
        raise _refusal(folder, answer, ports)


def _user() -> str:
    """The number where it has no name: containers often run under one."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def _refusal(folder: RunFolder, answer: dict[str, Any], ports: Mapping[PortRef, int]) -> MoonpadError:
    holder = answer.get("holder") or {}
    user, host = holder.get("user", "another user"), holder.get("host", "this host")
    by = f"by {user} on {host} since {holder.get('at', 'an unknown time')}"
    if answer.get("why") == "locked":
        return PreflightRefused(f"{folder.name} is already up, started {by}", remedy=f"moonpad down {folder.name}")
    if answer.get("why") == "claimed":
        port, run = Path(str(answer.get("claim"))).stem.replace("-", " "), holder.get("run", "another run")
        ranks_meet = port in {f"port {number}" for ref, number in ports.items() if ref.name == "master"}
        if ranks_meet:  # the same port for every run over several hosts
            return PreflightRefused(
                f"{port}, where the engine's ranks meet, is claimed by {run}, started {by}",
                remedy="wait until that run is down: one run over several hosts can start from this machine at a time",
            )
        return PreflightRefused(
            f"{port} is claimed by {run}, started {by}",
            remedy="wait until that run is down, or set another [endpoint] port",
        )
    return LaunchFailed(
        f"the keeper could not start: {answer.get('error') or answer.get('why')}",
        remedy=f"check free space and write permission in {folder.path.parent}",
    )


def _as_job(process: BoundProcess, folder: RunFolder) -> dict[str, Any]:
    inherited = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
    # The engine's temporary directory is the run's own and goes with it; what it compiles is kept.
    cache = {"TORCHINDUCTOR_CACHE_DIR": os.environ.get("TORCHINDUCTOR_CACHE_DIR", str(cache_home() / "torchinductor"))}
    secret = {name: value.reveal() for name, value in process.secret_env.items()}
    return {
        "name": process.name,
        "argv": process.argv,
        "env": {**inherited, **cache, **process.env, **secret},
        "log": str(folder.path / process.log) if process.log else str(folder.log_path),
        "after_stop": process.after_stop,
        "after_end": process.after_end,
        "reattach": process.reattach,
        "patience_s": process.patience_s,
        "beats": process.beats,
    }


def _ask_keeper(job: dict[str, Any], folder: RunFolder) -> dict[str, Any]:
    command = (sys.executable, "-I", "-S", str(KEEPER_PROGRAM), "keep", str(folder.path))
    pipe = subprocess.PIPE
    child = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True, text=True)
    assert child.stdin is not None  # noqa: S101 - for mypy
    assert child.stdout is not None  # noqa: S101
    assert child.stderr is not None  # noqa: S101
    with child.stdin:
        child.stdin.write(json.dumps(job))
    line = child.stdout.readline()
    if not line:
        errors = child.stderr.read().strip().splitlines()
        child.wait(ANSWER_LIMIT_S)
        raise LaunchFailed(f"the keeper did not start: {errors[-1] if errors else 'it gave no answer'}")
    child.stdout.close()
    child.stderr.close()
    if not job["foreground_of"]:
        child.wait(ANSWER_LIMIT_S)  # it forked, and its child is the keeper
    answer: dict[str, Any] = json.loads(line)
    return answer


@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Between the keeper's start and its answer its pid is unknown: a Ctrl-C there takes effect after that."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
