"""`moonpad engine install`: recognise, check, wait for the lock, build."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from moonpad.catalog.recipes import Lock, read_lock
from moonpad.engines.base import Engine
from moonpad.environments.build import Builder
from moonpad.environments.cancellation import cancel_on_signal
from moonpad.environments.installed import BRING_YOUR_OWN, InstalledEngine, installed_from
from moonpad.environments.installed_packages import folder_bytes
from moonpad.environments.lock import locked
from moonpad.environments.paths import EnvironmentFolder, engines_home, folder_of
from moonpad.environments.preflight import (
    Machine,
    disk_needs,
    disks_of,
    refuse_full_disks,
    refuse_other_machines,
    this_machine,
)
from moonpad.environments.progress import InstallProgress, Silent
from moonpad.environments.receipt import good_receipt
from moonpad.facts.disk import Disk
from moonpad.facts.probe import Unknown
from moonpad.values.errors import InstallError, UsageError
from moonpad.values.finding import Finding

Disks = Callable[[dict[Path, int]], dict[Path, Disk | Unknown]]


@dataclass(frozen=True, slots=True)
class Installation:
    """`already`: it was installed before, and nothing was done."""

    engine: InstalledEngine
    already: bool
    seconds: float


def install(
    engine: Engine,
    progress: InstallProgress | None = None,
    *,
    home: Path | None = None,
    lock: Lock | None = None,
    machine: Machine | None = None,
    disks: Disks = disks_of,
) -> Installation:
    """The engine in an environment of its own. `home`, `lock`, `machine` and `disks` are this machine's by default.

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
    progress = progress or Silent()
    with cancel_on_signal() as cancellation:
        _note(progress, refuse_other_machines(recipe, machine or this_machine(recipe)))
        try:
            with locked(place.lock, cancellation, lambda holder: _note_waiting(progress, holder)) as lock_fd:
                existing = _recognise(place, lock)  # another process may have finished it while we waited
                if existing is None:
                    # Under the lock: the disk was filling up while another process was installing.
                    needs = disk_needs(recipe, place.folder, folder_bytes(place.folder))
                    _note(progress, refuse_full_disks(recipe, needs, disks(needs)))
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


def _note_waiting(progress: InstallProgress, holder: str) -> None:
    progress.phase(f"waiting for {holder}, which is installing it")


def _note(progress: InstallProgress, warnings: tuple[Finding, ...]) -> None:
    for warning in warnings:
        progress.note(f"{warning.where}: {warning.message}")
