"""Stops a run: asks its keeper, and finishes the job where the keeper is gone."""

from __future__ import annotations

import os
import shlex
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from moonpad.facts.probe import Unknown
from moonpad.run import keeper
from moonpad.run.control import tell
from moonpad.run.controller_state import read_controller
from moonpad.run.drain import NO_REQUESTS, Drained, Requests, requests_of
from moonpad.run.truth import ASKED_TO_STOP, FINAL, is_kept, living_of, truth_of
from moonpad.store.places import pointer_path, port_claim
from moonpad.store.run_folder import RunFolder
from moonpad.values.errors import ContactLost

MARGIN_S = keeper.KILL_LIMIT_S + 5.0
LOOK_S = 0.03
ANSWER_LIMIT_S = 2.0
FIRST_WORD_S = 2.0
EASE_S = 0.5
FLUSH_S = 3.0
"""How long an engine without requests is waited for once it was told to end: one that had none, and one whose last
answers may still be on their way."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """`by`: "keeper", or "us" where it was gone; `signal` is the last one that was needed, `killed` counts SIGKILLs.

    `eased`: it had nothing left to do, and those killed were tidying up.
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
    """Until none of the run's processes is left. `say` is called with what is going on, for a progress display.

    `grace_s` is what the keeper gives before it kills; where `patience_s` is given, it is told after that to hurry.
    `drain_s`: the requests that run have so long to finish before that.

    Raises:
        ContactLost: something of the run is left after KILL, the message names the pids; or its container is, or may
            be.
    """
    begun = time.monotonic()
    now = truth_of(folder, None)
    # A keeper is about to write its first word; or cannot, because the disk is full.
    while now.keeper_pid is not None and not folder.keeper() and time.monotonic() - begun < FIRST_WORD_S:
        time.sleep(LOOK_S)
        now = truth_of(folder, None)
    recorded = folder.keeper()
    drained = None
    if now.keeper_pid is not None:
        asked = _Stop(folder, recorded, now.keeper_pid, grace_s, patience_s, say)
        drained = asked.drain(drain_s) if drain_s > 0 and not now.stopping else None
        if asked.stop():
            _remove_parts(folder)
            end = folder.last_event(*FINAL) or {}
            killed, passed_s = int(end.get("killed", 0)), time.monotonic() - begun
            used, drained = str(end.get("signal", "")), asked.drained or drained
            return Stopped(True, "keeper", used, killed, passed_s, drained, asked.eased)
    elif not now.left and not _is_unfinished(folder, recorded):
        return Stopped(False, "keeper", "", 0, 0.0)
    return _finish(folder, grace_s, begun, patience_s, drained, was_up=now.up)


# --- by its keeper ---------------------------------------------------------------------------------------------------


class _Stop:
    """One stop, as its keeper does it."""

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
        found = keeper.stat_of(keeper_pid)
        self.keeper = (keeper_pid, recorded["keeper"]["start"] if recorded else found[1] if found else 0)
        self.running = recorded.get("state") == "running"
        self.commands = sum(len(of_one) for of_one in _afterwards(recorded))
        self.engine_drain_s = float(folder.about().get("drain_s") or 0.0)
        self.drain_s = 0.0  # how long the keeper is to drain
        self.requests: Requests | None = None
        self.drained: Drained | None = None
        self.eased = False
        self._hurried = False

    @property
    def lives(self) -> bool:
        return keeper.is_alive(*self.keeper)

    def drain(self, drain_s: float) -> Drained:
        """Waits itself where the engine cannot refuse what is new; else only notes how long the keeper is to wait.

        Returns what is known of the requests by now.
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

    def stop(self) -> bool:
        """Whether the keeper has ended, and left nothing."""
        begun = time.monotonic()
        if self.requests is None and self.engine_drain_s > 0 and self.patience_s is None and self.running:
            self.requests = requests_of(self.folder)
        self._tell()
        limit_s = self.drain_s + self.grace_s + MARGIN_S
        limit_s += self.commands * keeper.COMMAND_LIMIT_S + (self.grace_s if self.commands else 0.0)
        while self.lives and (passed_s := time.monotonic() - begun) < limit_s:
            self._look(passed_s)
            time.sleep(LOOK_S)
        if self.drain_s > 0 and self.drained is None:
            self._count(0, refuses_new=True)
        if self.lives:
            keeper.send(*self.keeper, signal.SIGKILL)
            return False
        ended = self.folder.keeper().get("state") in FINAL or self.folder.last_event(*FINAL) is not None
        return ended and not truth_of(self.folder, None).left

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
                    self._hurry()  # an engine that drains hears no second signal
            elif self.requests.last == 0:
                self._count(0, refuses_new=True)
        else:
            self.say(f"stopping {self.folder.name}")
        self._ease(passed_s)

    def _cut(self) -> int:
        """What still runs now that the time is over: nothing, where the engine has ended by itself just now."""
        assert self.requests is not None  # noqa: S101
        return (self.requests.last or 0) if self._roots_live() else 0

    def _ease(self, passed_s: float) -> None:
        """An engine that was told that it may drain takes seconds to tidy up, where one that may not is killed by its
        own API server at once. Without requests there is nothing to wait for.

        TERM to its children would be gentler, and is not safe: vLLM 0.32.0's core hears nothing more when a second one
        comes at the heels of the first.
        """
        idle_s = self.requests.idle_for_s() if self.requests else None
        if idle_s is None or self.requests is None or self._hurried:
            return
        if min(idle_s, passed_s) >= (FLUSH_S if self.requests.had_any else EASE_S):
            self.eased = True
            self._hurry()

    def _roots_live(self) -> bool:
        roots = self.folder.keeper().get("roots") or ()
        return any(keeper.is_alive(root["pid"], root["start"]) for root in roots)

    def _tell(self) -> None:
        if self.patience_s == 0:
            self._hurry()
            return
        try:
            request = {"drain_s": self.drain_s, "grace_s": self.grace_s, "reason": ASKED_TO_STOP}
            tell(self.folder, "stop", ANSWER_LIMIT_S, **request)
        except ContactLost:
            keeper.send(*self.keeper, signal.SIGCONT)  # whoever has halted it
            keeper.send(*self.keeper, signal.SIGTERM)

    def _hurry(self) -> None:
        if self._hurried:
            return
        self._hurried = True
        try:
            tell(self.folder, "hurry", ANSWER_LIMIT_S)
        except ContactLost:
            keeper.send(*self.keeper, signal.SIGCONT)
            keeper.send(*self.keeper, signal.SIGTERM)
            time.sleep(LOOK_S)  # two signals at once are one
            keeper.send(*self.keeper, signal.SIGTERM)


# --- without a keeper ------------------------------------------------------------------------------------------------


def _is_unfinished(folder: RunFolder, recorded: dict[str, Any]) -> bool:
    """Whether a keeper was killed before it could tidy up."""
    if recorded and (recorded.get("state") not in FINAL or recorded.get("after_stop")):
        return True
    return keeper.read_holder(str(folder.lock_path)).get("run") == folder.run_id


def _finish(
    folder: RunFolder,
    grace_s: float,
    begun: float,
    patience_s: float | None,
    drained: Drained | None,
    *,
    was_up: bool,
) -> Stopped:
    """Without a keeper the set is what it wrote down, what descends from that, and what `after_stop` ends."""

    def hurry() -> bool:
        return patience_s is not None and time.monotonic() - begun >= patience_s

    result = _end_all(folder, grace_s, hurry, "down")
    _let_go(folder)
    killed = int(str(result["killed"]))
    return Stopped(was_up, "us", str(result["signal"]), killed, time.monotonic() - begun, drained)


def tidy_up(folder: RunFolder) -> None:
    """What a killed keeper could not remove, of a run that is not up: before another one takes its name and its lock.

    Raises:
        ContactLost: its container is, or may be, left.
    """
    # Without a file of its keeper nothing was started, or is about to be by another `up`.
    if folder.keeper() and not is_kept(folder) and _is_unfinished(folder, folder.keeper()):
        _end_all(folder, 0.0, lambda: True, "up")


def _end_all(folder: RunFolder, grace_s: float, hurry: Callable[[], bool], by: str) -> dict[str, object]:
    """Ends all that lives of the run, removes what it leaves, and writes that down."""
    recorded = folder.keeper()
    _kill_controller(folder, recorded)
    roots = {root["pid"] for root in recorded.get("roots", ())}
    shared = keeper.kept_in_reserve(str(folder.path / keeper.RESERVE))

    def living() -> dict[int, int]:
        found = living_of(folder)
        shared.update(keeper.shared_memory_of(found))
        return found

    result = keeper.stop_all(living, roots, grace_s, reap=lambda: None, hurry=hurry)
    if result["left"]:
        raise ContactLost(
            f"processes of {folder.name} are left after SIGKILL: {result['left']}",
            remedy="look at them with ps; a process in state D waits for the kernel",
        )
    if recorded.get("boot_id") == keeper.boot_id():
        result |= keeper.remove_leftovers(recorded, shared)
    log = str(folder.path / "keeper.log")
    undone = [commands for commands in _afterwards(recorded) if not keeper.run_commands(commands, log)]
    if container := truth_of(folder, None).container:
        said = f"it could not be asked: {container.reason}" if isinstance(container, Unknown) else "it still runs"
        raise ContactLost(
            f"the container of {folder.name} may be left; {said}",
            remedy=f"{shlex.join(_afterwards(recorded)[0][0])}, once it answers",
        )
    if undone and (hosts := folder.about().get("hosts")):
        raise ContactLost(
            f"what {folder.name} had on {', '.join(hosts.values())} may be left: it could not be told to end",
            remedy=f"moonpad down {folder.name} again, once it answers; what hears nothing ends by itself",
        )
    _remove_parts(folder)
    _write_end(folder, recorded, result, f"finished by {by}: the keeper was gone")
    return result


def _afterwards(recorded: dict[str, Any]) -> list[list[list[str]]]:
    """The commands of each process that end what runs outside of it, and clear it away."""
    return [*(recorded.get("after_stop") or ()), *(recorded.get("after_end") or ())]


def _remove_parts(folder: RunFolder) -> None:
    """What whoever was killed in the middle of a write has left; its name ends with the writer's pid."""
    pointer = pointer_path(folder.name)
    for part in (*folder.path.glob(".*.part"), *pointer.parent.glob(f".{pointer.name}.*.part")):
        pid = part.name.split(".")[-2]
        found = keeper.stat_of(int(pid)) if pid.isdigit() else None
        if found is None or found[2] in "ZX":
            part.unlink(missing_ok=True)


def _kill_controller(folder: RunFolder, recorded: dict[str, Any]) -> None:
    """It ends with its keeper, and this makes sure of that: nobody may start again what is being stopped."""
    word = read_controller(folder)
    if word is not None and word.is_alive:
        keeper.send(word.pid, word.start, signal.SIGKILL)
    known = recorded.get("controller")
    if known and recorded.get("boot_id") == keeper.boot_id():
        keeper.send(known["pid"], known["start"], signal.SIGKILL)


def _write_end(folder: RunFolder, recorded: dict[str, Any], result: dict[str, object], reason: str) -> None:
    folder.append_event("stopped", reason=reason, **result)
    if not recorded:
        return
    lists = ("owned", "after_stop", "after_end", "shared_memory")
    nothing: dict[str, object] = {**{name: [] for name in lists}, "controller": None}
    document = {**recorded, **nothing, "state": "stopped", "because": reason, "temp_dir": "", "cgroup": ""}
    with suppress(OSError):  # a full disk: /proc and the lock still tell the truth
        keeper.replace_json(str(folder.path / "keeper.json"), document)


def _let_go(folder: RunFolder) -> None:
    """Removes the locks that the dead keeper has left. Those that another run has taken over are that one's."""
    claims = [str(port_claim(int(port))) for port in folder.about().get("ports") or ()]
    for path in (str(folder.lock_path), *claims):
        if keeper.read_holder(path).get("run") != folder.run_id:
            continue
        with suppress(OSError):
            handle = keeper.take_lock(path, {})
            if handle is not None:
                keeper.release_lock(path, handle)
    for folder_of_claims in {os.path.dirname(path) for path in claims}:  # noqa: PTH120
        with suppress(OSError):  # others hold claims there
            os.rmdir(folder_of_claims)  # noqa: PTH106
