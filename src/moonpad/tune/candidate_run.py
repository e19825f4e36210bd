"""A candidate's deployment: started beside whatever runs, in the foreground of this process, so that it ends with it
even where that is killed; and stopped."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from moonpad.run.down import stop_run, tidy_up
from moonpad.run.host_agreement import with_hosts
from moonpad.run.launch import interrupts_blocked
from moonpad.run.prepare import Prepared
from moonpad.run.run_status import read_status
from moonpad.run.start_checks import check_start
from moonpad.run.up import START_PATIENCE_S, Started, await_ready, launch, note_facts
from moonpad.store.paths import lock_path
from moonpad.store.run_folder import RunFolder, current_run
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import PreflightRefused

HELD_S: Final = 10.0
WAIT_S: Final = 30.0
"""How long what a killed tune has left may take to end."""


@dataclass(frozen=True, slots=True)
class CandidateRun:
    """One that is up. `seconds` from the spawn to the first token."""

    folder: RunFolder
    prepared: Prepared
    started: Started

    @property
    def endpoint(self) -> Endpoint:
        return self.prepared.endpoint

    def stop(self) -> None:
        """Until nothing of it is left, its folder neither. Raises ContactLost: something is."""
        stop_run(self.folder, self.prepared.stop_grace_s)
        forget(self.folder)


def start(prepared: Prepared, tick: Callable[[], None], *, stays: bool = False) -> CandidateRun:
    """Starts it, and waits for its first real token; `tick` is called meanwhile, and may raise. `stays`: it goes on
    when this process ends, as `moonpad up` does it.

    Raises:
        PreflightRefused: it is refused before anything is started: no room beside what runs.
        ContactLost: another host of the spec cannot be reached.
        LaunchFailed: it did not become ready. Nothing of it is left then.
    """
    prepared, findings = with_hosts(prepared)
    expected, _ = check_start(prepared, findings)
    folder: RunFolder | None = None
    try:
        with interrupts_blocked():  # one that came meanwhile is raised at its end, when the folder is known
            folder = _launch(prepared, stays=stays)
        note_facts(folder, expected)
        started = await_ready(folder, prepared, lambda event: None, expected, (tick,))
    except BaseException:
        if folder is not None:
            stop_run(folder, prepared.stop_grace_s, patience_s=START_PATIENCE_S)
            if not stays:
                forget(folder, keep_log=True)
        raise
    return CandidateRun(folder, prepared, started)


def _launch(prepared: Prepared, *, stays: bool) -> RunFolder:
    """A keeper of a killed tune may still be ending its engine: its lock goes in a moment."""
    until = time.monotonic() + HELD_S
    while True:
        try:
            return launch(prepared, command_age_s=0.0, foreground=not stays)
        except PreflightRefused:
            if stays or not lock_path(prepared.name).exists() or time.monotonic() > until:
                raise
            stop_left(prepared.name)
            time.sleep(0.2)


def stop_left(name: str) -> bool:
    """Whatever a killed tune has left running under that name; whether there was something."""
    folder = current_run(name)
    if folder is None:
        return False
    was_up = False
    until = time.monotonic() + WAIT_S
    while (status := read_status(folder, None)).up and time.monotonic() < until:
        was_up = True
        if not status.stopping:
            stop_run(folder, float(folder.about().get("stop_grace_s", 20.0)))
        time.sleep(0.05)
    tidy_up(folder)
    forget(folder)
    return was_up


def forget(folder: RunFolder, *, keep_log: bool = False) -> None:
    """Of a candidate that has ended: `moonpad status` shows the user's endpoints as before. `keep_log`: of one that did
    not start the folder stays, with its log."""
    current = current_run(folder.name)
    if current is not None and current.run_id == folder.run_id:
        folder.pointer_path.unlink(missing_ok=True)
    if not keep_log:
        folder.remove()


def free_port() -> int:
    """One that nobody serves on the loopback just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
