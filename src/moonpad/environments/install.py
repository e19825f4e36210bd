"""`moonpad engine install` (recognise, check, wait for the lock, build) and `moonpad engine remove`."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from moonpad.catalog.recipes import Lock, read_lock
from moonpad.engines.install_recipe import Installable
from moonpad.environments.build import Builder, InstallProgress
from moonpad.environments.cancellation import Cancellation, cancel_on_signal
from moonpad.environments.installed import BRING_YOUR_OWN, InstalledEngine, installed_from
from moonpad.environments.installed_packages import folder_bytes
from moonpad.environments.lock import locked
from moonpad.environments.paths import EnvironmentFolder, engines_home, folder_of, places
from moonpad.environments.preflight import Machine, disk_needs, refuse_full_disks, refuse_other_machines, this_machine
from moonpad.environments.receipt import good_receipt
from moonpad.facts.disk import Disk, disk
from moonpad.facts.probe import Unknown
from moonpad.values.errors import InstallError, PreflightRefused, UsageError
from moonpad.values.finding import Finding


@dataclass(frozen=True, slots=True)
class Installation:
    """`already`: it was installed before, and nothing was done."""

    engine: InstalledEngine
    already: bool
    seconds: float


def install(
    engine: Installable,
    progress: InstallProgress,
    *,
    home: Path | None = None,
    lock: Lock | None = None,
    machine: Machine | None = None,
    disk_of: Callable[[Path], Disk | Unknown] = disk,
) -> Installation:
    """The engine in an environment of its own. `home`, `lock`, `machine` and `disk_of` are this machine's by default.

    Raises:
        UsageError: the engine has no recipe.
        PreflightRefused: it cannot be installed here; nothing was downloaded.
        InstallError: pip or the engine failed.
        Interrupted: Ctrl-C or SIGTERM; no process is left, and the next call goes on.
    """
    begun = time.monotonic()
    recipe = engine.recipe
    if recipe is None:
        raise UsageError(f"moonpad does not install {engine.name}", remedy=BRING_YOUR_OWN)
    lock = lock or read_lock(recipe.lock)
    place = folder_of(recipe, sys.version_info[:2], home or engines_home())
    if (existing := _recognise(place, lock)) is not None:
        return Installation(existing, True, time.monotonic() - begun)

    def waiting(holder: str) -> None:
        progress.phase(f"waiting for {holder}, which is installing it")

    with cancel_on_signal() as cancellation:
        _note(progress, refuse_other_machines(recipe, machine or this_machine(recipe)))
        try:
            with locked(place.lock, cancellation, waiting) as lock_fd:
                existing = _recognise(place, lock)  # another process may have finished it while we waited
                if existing is None:
                    # Under the lock: the disk was filling up while another process was installing.
                    needs = disk_needs(recipe, place.folder, folder_bytes(place.folder))
                    _note(progress, refuse_full_disks(recipe, needs, disk_of))
                    log_fd = os.open(place.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
                    with os.fdopen(log_fd, "wb", buffering=0) as log:
                        builder = Builder(engine, recipe, lock, place, progress, cancellation, lock_fd, log)
                        receipt = builder.build()
        except OSError as error:
            raise InstallError(
                f"{error.filename or place.folder}: {error.strerror or error}",
                remedy="make that place writable, or set XDG_CACHE_HOME to another",
            ) from error
    built = existing or installed_from(place, receipt)
    return Installation(built, existing is not None, time.monotonic() - begun)


def _recognise(place: EnvironmentFolder, lock: Lock) -> InstalledEngine | None:
    receipt = good_receipt(place, lock.sha256)
    return installed_from(place, receipt) if receipt else None


def _note(progress: InstallProgress, warnings: tuple[Finding, ...]) -> None:
    for warning in warnings:
        progress.note(f"{warning.where}: {warning.message}")


def remove(name: str, home: Path | None = None) -> tuple[Path, ...]:
    """The folders that were removed: every environment of that engine, the unfinished ones too. Raises
    PreflightRefused: it is being installed, is running, or the folder is not ours to delete."""
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
