"""The controller as the keeper's child: started again, later and later, whenever it ends."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from moonpad.facts.processes import describe_status, is_alive, send_signal
from moonpad.run.keeper.spawn import spawn
from moonpad.run.keeper.stop import KILL_LIMIT_S, POLL_S
from moonpad.store.atomic_files import remove_parts
from moonpad.store.journal import Journal

RESTART_PAUSE_S = (1.0, 60.0)  # at first, at most
END_LIMIT_S = 1.0


class ControllerProcess:
    """`command` has its `argv` and `env`; None: the run has no controller."""

    def __init__(self, command: dict[str, Any] | None, folder: str, journal: Journal) -> None:
        self.command = command
        self._folder = folder
        self._journal = journal
        self.identity: tuple[int, int] | None = None  # (pid, start time)
        self._starts, self._began_s, self._due_s = 0, 0.0, 0.0

    @property
    def pid(self) -> int | None:
        return self.identity[0] if self.identity else None

    def as_json(self) -> dict[str, int] | None:
        return {"pid": self.identity[0], "start": self.identity[1]} if self.identity else None

    def keep_up(self) -> None:
        if not self.command or self.identity or time.monotonic() < self._due_s:
            return
        self._began_s = time.monotonic()
        self._starts += 1
        try:
            log = os.path.join(self._folder, "controller.log")
            self.identity = spawn(self.command["argv"], self.command["env"], log, self._folder, signal.SIGKILL)
        except OSError as error:
            self._journal.append("controller_ended", how=str(error))
            self._due_s = time.monotonic() + RESTART_PAUSE_S[1]
            return
        self._journal.append("controller_started", pid=self.identity[0], starts=self._starts)

    def note_end(self, status: int) -> None:
        """It was reaped."""
        if not self.command:
            return  # `end` did that
        first, most = RESTART_PAUSE_S
        now = time.monotonic()
        self.identity = None
        self._starts = 1 if now - self._began_s > most else self._starts
        pause_s = min(most, first * 2 ** min(self._starts - 1, 10))
        self._due_s = now + pause_s
        self._journal.append("controller_ended", how=describe_status(status), again_in_s=pause_s)

    def end(self, wait: Callable[[float], None], reap: Callable[[], None]) -> None:
        """Stops it for good."""
        self.command = None
        until = time.monotonic() + END_LIMIT_S
        while self.identity and is_alive(*self.identity) and time.monotonic() < until + KILL_LIMIT_S:
            send_signal(*self.identity, signal.SIGKILL if time.monotonic() > until else signal.SIGTERM)
            wait(POLL_S)
            reap()
        self.identity = None
        with contextlib.suppress(OSError):  # it was in the middle of a write
            remove_parts(Path(self._folder), "controller.json", older_than_s=0)
