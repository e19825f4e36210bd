"""Where moonpad keeps its state: `$XDG_STATE_HOME/moonpad`, by default `~/.local/state/moonpad`.

endpoints/NAME.json     the current run of that name
endpoints/NAME.lock     held by the keeper while it runs
runs/RUN_ID/            spec.toml, plan.json, memory.json, facts.json, rendered/, run.json,
                        keeper.json, events.jsonl, engine.log
calibrations.jsonl      measured starts of this user, which plans take in place of the model
"""

from __future__ import annotations

import os
from pathlib import Path


def state_home() -> Path:
    base = os.environ.get("XDG_STATE_HOME", "")
    # The XDG specification: a relative path there is to be ignored.
    root = Path(base) if base.startswith("/") else Path.home() / ".local" / "state"
    return root / "moonpad"


def runs_folder() -> Path:
    return state_home() / "runs"


def endpoints_folder() -> Path:
    return state_home() / "endpoints"


def lock_path(name: str) -> Path:
    return endpoints_folder() / f"{name}.lock"
