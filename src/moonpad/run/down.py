"""Stops a run: through its keeper, or without one where the keeper is gone."""

from __future__ import annotations

import shlex
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from typing import Any

from moonpad.facts.probe import Unknown
from moonpad.facts.processes import is_alive, read_boot_id, read_start, send_signal
from moonpad.run.controller_state import read_controller
from moonpad.run.drain import NO_REQUESTS, Drained, Requests, requests_of
from moonpad.run.keeper.locks import read_holder, release_claim_folder, release_lock, take_lock
from moonpad.run.keeper.shared_memory import RESERVE, find_shared_memory, read_reserve
from moonpad.run.keeper.state_file import FINAL
from moonpad.run.keeper.stop import COMMAND_LIMIT_S, KILL_LIMIT_S, remove_leftovers, run_commands, stop_all
from moonpad.run.keeper_client import tell
from moonpad.run.run_status import ASKED_TO_STOP, find_processes, is_kept, read_status
from moonpad.store.atomic_files import remove_parts, replace_json
from moonpad.store.paths import port_claim
from moonpad.store.run_folder import RunFolder
from moonpad.values.errors import ContactLost

MARGIN_S = KILL_LIMIT_S + 5.0
LOOK_S = 0.03
ANSWER_LIMIT_S = 2.0
FIRST_WORD_S = 2.0
EASE_S = 0.5
FLUSH_S = 3.0
"""How long to wait for an engine without requests once it was told to end: EASE_S for one that had none, FLUSH_S for
one whose last answers may still be on their way."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """`by`: "keeper", or "us" where it was gone; `signal` is the last one that was needed, `killed` counts SIGKILLs.

    `eased`: it had no request left, and those killed were only shutting down.
    """

    was_up: bool
    by: str
    signal: str
    killed: int
    seconds: float
    drained: Drained | None = None
    eased: bool = False


def stop_run(
    folder: RunFolder,
    grace_s: float,
    *,
    patience_s: float | None = None,
    drain_s: float = 0.0,
    say: Callable[[str], None] = lambda _: None,
) -> Stopped:
    """Returns once none of the run's processes is left. `say` gets lines for a progress display.

    `grace_s` is what the keeper gives before it kills; after `patience_s` it is told to kill at once. Running requests
    have `drain_s` to finish before that. Raises ContactLost: something of the run is left after KILL, the message names
    the pids; or its container is, or may be.
    """
    began = time.monotonic()
    status = read_status(folder, None)
    # A keeper that has written nothing is about to; or cannot, because the disk is full.
    while status.keeper_pid is not None and not folder.keeper() and time.monotonic() - began < FIRST_WORD_S:
        time.sleep(LOOK_S)
        status = read_status(folder, None)
    recorded = folder.keeper()
    drained = None
    if status.keeper_pid is not None:
        stop = _KeeperStop(folder, recorded, status.keeper_pid, grace_s, patience_s, say)
        drained = stop.drain(drain_s) if drain_s > 0 and not status.stopping else None
        if stop.run():
            _remove_parts(folder)
            end = folder.last_event(*FINAL) or {}
            killed, passed_s = int(end.get("killed", 0)), time.monotonic() - began
            return Stopped(
                True, "keeper", str(end.get("signal", "")), killed, passed_s, stop.drained or drained, stop.eased
            )
    elif not status.left and not _is_unfinished(folder, recorded):
        return Stopped(False, "keeper", "", 0, 0.0)
    hurry_s = began + (inf if patience_s is None else patience_s)
    result = _stop_all(folder, grace_s, lambda: time.monotonic() >= hurry_s, "down")
    _release_locks(folder)
    killed, passed_s = int(str(result["killed"])), time.monotonic() - began
    return Stopped(status.up, "us", str(result["signal"]), killed, passed_s, drained)


# --- through its keeper ----------------------------------------------------------------------------------------------


class _KeeperStop:
    """One stop, carried out by the run's keeper."""

    def __init__(
        self,
        folder: RunFolder,
        recorded: dict[str, Any],
        keeper_pid: int,
        grace_s: float,
        patience_s: float | None,
        say: Callable[[str], None],
    ) -> None:
        self.folder, self.grace_s, self.patience_s, self.say = folder, grace_s, patience_s, say
        self.keeper = (keeper_pid, recorded["keeper"]["start"] if recorded else read_start(keeper_pid))
        self.running = recorded.get("state") == "running"
        self.commands = sum(len(of_one) for of_one in _cleanup(recorded))
        self.engine_drain_s = float(folder.about().get("drain_s") or 0.0)
        self.drain_s = 0.0  # how long the keeper is to drain
        self.requests: Requests | None = None
        self.drained: Drained | None = None
        self.eased = False
        self._hurried = False

    @property
    def lives(self) -> bool:
        return is_alive(*self.keeper)

    def drain(self, drain_s: float) -> Drained:
        """Waits here where the engine cannot refuse new requests; else only notes how long the keeper is to wait.

        Returns what is known of the requests so far.
        """
        self.requests = requests_of(self.folder) if self.running else None
        if self.requests is None:
            return NO_REQUESTS
        if self.engine_drain_s > 0:
            self.drain_s = min(drain_s, self.engine_drain_s)
            return self.requests.drained(0, refuses_new=True)
        until = time.monotonic() + drain_s
        while self.requests.last and self.lives and time.monotonic() < until:
            self.say(f"draining {self.folder.name}: {self.requests}")
            time.sleep(LOOK_S)
            self.requests.look()
        return self._count(self.requests.last or 0, refuses_new=False)

    def _count(self, cut: int, *, refuses_new: bool) -> Drained:
        assert self.requests is not None  # noqa: S101 - for mypy
        self.drained = self.requests.drained(cut, refuses_new=refuses_new)
        self.folder.append_event("drained", finished=self.drained.finished, cut=self.drained.cut)
        return self.drained

    def run(self) -> bool:
        """Whether the keeper has ended, and left nothing."""
        began = time.monotonic()
        if self.requests is None and self.engine_drain_s > 0 and self.patience_s is None and self.running:
            self.requests = requests_of(self.folder)
        self._tell()
        limit_s = self.drain_s + self.grace_s + MARGIN_S
        limit_s += self.commands * COMMAND_LIMIT_S + (self.grace_s if self.commands else 0.0)
        while self.lives and (passed_s := time.monotonic() - began) < limit_s:
            self._look(passed_s)
            time.sleep(LOOK_S)
        if self.drain_s > 0 and self.drained is None:
            self._count(0, refuses_new=True)
        if self.lives:
            send_signal(*self.keeper, signal.SIGKILL)
            return False
        ended = self.folder.keeper().get("state") in FINAL or self.folder.last_event(*FINAL) is not None
        return ended and not read_status(self.folder, None).left

    def _look(self, passed_s: float) -> None:
        if self.patience_s is not None and passed_s >= self.patience_s:
            self._hurry()
        if self.requests is None or (self.drain_s == 0 and self.engine_drain_s == 0):
            self.say(f"stopping {self.folder.name}")
            return
        self.requests.look()
        if self.drain_s > 0 and self.drained is None:
            self.say(f"draining {self.folder.name}: {self.requests}")
            if passed_s >= self.drain_s:
                self._count(self._cut(), refuses_new=True)
                if self.drained and self.drained.cut != 0:
                    self._hurry()  # an engine that drains ignores a second signal
            elif self.requests.last == 0:
                self._count(0, refuses_new=True)
        else:
            self.say(f"stopping {self.folder.name}")
        self._ease(passed_s)

    def _cut(self) -> int:
        """The requests that still run at the end of the drain: none where the engine has just ended by itself."""
        assert self.requests is not None  # noqa: S101
        roots = self.folder.keeper().get("roots") or ()
        return (self.requests.last or 0) if any(is_alive(root["pid"], root["start"]) for root in roots) else 0

    def _ease(self, passed_s: float) -> None:
        """An engine that may drain takes seconds to shut down, where one that may not is killed by its own API server
        at once. Without requests there is nothing to wait for.

        TERM to its children would be gentler, and is not safe: vLLM 0.32.0's core ignores every signal after a second
        one that closely follows the first.
        """
        idle_s = self.requests.idle_for_s() if self.requests else None
        if idle_s is None or self.requests is None or self._hurried:
            return
        if min(idle_s, passed_s) >= (FLUSH_S if self.requests.had_any else EASE_S):
            self.eased = True
            self._hurry()

    def _tell(self) -> None:
        if self.patience_s == 0:
            self._hurry()
            return
        try:
            request = {"drain_s": self.drain_s, "grace_s": self.grace_s, "reason": ASKED_TO_STOP}
            tell(self.folder, "stop", ANSWER_LIMIT_S, **request)
        except ContactLost:
            self._signal()

    def _hurry(self) -> None:
        if self._hurried:
            return
        self._hurried = True
        try:
            tell(self.folder, "hurry", ANSWER_LIMIT_S)
        except ContactLost:
            self._signal()
            time.sleep(LOOK_S)  # two signals at once are one
            self._signal()

    def _signal(self) -> None:
        send_signal(*self.keeper, signal.SIGCONT)  # it may be stopped
        send_signal(*self.keeper, signal.SIGTERM)


# --- without a keeper ------------------------------------------------------------------------------------------------


def _is_unfinished(folder: RunFolder, recorded: dict[str, Any]) -> bool:
    """Whether a keeper was killed before it could clean up."""
    if recorded and (recorded.get("state") not in FINAL or recorded.get("after_stop")):
        return True
    return read_holder(str(folder.lock_path)).get("run") == folder.run_id


def tidy_up(folder: RunFolder) -> None:
    """Removes what a killed keeper has left of a run that is not up, before another run takes its name and its lock.
    Raises ContactLost: its container is, or may be, left."""
    # Without a file of its keeper nothing was started, or another `up` is about to.
    if folder.keeper() and not is_kept(folder) and _is_unfinished(folder, folder.keeper()):
        _stop_all(folder, 0.0, lambda: True, "up")


def _stop_all(folder: RunFolder, grace_s: float, hurry: Callable[[], bool], by: str) -> dict[str, object]:
    """Stops every process that is left of the run, removes what they leave, and writes that down.

    The set is what the keeper wrote down, what descends from that, and what `after_stop` ends.
    """
    recorded = folder.keeper()
    _kill_controller(folder, recorded)
    roots = {root["pid"] for root in recorded.get("roots", ())}
    shared = read_reserve(str(folder.path / RESERVE))

    def living() -> dict[int, int]:
        processes = find_processes(folder)
        shared.update(find_shared_memory(processes))
        return processes

    result = stop_all(living, roots, grace_s, reap=lambda: None, hurry=hurry)
    if result["left"]:
        raise ContactLost(
            f"processes of {folder.name} are left after SIGKILL: {result['left']}",
            remedy="inspect them with ps; a process in state D is waiting for the kernel",
        )
    if recorded.get("boot_id") == read_boot_id():
        result |= remove_leftovers(recorded, shared)
    log = str(folder.path / "keeper.log")
    failed = [commands for commands in _cleanup(recorded) if not run_commands(commands, log)]
    if container := read_status(folder, None).container:
        why = container.reason if isinstance(container, Unknown) else f"{container} is listed"
        raise ContactLost(
            f"the container of {folder.name} may still run: {why}",
            remedy=f"once its client answers: {shlex.join(_cleanup(recorded)[0][0])}",
        )
    if failed and (hosts := folder.about().get("hosts")):
        raise ContactLost(
            f"{folder.name} may still run on {', '.join(hosts.values())}: the command to stop it failed",
            remedy=f"moonpad down {folder.name} again, once the host answers; "
            "unreachable ranks stop when their lease expires",
        )
    _remove_parts(folder)
    _write_end(folder, recorded, result, f"finished by {by}: the keeper was gone")
    return result


def _cleanup(recorded: dict[str, Any]) -> list[list[list[str]]]:
    """The commands of each process that end what it has outside its tree, and remove it."""
    return [*(recorded.get("after_stop") or ()), *(recorded.get("after_end") or ())]


def _remove_parts(folder: RunFolder) -> None:
    """Half-written files of processes that were killed."""
    remove_parts(folder.path, older_than_s=0)
    remove_parts(folder.pointer_path.parent, folder.pointer_path.name, older_than_s=0)


def _kill_controller(folder: RunFolder, recorded: dict[str, Any]) -> None:
    """It ends with its keeper, and this makes sure of that: it must not restart what is being stopped."""
    controller = read_controller(folder)
    if controller is not None and controller.is_alive:
        send_signal(controller.pid, controller.start, signal.SIGKILL)
    own = recorded.get("controller")
    if own and recorded.get("boot_id") == read_boot_id():
        send_signal(own["pid"], own["start"], signal.SIGKILL)


def _write_end(folder: RunFolder, recorded: dict[str, Any], result: dict[str, object], reason: str) -> None:
    folder.append_event("stopped", reason=reason, **result)
    if not recorded:
        return
    empty = dict.fromkeys(("owned", "after_stop", "after_end", "shared_memory"), ())
    document = {**recorded, **empty, "controller": None, "state": "stopped", "because": reason}
    document |= {"temp_dir": "", "cgroup": ""}
    with suppress(OSError):  # a full disk: /proc and the lock stay true
        replace_json(folder.path / "keeper.json", document)


def _release_locks(folder: RunFolder) -> None:
    """Removes the locks that the dead keeper has left, except those that another run has taken over."""
    claims = [str(port_claim(int(port))) for port in folder.about().get("ports") or ()]
    for path in (str(folder.lock_path), *claims):
        if read_holder(path).get("run") != folder.run_id:
            continue
        with suppress(OSError):
            handle = take_lock(path, {})
            if handle is not None:
                release_lock(path, handle)
    for path in claims:
        release_claim_folder(path)
