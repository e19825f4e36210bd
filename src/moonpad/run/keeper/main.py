"""Starts a keeper, or, on another host, does what the remote agent is told."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from moonpad.facts.processes import PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG, set_process_option
from moonpad.run.keeper import cgroup
from moonpad.run.keeper.control_socket import ControlSocket
from moonpad.run.keeper.event_loop import EventLoop
from moonpad.run.keeper.locks import (
    await_holder,
    release_claim_folder,
    release_lock,
    take_claim,
    take_lock,
    write_holder,
)
from moonpad.run.keeper.supervisor import Keeper
from moonpad.store.atomic_files import replace_json
from moonpad.store.safe_streams import SafeStream
from moonpad.values.redaction import remember_environment


def main(words: list[str]) -> int:
    if words[0] == "keep":  # the run's folder follows, so that it shows in the process list
        return keep(json.load(sys.stdin))
    from moonpad.run.keeper import remote_agent  # here, because it would add to the time until the keeper is there

    return remote_agent.main(words)


def keep(job: dict[str, Any]) -> int:
    for process in job["processes"]:
        remember_environment(process["env"], os.path.exists)
    sys.stderr = SafeStream(sys.stderr)  # for a traceback
    former: dict[str, object] = {}
    holder = {**job["holder"], "pid": os.getpid()}
    locks: list[tuple[str, int]] = []

    def refuse(why: str, **fields: object) -> int:
        for path, handle in locks:
            release_lock(path, handle)
        print(json.dumps({"ok": False, "why": why, **fields}), flush=True)
        return 0

    try:
        lock = take_lock(job["lock"], holder, former=former)
        if lock is None:
            return refuse("locked", holder=await_holder(job["lock"]))
        locks.append((job["lock"], lock))
        for path in job["claims"]:
            claim = take_claim(path, holder)
            if claim is None:
                return refuse("claimed", claim=path, holder=await_holder(path))
            locks.append((path, claim))
        os.chdir(job["run_dir"])
        if job["pointer"]:
            replace_json(Path(job["pointer"]["path"]), job["pointer"]["document"])
    except OSError as error:
        return refuse("unwritable", error=str(error))
    if job["foreground_of"]:
        # Once the foreground command is gone, no one could ask for a stop.
        set_process_option(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != job["foreground_of"]:
            return refuse("alone")
    elif os.fork() > 0:
        os._exit(0)
    if os.getsid(0) != os.getpid():
        os.setsid()
    set_process_option(PR_SET_CHILD_SUBREAPER, 1)
    loop = EventLoop()
    for _, handle in locks:
        write_holder(handle, {**holder, "pid": os.getpid()})
    try:
        keeper = Keeper(job, loop)
        control = ControlSocket(loop, keeper.handle)
    except OSError as error:
        return refuse("unwritable", error=str(error))
    keeper.snapshot({})  # before the answer: its receiver may look at once
    keeper.owned.cgroup = cgroup.make(keeper.owned.cgroup) if keeper.owned.cgroup else ""
    if former:
        keeper.journal.append("lock_taken_over", holder=former)
    print(json.dumps({"ok": True, "pid": os.getpid()}), flush=True)
    detach_streams(os.path.join(job["run_dir"], "keeper.log"))
    try:
        keeper.run()
    finally:
        control.close()
        for path, handle in reversed(locks):
            release_lock(path, handle)
        for path in job["claims"]:
            release_claim_folder(path)
    return 0


def detach_streams(log: str) -> None:
    """Closes the launcher's pipes; the keeper's own output goes to `keeper.log`."""
    null = os.open(os.devnull, os.O_RDWR)
    try:
        handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError:
        handle = os.dup(null)
    for stream, target in enumerate((null, handle, handle)):
        os.dup2(target, stream)
    os.close(handle)
    os.close(null)
