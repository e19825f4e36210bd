"""How a run is kept up: when an engine that exited is restarted, and what counts as hung."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from moonpad.values.records import field_names


class State(StrEnum):
    """What `status` says of a run (cli.md)."""

    STARTING = "starting"
    READY = "ready"
    STALLED = "stalled"
    FAILED = "failed"
    STOPPED = "stopped"
    UNATTENDED = "unattended"


BACKOFF_LIMIT_S = 300.0
"""Delays between restarts double up to this."""


class Policy(Struct, frozen=True):
    """`[launch]` of a spec, as the controller follows it. A start that was never ready is not tried again."""

    start_timeout_s: float = 900.0
    restarts: int = 3
    """Restarts within `restart_window_s`; one more end after that is final. 0: none."""
    restart_window_s: float = 3600.0
    restart_backoff_s: float = 2.0
    """Before the first restart of a window; doubled each time, up to BACKOFF_LIMIT_S."""
    min_healthy_s: float = 30.0
    """Without a failed probe after *ready*, until *stable*."""
    stall_after_s: float = 30.0
    """Requests run and nothing has moved for so long: then one token is asked for."""
    stall_probe_s: float = 15.0
    """How long that token may take."""
    restart_on_stall: bool = True

    @classmethod
    def of(cls, document: Mapping[str, object]) -> Policy:
        """From run.json; what is missing or unknown there is left to the defaults."""
        names = field_names(cls)
        return cls(**{name: value for name, value in document.items() if name in names})  # type: ignore[arg-type]
