"""Builds an engine from source where the machine has what that takes, step by step."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Final

from moonpad.catalog.source_builds import SourceBuild
from moonpad.environments.build import InstallProgress
from moonpad.environments.cancellation import Cancellation, cancel_on_signal
from moonpad.environments.installed import InstalledEngine, installed_from, version_in
from moonpad.environments.installed_packages import folder_bytes, packages
from moonpad.environments.lock import locked
from moonpad.environments.paths import EnvironmentFolder, engines_home
from moonpad.environments.receipt import Receipt, good_receipt, write_receipt
from moonpad.environments.run_steps import run_steps
from moonpad.environments.source_steps import Step, script_of, steps
from moonpad.facts.cann import ROOT, Cann, cann, environment_scripts
from moonpad.facts.probe import Unknown
from moonpad.values.errors import InstallError, PreflightRefused
from moonpad.values.finding import Code, Finding, Severity

PROGRAMS: Final = ("git", "bash", "gcc", "g++", "cmake")
"""What building takes besides CANN (the Dockerfile of vLLM-Ascend 0.23.0)."""
MACHINES: Final = ("x86_64", "aarch64")


@dataclass(frozen=True, slots=True)
class SourceInstall:
    """`command` is the engine's executable in the environment. `root` is where CANN is installed."""

    build: SourceBuild
    command: str
    home: Path
    root: Path = ROOT

    @property
    def place(self) -> EnvironmentFolder:
        major, minor = sys.version_info[:2]
        return EnvironmentFolder(self.home / f"{self.build.engine}-{self.build.version}-py{major}.{minor}")

    @property
    def steps(self) -> tuple[Step, ...]:
        return self._steps(self.place.folder, Path(sys.executable))

    @property
    def script(self) -> str:
        """For any machine with CANN: the environment is made in the folder that it is started in."""
        folder = Path(f"{self.build.engine}-{self.build.version}")
        return script_of(self._title, self._steps(folder, Path("python3")))

    @property
    def _title(self) -> str:
        return f"{self.build.engine} {self.build.version}, for CANN {self.build.cann}"

    def _steps(self, folder: Path, base_python: Path) -> tuple[Step, ...]:
        return steps(self.build, folder, base_python, platform.machine(), environment_scripts(self.root))

    def refuse(self, environ: Mapping[str, str] = os.environ) -> None:
        """Raises PreflightRefused, with everything that is missing on this machine."""
        if findings := tuple(self._findings(environ)):
            raise PreflightRefused(f"{self.build.engine} {self.build.version} cannot be built here", findings=findings)

    def _findings(self, environ: Mapping[str, str]) -> Iterator[Finding]:
        if (sys.platform, platform.machine()) not in {("linux", machine) for machine in MACHINES}:
            yield _error("system", f"it is built on Linux for {' or '.join(MACHINES)}", "use such a machine")
        if sys.version_info[:2] not in self.build.pythons:
            versions = ", ".join(f"{major}.{minor}" for major, minor in self.build.pythons)
            message = (
                f"moonpad runs on Python {sys.version_info[0]}.{sys.version_info[1]}; the engine is for {versions}"
            )
            yield _error("Python", message, f"install moonpad with Python {versions.rpartition(', ')[2]}")
        for program in PROGRAMS:
            if shutil.which(program) is None:
                yield _error(program, "is not installed", "install it", Code.TOOL_MISSING)
        found = cann(self.root, environ)
        if isinstance(found, Unknown):
            message = f"not found ({found.reason})"
            yield _error("CANN", message, f"install CANN {self.build.cann} with NNAL, or use the image of its makers")
        elif not _same_release(found, self.build):
            message = f"{found.version} is installed; {self.build.engine} {self.build.version} needs {self.build.cann}"
            yield _error("CANN", message, f"install CANN {self.build.cann}")
        if shutil.which("npu-smi") is None and not environ.get("SOC_VERSION"):
            message = "is not installed, so the build cannot ask which chip it is for"
            remedy = "install the driver, or set SOC_VERSION: ascend910_9391 for A3, ascend910b1 for A2"
            yield _error("npu-smi", message, remedy, Code.TOOL_MISSING)

    def run(self, progress: InstallProgress) -> InstalledEngine:
        """An environment that was built before is left as it is.

        Raises:
            InstallError: a step failed; the message names the log.
            Interrupted: no process is left; the next call begins again.
        """
        try:
            return self._run(progress)
        except OSError as error:
            raise InstallError(
                f"{error.filename or self.place.folder}: {error.strerror or error}",
                remedy="make that place writable, or set XDG_CACHE_HOME to another",
            ) from error

    def _run(self, progress: InstallProgress) -> InstalledEngine:
        begun = time.monotonic()
        with cancel_on_signal() as cancellation, locked(self.place.lock, cancellation) as lock_fd:
            if (receipt := good_receipt(self.place, self._sha256)) is None:
                log_fd = os.open(self.place.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
                with os.fdopen(log_fd, "wb", buffering=0) as log:
                    answer = self._run_steps(progress, cancellation, lock_fd, log)
                receipt = self._receipt(version_in(answer), time.monotonic() - begun)
                write_receipt(self.place, receipt)
        return installed_from(self.place, receipt)

    @property
    def _sha256(self) -> str:
        return hashlib.sha256(script_of(self._title, self.steps).encode()).hexdigest()

    def _run_steps(self, progress: InstallProgress, cancellation: Cancellation, lock_fd: int, log: IO[bytes]) -> str:
        """What the last step printed."""
        self.place.receipt.unlink(missing_ok=True)
        with suppress(FileNotFoundError):
            shutil.rmtree(self.place.folder)
        return run_steps(self.steps, log, self.place.log, progress, cancellation, lock_fd)

    def _receipt(self, version: str, seconds: float) -> Receipt:
        there = {package.name: package for package in packages(self.place.site_packages)}
        own = there.get(self.build.engine)
        return Receipt(
            name=self.build.engine,
            version=version or self.build.version,
            command=self.command,
            python=str(self.place.python),
            lock_sha256=self._sha256,
            size_bytes=folder_bytes(self.place.folder),
            seconds=round(seconds, 1),
            installed_at=datetime.now(UTC).isoformat(timespec="seconds"),
            packages={name: package.version for name, package in there.items()},
            witnesses=(str(own.record.relative_to(self.place.folder)),) if own else (),
        )


def source_install(build: SourceBuild, command: str) -> SourceInstall:
    return SourceInstall(build, command, engines_home())


def _same_release(found: Cann, build: SourceBuild) -> bool:
    """`9.1.0` and a rebuild of it, `9.1.0.1`."""
    return found.version == build.cann or found.version.startswith(f"{build.cann}.")


def _error(where: str, message: str, remedy: str, code: Code = Code.PLATFORM_UNSUPPORTED) -> Finding:
    return Finding(Severity.ERROR, code, where, message, remedy)
