"""Where moonpad keeps its state: `$XDG_STATE_HOME/moonpad`, by default `~/.local/state/moonpad`.

endpoints/NAME.json     the current run of that name
endpoints/NAME.lock     held by the keeper while it runs
runs/RUN_ID/            spec.toml, plan.json, memory.json, facts.json, rendered/, run.json,
                        keeper.json, controller.json, events.jsonl, engine.log, control.sock
calibrations.jsonl      measured starts of this user, which plans take in place of the model
speed-calibrations.jsonl  what this user's loads corrected of the constants of speed
tunes/NAME-DIGEST/      journal.jsonl and results of a tune (tune/journal.py)
digests.jsonl           digests of the files of checkpoints, by path, size and time of change

What all users of a machine share is in /tmp/moonpad-locks, and what an engine needs while it runs in a folder below
/tmp. Neither follows TMPDIR: two users would not see each other's claims, and a socket's path must be short.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from moonpad.spec.home import base_folder

RUNTIME_TEMP_BASE: Final = "/tmp"  # noqa: S108 - the folder itself is made by mkdtemp
"""Where a run's temporary folder is made: sockets are put there, whose paths may have 107 bytes."""


def state_home() -> Path:
    return base_folder("XDG_STATE_HOME", ".local/state") / "moonpad"


def runs_folder() -> Path:
    return state_home() / "runs"


def endpoints_folder() -> Path:
    return state_home() / "endpoints"


def pointer_path(name: str) -> Path:
    return endpoints_folder() / f"{name}.json"


def lock_path(name: str) -> Path:
    return endpoints_folder() / f"{name}.lock"


def claims_folder() -> Path:
    """Where the runs of every user of this machine lock what only one may have. It may not exist yet."""
    return Path("/tmp/moonpad-locks")  # noqa: S108 - one place for all users; nothing but a lock is ever read there


def port_claim(port: int) -> Path:
    """Locked by the keeper whose engine has the port, or is about to bind it."""
    return claims_folder() / f"port-{port}.lock"
