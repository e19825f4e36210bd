"""Which systems moonpad can keep a process on. The keeper stands on Linux's subreaper, pidfds and /proc."""

from __future__ import annotations

from moonpad.facts.platform import this_system
from moonpad.values.errors import PreflightRefused


def refuse_other_systems() -> None:
    """Raises PreflightRefused, one sentence, where this is not Linux."""
    system = this_system()
    if system.system != "Linux":
        raise PreflightRefused(
            f"`moonpad up` needs Linux, and this is {system}; everything that needs no local engine still works."
        )
