"""Adds a library of kernels to an installed engine, from source, where the machine has what that takes."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from moonpad.catalog.kernel_libraries import KernelBuild, KernelLibrary
from moonpad.environments.build import InstallProgress
from moonpad.environments.cancellation import cancel_on_signal
from moonpad.environments.installed_packages import packages
from moonpad.environments.lock import locked
from moonpad.environments.paths import EnvironmentFolder
from moonpad.environments.receipt import good_receipt
from moonpad.environments.run_steps import run_steps
from moonpad.environments.source_steps import Step, clone
from moonpad.facts.nvidia import nvidia_devices
from moonpad.facts.probe import Unknown
from moonpad.values.errors import InstallError, PreflightRefused
from moonpad.values.finding import Code, Finding, Severity

PROGRAMS: Final = ("git", "bash", "curl", "uv", "g++")
"""What the script of vLLM 0.32.0 calls besides nvcc."""
NVCC_LIMIT_S: Final = 20.0


@dataclass(frozen=True, slots=True)
class KernelInstall:
    """`home` is where engines are installed."""

    kernels: KernelLibrary
    build: KernelBuild
    home: Path

    @property
    def place(self) -> EnvironmentFolder:
        """The environment of the engine, to which the library is added."""
        major, minor = sys.version_info[:2]
        name = f"{self.kernels.engine}-{self.kernels.engine_version}-py{major}.{minor}"
        return EnvironmentFolder(self.home / name)

    @property
    def steps(self) -> tuple[Step, ...]:
        return kernel_steps(self.kernels, self.build, self.place.folder)

    @property
    def is_there(self) -> bool:
        """At this commit: the library's own version ends with the first digits of it."""
        found = {package.name: package.version for package in packages(self.place.site_packages)}
        version = found.get(self.build.distribution) or found.get(self.build.distribution.replace("_", "-"), "")
        return self.kernels.commit[:7] in version

    def refuse(self, environ: Mapping[str, str] = os.environ) -> None:
        """Raises PreflightRefused, with everything that is missing on this machine."""
        if findings := tuple(self._findings(environ)):
            raise PreflightRefused(f"{self.kernels.name} cannot be built here", findings=findings)

    def _findings(self, environ: Mapping[str, str]) -> Iterator[Finding]:
        engine = f"{self.kernels.engine} {self.kernels.engine_version}"
        if (sys.platform, platform.machine()) not in {("linux", "x86_64"), ("linux", "aarch64")}:
            yield _error("system", "it is built on Linux for x86_64 or aarch64", "use such a machine")
        if good_receipt(self.place) is None:
            message = f"{engine} is not installed, to which it is added"
            yield _error(self.kernels.engine, message, f"moonpad engine install {self.kernels.engine}")
        for program in PROGRAMS:
            if shutil.which(program) is None:
                yield _error(program, "is not installed", "install it", Code.TOOL_MISSING)
        compiler = nvcc(environ)
        wanted = f"install the toolkit of CUDA {self.build.torch_cuda}, or set CUDA_HOME to it"
        if isinstance(compiler, Unknown):
            yield _error("nvcc", compiler.reason, wanted, Code.TOOL_MISSING)
        elif compiler not in self.build.cuda:
            yield _error("nvcc", f"it is of CUDA {compiler}, and the build is for {self._cuda}", wanted)
        elif compiler != self.build.torch_cuda:
            message = f"it is of CUDA {compiler}, and torch {self.build.torch} of {engine} of {self.build.torch_cuda}"
            yield _error("nvcc", message, wanted)
        if isinstance(devices := nvidia_devices(), Unknown):
            message = f"there is no NVIDIA driver ({devices.reason}), which the library loads when it is imported"
            yield _error("nvidia-smi", message, "build on a machine with the devices that it is for", Code.TOOL_MISSING)

    @property
    def _cuda(self) -> str:
        return " and ".join(map(str, self.build.cuda))

    def run(self, progress: InstallProgress) -> str:
        """Its version.

        Raises:
            InstallError: a step failed; the message names the log.
            Interrupted: no process is left; the next call begins again.
        """
        log_path = self.place.folder.with_name(f"{self.place.folder.name}-{self.kernels.name}.log")
        try:
            with cancel_on_signal() as cancellation, locked(self.place.lock, cancellation) as lock_fd:
                with suppress(FileNotFoundError):
                    shutil.rmtree(self.place.folder / "src")
                with log_path.open("wb", buffering=0) as log:
                    return run_steps(self.steps, log, log_path, progress, cancellation, lock_fd).split()[-1]
        except OSError as error:
            raise InstallError(
                f"{error.filename or self.place.folder}: {error.strerror or error}",
                remedy="make that place writable, or set XDG_CACHE_HOME to another",
            ) from error


def kernel_steps(library: KernelLibrary, build: KernelBuild, folder: Path) -> tuple[Step, ...]:
    """`folder` is the engine's environment; the sources go below its `src`. The script fetches NVSHMEM of that version
    without a hash to compare."""
    tools, workspace = folder / "src" / build.tools.name, folder / "src" / "kernels"
    pins = ("--deepep-ref", library.commit, "--nvshmem-ver", build.nvshmem)
    module = build.distribution
    question = f"import torch, {module}; from importlib.metadata import version; print(version({module!r}))"
    return (
        *clone(build.tools, tools),
        Step(
            f"building {library.name} for CUDA architectures {build.architectures}",
            ("bash", str(tools / build.script), "--workspace", str(workspace), *pins),
            {"VIRTUAL_ENV": str(folder), "TORCH_CUDA_ARCH_LIST": build.architectures},
        ),
        Step(
            f"comparing its commit with {library.commit}",
            ("git", "-C", str(workspace / build.checkout), "rev-parse", "HEAD"),
            commit=library.commit,
        ),
        Step(f"importing {module}", (str(folder / "bin" / "python"), "-c", question)),
    )


def nvcc(environ: Mapping[str, str]) -> int | Unknown:
    """The major version of CUDA of the compiler below CUDA_HOME, else /usr/local/cuda, as the script looks for it."""
    program = Path(environ.get("CUDA_HOME") or "/usr/local/cuda") / "bin" / "nvcc"
    try:
        done = subprocess.run(
            (str(program), "--version"), capture_output=True, text=True, timeout=NVCC_LIMIT_S, check=False
        )
    except (OSError, subprocess.SubprocessError) as error:
        reason = "is not there" if isinstance(error, FileNotFoundError) else str(error)
        return Unknown(f"{program} {reason}")
    found = re.search(r"release (\d+)\.", done.stdout)
    return int(found[1]) if found else Unknown(f"{program} --version says no release")


def _error(where: str, message: str, remedy: str, code: Code = Code.PLATFORM_UNSUPPORTED) -> Finding:
    return Finding(Severity.ERROR, code, where, message, remedy)
