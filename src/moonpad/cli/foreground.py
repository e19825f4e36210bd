"""`moonpad up --foreground`: stays until the run ends, as a service or as the first process of a container."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from moonpad.cli.logs import follow
from moonpad.observe.log_tail import LogTail
from moonpad.observe.systemd_notify import ServiceManager
from moonpad.run.keeper.state_file import FINAL
from moonpad.run.run_status import is_kept
from moonpad.run.startable import Startable
from moonpad.run.up import new_events, stop_after_interrupt, why_ended
from moonpad.store.run_folder import RunFolder
from moonpad.values.errors import LaunchFailed

STATUS = {
    "spawned": "starting",
    "phase": "{phase}",
    "ready": "ready",
    "stalled": "stalled: {reason}",
    "recovered": "ready again",
    "ended": "ended: {reason}",
    "restarting": "restart {restart} of {of} after {delay_s} s",
    "stopping": "stopping: {reason}",
}
"""An event as a service manager shows it."""


class Foreground:
    """Reports a run in the foreground to its service manager, and follows it."""

    def __init__(self, prepared: Startable) -> None:
        self._prepared = prepared
        self._manager = ServiceManager()
        self.is_ready = False
        self._shown_s = 0.0

    def show(self, event: Mapping[str, Any]) -> None:
        """Reports the event to the service manager, once."""
        name, at_s = str(event.get("event")), float(event.get("t_s", 0.0))
        if name in STATUS and at_s > self._shown_s:
            self._shown_s = at_s
            text = f"STATUS={STATUS[name].format_map(_EventFields(event))}"
            self._manager.tell(*(("READY=1", text) if name == "ready" and not self.is_ready else (text,)))
            self.is_ready = self.is_ready or name == "ready"

    def say_stopping(self) -> None:
        self._manager.tell("STOPPING=1", "STATUS=stopping")

    def tick(self) -> None:
        """Reaps the orphans that a container's first process inherits."""
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass

    def follow(self, folder: RunFolder) -> None:
        """The log on stdout until the run ends; returns where it was stopped on request.

        Raises:
            LaunchFailed: it has failed for good, or its keeper was killed; nothing of it is left.
        """
        tail = LogTail(folder.events_path)

        def has_more() -> bool:
            self.tick()
            goes_on = is_kept(folder)
            for event in new_events(tail):
                self.show(event)
            return goes_on

        follow(folder.log_path, has_more)
        self.say_stopping()
        ended = folder.last_event(*FINAL)
        if ended is None:
            stop_after_interrupt(folder, self._prepared)
            raise LaunchFailed(f"{folder.name}: its keeper was killed, and its processes are stopped")
        if ended["event"] == "failed":
            raise why_ended(folder, self._prepared, f"{folder.name}: {ended.get('reason', '')}")


class _EventFields(dict[str, Any]):
    """A field that the event does not have is shown as a dash."""

    def __missing__(self, key: str) -> str:
        return "-"
