"""What a start of one run and a start of several have in common."""

from __future__ import annotations

import time

import psutil

from moonpad.cli.output import note
from moonpad.run.run_status import read_status
from moonpad.store.run_folder import RunFolder
from moonpad.values.errors import PreflightRefused


def is_up(folder: RunFolder) -> bool:
    """Raises PreflightRefused while it is being stopped: in a moment the name is free."""
    status = read_status(folder, None)
    if status.stopping:
        raise PreflightRefused(
            f"{folder.name} {status.because if 'is being stopped' in status.because else 'is being stopped'}",
            remedy="try again in a moment; moonpad status says how far it is",
        )
    return status.up


def say_taken_over(folder: RunFolder) -> None:
    """Fault 17: the lock of a keeper that was killed no longer blocks the name."""
    if (event := folder.event("lock_taken_over")) is None:
        return
    holder = event.get("holder") or {}
    who = f"{holder.get('user', 'somebody')} on {holder.get('host', 'this host')}"
    since = f"at {holder.get('at', 'an unknown time')}, and whose keeper (pid {holder.get('pid', 'unknown')}) is gone"
    note(f"warning: took over the lock of run {holder.get('run', 'unknown')}, which {who} started {since}")


def command_age_s() -> float:
    """Seconds since this command's process was created, its imports included."""
    return max(0.0, time.time() - psutil.Process().create_time())
