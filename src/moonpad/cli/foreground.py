"""`moonpad up --foreground`: stays until the run ends, as a service or as the first process of a container."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from moonpad.observe.notify import ServiceManager
from moonpad.values.errors import LaunchFailed

if TYPE_CHECKING:
    from moonpad.run.prepare import Prepared
    from moonpad.store.run_folder import RunFolder

STATUS = {
    "spawned": "starting",
    "phase": "{phase}",
    "ready": "ready",
    "stalled": "hangs: {reason}",
    "recovered": "ready again",
    "ended": "ended: {reason}",
    "restarting": "restart {restart} of {of} after {delay_s} s",
    "stopping": "stopping: {reason}",
}
"""What a service manager is shown of an event."""


class Foreground:
    """What a run in the foreground does beside being followed."""

    def __init__(self, prepared: Prepared) -> None:
        self._prepared = prepared
        self._manager = ServiceManager()
        self.is_ready = False
        self._shown_s = 0.0

    def show(self, event: Mapping[str, Any]) -> None:
        """Tells the service manager of it, once."""
        name, at_s = str(event.get("event")), float(event.get("t_s", 0.0))
        if name in STATUS and at_s > self._shown_s:
            self._shown_s = at_s
            text = f"STATUS={STATUS[name].format_map(_Fields(event))}"
            self._manager.tell(*(("READY=1", text) if name == "ready" and not self.is_ready else (text,)))
            self.is_ready = self.is_ready or name == "ready"

    def say_stopping(self) -> None:
        self._manager.tell("STOPPING=1", "STATUS=stopping")

    def tick(self) -> None:
        """Collects the orphans that a first process gets, whoever they were."""
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass

    def follow(self, folder: RunFolder) -> None:
        """The log on stdout until the run ends; returns where somebody has stopped it.

        Raises:
            LaunchFailed: it has failed for good, or its keeper was killed; nothing of it is left.
        """
        from moonpad.cli.logs import follow
        from moonpad.run.truth import FINAL, is_kept
        from moonpad.run.up import Follower, stop_after_interrupt, why_ended

        follower = Follower(folder)

        def goes_on() -> bool:
            self.tick()
            kept = is_kept(folder)
            for event in follower.events():
                self.show(event)
            return kept

        follow(folder.log_path, goes_on)
        self.say_stopping()
        ended = folder.last_event(*FINAL)
        if ended is None:
            stop_after_interrupt(folder, self._prepared)
            raise LaunchFailed(f"{folder.name}: its keeper was killed, and what it kept is stopped")
        if ended["event"] == "failed":
            raise why_ended(folder, self._prepared, f"{folder.name}: {ended.get('reason', '')}")


class _Fields(dict[str, Any]):
    """An event's; one that it does not have is shown as a dash."""

    def __missing__(self, key: str) -> str:
        return "-"
