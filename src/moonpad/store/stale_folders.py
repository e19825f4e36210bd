"""Removes the run folders of an `up` that was killed before its keeper ran. Nothing else ever would."""

from __future__ import annotations

import os
import re
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from moonpad.facts.processes import read_boot_id, read_start
from moonpad.store.atomic_files import read_json, read_lines
from moonpad.store.paths import lock_path, pointer_path, runs_folder

CREATED: Final = "created"
"""The first event of a run; it names the process that has made the folder."""

LEFTOVER_S: Final = 3600.0
"""A start takes seconds from the folder to the keeper; a younger folder is never removed."""


def this_process() -> dict[str, Any]:
    """Our identity, so that another process can tell later whether we live."""
    return {"pid": os.getpid(), "start": read_start(os.getpid()), "boot_id": read_boot_id()}


def remove_leftovers(name: str) -> None:
    """Removes the run folders of that name which never had a keeper, and whose creator has gone.

    Never one that the name's lock or pointer names; none at all while the lock is there and does not say whose it is.
    """
    holder = _named_by(lock_path(name))
    if holder is None and lock_path(name).exists():
        return
    spared = {holder, _named_by(pointer_path(name))}
    mine = re.compile(re.escape(name) + r"-\d{8}-\d{6}-[0-9a-f]{4}")
    for folder in runs_folder().glob("*"):
        if mine.fullmatch(folder.name) and folder.name not in spared and _is_leftover(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _is_leftover(folder: Path) -> bool:
    with suppress(OSError):
        if folder.is_symlink() or time.time() - folder.stat().st_mtime < LEFTOVER_S:
            return False
        return not (folder / "keeper.json").exists() and _creator_has_gone(folder)
    return False


def _creator_has_gone(folder: Path) -> bool:
    """A folder that does not name its creator is kept, unless it is empty: then its creator got no further."""
    created = next((event for event in read_lines(folder / "events.jsonl") if event.get("event") == CREATED), None)
    if created is None:
        return not any(folder.iterdir())
    if created.get("boot_id") != read_boot_id():
        return True
    pid = created.get("pid")
    return isinstance(pid, int) and read_start(pid) != created.get("start")


def _named_by(path: Path) -> str | None:
    run = (read_json(path) or {}).get("run")
    return run if isinstance(run, str) else None
