"""`moonpad engine install`: recognise, check, wait for the turn, build."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from moonpad.catalog.recipes import Lock, read_lock
from moonpad.engines.base import Engine
from moonpad.engines.recipe import Recipe
from moonpad.environments.build import Builder
from moonpad.environments.contents import folder_bytes
from moonpad.environments.installed import BRING_YOUR_OWN, InstalledEngine, installed_from
from moonpad.environments.lock import locked
from moonpad.environments.pip import clean_environment
from moonpad.environments.places import Place, engines_home, place_of
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
from moonpad.environments.stop_sign import StopSign, stop_sign
from moonpad.facts.disk import Disk
from moonpad.facts.probe import Unknown
from moonpad.values.errors import InstallError, UsageError
from moonpad.values.finding import Finding

Disks = Callable[[dict[Path, int]], dict[Path, Disk | Unknown]]


@dataclass(frozen=True, slots=True)
class Installation:
    """`already`: it was there, and nothing was done."""

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
    place = place_of(recipe, sys.version_info[:2], home or engines_home())
    found = _recognise(place, lock)
    if found is None:
        with stop_sign() as stop:
            request = _Request(engine, recipe, lock, place, progress or Silent(), stop, disks)
            return request.fulfil(machine or this_machine(recipe), begun)
    return Installation(found, True, time.monotonic() - begun)


def _recognise(place: Place, lock: Lock) -> InstalledEngine | None:
    receipt = good_receipt(place, lock.sha256)
    return installed_from(place, receipt) if receipt else None


@dataclass(frozen=True, slots=True)
class _Request:
    engine: Engine
    recipe: Recipe
    lock: Lock
    place: Place
    progress: InstallProgress
    stop: StopSign
    disks: Disks

    def fulfil(self, machine: Machine, begun: float) -> Installation:
        self._tell(refuse_other_machines(self.recipe, machine))
        try:
            with locked(self.place.lock, self.stop, self._waiting) as lock_fd:
                found = _recognise(self.place, self.lock)
                already = found is not None  # by the one who had the lock before us
                engine = found or self._build(lock_fd)
        except OSError as error:
            raise InstallError(
                f"{error.filename or self.place.folder}: {error.strerror or error}",
                remedy="make that place writable, or set XDG_CACHE_HOME to another",
            ) from error
        return Installation(engine, already, time.monotonic() - begun)

    def _build(self, lock_fd: int) -> InstalledEngine:
        # Under the lock: the disk was filling up while another one was installing.
        there_bytes = folder_bytes(self.place.folder)
        needs = disk_needs(self.recipe, self.place.folder, there_bytes)
        self._tell(refuse_full_disks(self.recipe, needs, self.disks(needs)))
        log_fd = os.open(self.place.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(log_fd, "wb", buffering=0) as log:
            receipt = Builder(
                recipe=self.recipe,
                command=self.engine.command,
                version_args=self.engine.version_args,
                lock=self.lock,
                place=self.place,
                base_python=Path(sys.executable),
                environ=clean_environment(os.environ),
                progress=self.progress,
                stop=self.stop,
                lock_fd=lock_fd,
                log=log,
            ).build()
        return installed_from(self.place, receipt)

    def _waiting(self, holder: str) -> None:
        self.progress.phase(f"waiting for {holder}, which is installing it")

    def _tell(self, warnings: tuple[Finding, ...]) -> None:
        for warning in warnings:
            self.progress.note(f"{warning.where}: {warning.message}")
