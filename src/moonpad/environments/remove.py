"""Removes what `install` made."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from moonpad.environments.cancellation import Cancellation
from moonpad.environments.lock import locked
from moonpad.environments.paths import EnvironmentFolder, engines_home, places
from moonpad.values.errors import PreflightRefused


def remove(name: str, home: Path | None = None) -> tuple[Path, ...]:
    """The folders that were removed: every environment of that engine, the unfinished ones too.

    Raises:
        PreflightRefused: it is being installed, is running, or the folder is not ours to delete.
    """
    removed = tuple(places(home or engines_home(), re.escape(name)))
    for place in removed:
        _remove(place)
    return tuple(place.folder for place in removed)


def _remove(place: EnvironmentFolder) -> None:
    try:
        with locked(place.lock, Cancellation()):
            if users := pids_using(place.folder):
                pids = ", ".join(map(str, users))
                raise PreflightRefused(f"{place.folder} is in use by pid {pids}", remedy="stop it first: moonpad down")
            place.receipt.unlink(missing_ok=True)  # from here on it is unfinished, whatever interrupts us
            shutil.rmtree(place.folder)
            place.log.unlink(missing_ok=True)
            place.lock.unlink()
    except OSError as error:
        raise PreflightRefused(
            f"{place.folder} could not be removed: {error.strerror or error}", remedy=f"look at {error.filename}"
        ) from error


def pids_using(folder: Path) -> tuple[int, ...]:
    """Processes whose program, or the script that it runs, lies in the folder."""
    import psutil

    inside = f"{folder}{os.sep}"
    return tuple(
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if any(word.startswith(inside) for word in (process.info["cmdline"] or [])[:2])
    )
