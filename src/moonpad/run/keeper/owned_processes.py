"""Everything that runs below the keeper or in its cgroup, the controller left out, and which deaths the engine cannot
survive: it may go on answering /health when the process that computes has died."""

from __future__ import annotations

import os
import signal
import time

from moonpad.facts.processes import age_s, describe_status, find_descendants, read_title
from moonpad.run.keeper import cgroup
from moonpad.run.keeper.controller_process import ControllerProcess
from moonpad.run.keeper.event_loop import EventLoop
from moonpad.run.keeper.shared_memory import SharedMemoryWatch
from moonpad.store.journal import Journal

FATAL_SIGNALS = frozenset(
    (
        *(signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE),
        *(signal.SIGKILL, signal.SIGSYS, signal.SIGTRAP),
    )
)
ESSENTIAL_AGE_S = 30.0  # compilers and probes of a start are younger when they die
LAST_WORDS_S = 1.0  # for an engine to end by itself after one of its processes has died


class OwnedProcesses:
    """`titles` is by (pid, start time). `cgroup` is a folder, "" without one."""

    def __init__(self, loop: EventLoop, controller: ControllerProcess, cgroup: str) -> None:
        self._loop = loop
        self._controller = controller
        self.cgroup = cgroup
        self.titles: dict[tuple[int, int], str] = {}
        self.shared_memory = SharedMemoryWatch(loop)
        self._living: set[tuple[int, int]] = set()  # at the last look

    def find(self) -> dict[int, int]:
        """pid → start time."""
        owned = find_descendants({os.getpid()}, self._controller.pid)
        return {**owned, **cgroup.list_members(self.cgroup)} if self.cgroup else owned

    def look(self, *, ending: bool) -> dict[int, int]:
        """As `find`, with the title of each process known, its death watched and its shared memory noted."""
        living = self.find()
        if len(self.titles) > 2 * len(living) + 64:
            self.titles = {process: title for process, title in self.titles.items() if process in living.items()}
        fresh = [process for process in living.items() if process not in self.titles]
        for process in fresh:
            self.titles[process] = ""
            self._loop.watch(*process)
        for pid, start in living.items():
            # A process renames itself some time after its start.
            if not self.titles[pid, start] or age_s(start) < ESSENTIAL_AGE_S:
                self.titles[pid, start] = read_title(pid, self.titles[pid, start])
        self.shared_memory.look(living, changed=bool(fresh) or ending, lost=not self._living <= living.items())
        self._living = set(living.items())
        return living


class DeathWatch:
    """Of one generation. `deaths` are the essential ones; `reason` names the first of them, "" without any, and the
    engine has until `deadline_s` (monotonic clock) to end by itself."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.deaths: list[dict[str, object]] = []
        self.reason = ""
        self.deadline_s = float("inf")
        self._early: list[tuple[float, dict[str, object]]] = []  # of the young: when, and which
        self._ready_s = float("-inf")

    def note(self, pid: int, start: int, title: str, status: int | None) -> None:
        """A process of the engine, not a root, has ended."""
        if status is None or not os.WIFSIGNALED(status) or os.WTERMSIG(status) not in FATAL_SIGNALS:
            return
        death: dict[str, object] = {"pid": pid, "title": title, "how": describe_status(status)}
        now, age = time.monotonic(), age_s(start)
        if age > ESSENTIAL_AGE_S or now - age < self._ready_s:
            self._record(death)
        else:
            self._early = [*self._early, (now, death)][-64:]

    def become_ready(self, asked_s: object) -> None:
        """What died after the first token was asked for had its part in it, however young it was."""
        early, self._early, self._ready_s = self._early, [], time.monotonic()
        for died_s, death in early:
            if isinstance(asked_s, (int, float)) and died_s >= asked_s:
                self._record(death)

    def _record(self, death: dict[str, object]) -> None:
        self._journal.append("died", **death)
        self.deaths = [*self.deaths, death][:64]
        if not self.reason:
            self.reason = f"{death['title'] or 'a process'} (pid {death['pid']}) died: {death['how']}"
            self.deadline_s = time.monotonic() + LAST_WORDS_S
