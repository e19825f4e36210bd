"""Builds one environment from its recipe, under its lock. Every step can be repeated on what an earlier try left."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Final

from moonpad.catalog.recipes import Lock
from moonpad.engines.install_recipe import Installable, Recipe
from moonpad.environments import pip
from moonpad.environments.cancellation import Cancellation
from moonpad.environments.installed import matches, version_in
from moonpad.environments.installed_packages import drop_damaged, folder_bytes, normal_name, packages, write_alias
from moonpad.environments.paths import EnvironmentFolder
from moonpad.environments.process import DeadlinePassed, Watch, run
from moonpad.environments.receipt import Receipt, read_receipt, write_receipt
from moonpad.values.errors import InstallError
from moonpad.values.redaction import redact
from moonpad.values.units import duration

VERSION_DEADLINE_S: Final = 600.0
"""The first import of an engine reads two gigabytes and compiles its byte code."""


class InstallProgress:
    """Receives the progress of an installation; this one shows nothing."""

    def phase(self, name: str, total: int | None = None) -> None:
        """The next phase begins; `total` is the number of steps in it, None where it is unknown."""

    def step(self, done: int | None = None, detail: str = "") -> None:
        """`done` steps of the phase are done; `detail` is the present one."""

    def note(self, text: str) -> None:
        """A warning for the user."""


@dataclass(frozen=True, slots=True)
class Builder:
    """`recipe` is the engine's, `lock_fd` holds the environment's lock."""

    engine: Installable
    recipe: Recipe
    lock: Lock
    place: EnvironmentFolder
    progress: InstallProgress
    cancellation: Cancellation
    lock_fd: int
    log: IO[bytes]

    def build(self) -> Receipt:
        """The receipt of the finished environment.

        Raises:
            InstallError: pip or the engine failed; the message names the log.
            Interrupted: the user cancelled. No process is left, and the next try goes on.
        """
        begun = time.monotonic()
        self._prepare()
        for package in self.recipe.unlocked:
            self._install_unlocked(package)
        self._install_locked()
        if self.recipe.alias is not None:
            write_alias(self.place.site_packages, *self.recipe.alias)
        self._ask_version()
        receipt = self._receipt(begun)
        write_receipt(self.place, receipt)
        return receipt

    def _prepare(self) -> None:
        """An environment with a working pip; packages that an interrupted try has installed completely are kept."""
        self.progress.phase("making the environment")
        old = read_receipt(self.place.receipt)
        self.place.receipt.unlink(missing_ok=True)
        of_another_lock = old is not None and old.lock_sha256 != self.lock.sha256
        if of_another_lock or not self._pip_works():
            command = pip.make_environment(Path(sys.executable), self.place.folder)
            status, lines = self._run(command)
            if status:
                raise self._failure("Python could not make an environment", lines)

    def _pip_works(self) -> bool:
        if not self.place.python.exists() or "pip" in drop_damaged(self.place.site_packages):
            return False
        own_pip = "import pip, sys; sys.exit(sys.prefix == sys.base_prefix)"
        return self._run((str(self.place.python), "-I", "-c", own_pip))[0] == 0

    def _install_unlocked(self, package: str) -> None:
        # The user's own pip configuration comes first: a mirror, a proxy or a folder of wheels with this build is
        # nearer than its makers' index, and perhaps the only one in reach. PyPI has the version only as a CUDA build,
        # under another version string, so on an ordinary machine the first try fails within a second with "no matching
        # distribution" and the second one succeeds.
        self.progress.phase(f"fetching {package}")
        status, lines = self._run(pip.install_unlocked(self.place, (package,)), self._show_file)
        if status and pip.lacks_package(lines):
            self.progress.step(detail=f"asking {self.recipe.fallback_index}")
            command = pip.install_unlocked(self.place, (package,), self.recipe.fallback_index)
            status, lines = self._run(command, self._show_file)
        if status:
            remedy = f"pip must reach {self.recipe.fallback_index}, or be configured with an index that has {package}"
            raise self._failure(f"{package} could not be installed", lines, remedy)

    def _install_locked(self) -> None:
        total = len(self.lock.pins)
        names: set[str] = set()
        started = False

        def on_line(line: str) -> None:
            nonlocal started
            if package := pip.package_begun(line):
                names.add(package)
                self.progress.step(len(names))
            elif pip.installing(line):
                started = True
                self.progress.phase(f"unpacking {total} packages", total)
            self._show_file(line)

        def on_tick() -> None:
            if started:  # pip itself says nothing until all are there
                there = sum(1 for _ in packages(self.place.site_packages))
                self.progress.step(min(total, max(0, there - len(self.recipe.unlocked) - 1)))

        self.progress.phase(f"fetching {total} packages", total)
        lock_file = self.place.folder / "moonpad-lock.txt"
        lock_file.write_text(self.lock.text, encoding="utf-8")
        status, lines = self._run(pip.install_locked(self.place, lock_file), on_line, on_tick)
        if status:
            raise self._failure(f"the packages of {self.recipe.name} could not be installed", lines)

    def _ask_version(self) -> None:
        """The one real check: the engine starts, finds its libraries and answers."""
        self.progress.phase(f"asking {self.engine.name} for its version")
        program, *args = self.recipe.ask or (self.engine.command, *self.engine.version_args)
        try:
            status, lines = self._run((str(self.place.program(program)), *args), deadline_s=VERSION_DEADLINE_S)
        except DeadlinePassed as error:
            what = f"{program} did not print its version within {duration(VERSION_DEADLINE_S)}"
            raise InstallError(what, remedy=f"see {self.place.log}; then repeat the command") from error
        if status:
            raise self._failure(f"{program} {args[0]} failed with {status}", lines)
        version = version_in("\n".join(lines))
        if not matches(version, self.recipe.version):
            raise self._failure(f"{program} reports version {version}, expected {self.recipe.version}", lines)

    def _receipt(self, begun: float) -> Receipt:
        self.progress.phase("checking the packages")
        there = {package.name: package for package in packages(self.place.site_packages)}
        versions = {name: package.version for name, package in there.items()}
        missing = [name for name, version in self.lock.pins.items() if versions.get(normal_name(name)) != version]
        if missing:
            raise InstallError(
                f"pip reported success, but {', '.join(missing)} is not installed in the locked version",
                remedy=f"see {self.place.log}; then repeat the command",
            )
        names = (
            self.recipe.package or self.recipe.name,
            *(unlocked.partition("==")[0] for unlocked in self.recipe.unlocked),
        )
        witnesses = [there[name] for name in map(normal_name, names) if name in there]
        self.cancellation.raise_if_requested()
        return Receipt(
            name=self.recipe.name,
            version=self.recipe.version,
            command=self.engine.command,
            python=str(self.place.python),
            lock_sha256=self.lock.sha256,
            size_bytes=folder_bytes(self.place.folder),
            seconds=round(time.monotonic() - begun, 1),
            installed_at=datetime.now(UTC).isoformat(timespec="seconds"),
            packages=versions,
            witnesses=tuple(str(package.record.relative_to(self.place.folder)) for package in witnesses),
        )

    def _run(
        self,
        command: Sequence[str],
        on_line: Callable[[str], None] = lambda line: None,
        on_tick: Callable[[], None] = lambda: None,
        deadline_s: float | None = None,
    ) -> tuple[int, list[str]]:
        lines: list[str] = []

        def keep(line: str) -> None:
            lines.append(line)
            on_line(line)

        self.log.write(redact(f"$ {' '.join(command)}\n").encode())
        watch = Watch(self.log, self.cancellation, self.lock_fd, keep, on_tick)
        try:
            return run(command, pip.clean_environment(os.environ), watch, deadline_s), lines
        except OSError as error:
            raise InstallError(
                f"{command[0]} cannot be started: {error.strerror or error}",
                remedy="if that folder is on a file system mounted noexec, set XDG_CACHE_HOME to another",
            ) from error

    def _show_file(self, line: str) -> None:
        if file := pip.file_begun(line):
            self.progress.step(detail=file)

    def _failure(self, what: str, lines: Sequence[str], remedy: str = "then repeat the command") -> InstallError:
        return InstallError(
            f"{what}: {pip.first_error(lines)}", remedy=f"{remedy}; pip's whole output is in {self.place.log}"
        )
