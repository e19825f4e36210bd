"""Where measurements are kept whose folder nobody named: `benches/`, each under a name that sorts by time."""

from __future__ import annotations

import secrets
import time
from pathlib import Path

from moonpad.store.places import state_home


def benches_folder() -> Path:
    return state_home() / "benches"


def new_bench_folder() -> Path:
    """
    Raises:
        OSError: it cannot be made.
    """
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    folder = benches_folder() / f"{stamp}-{secrets.token_hex(2)}"
    folder.mkdir(parents=True, mode=0o700)
    return folder


def bench_names() -> list[str]:
    """Oldest first; () where nothing was ever measured."""
    folder = benches_folder()
    return sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
