"""A fact is a source (a command, or a file of the kernel) and a parser, which is pure and tested on recorded text."""

from __future__ import annotations

import math
import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from moonpad.values.units import duration

T = TypeVar("T")

REAP_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Unknown:
    """A fact that could not be had, and why. Never None, never zero."""

    reason: str


def parsed(text: str | Unknown, parse: Callable[[str], T]) -> T | Unknown:
    """`parse` raises ValueError where the text does not hold the fact."""
    if isinstance(text, Unknown):
        return text
    try:
        return parse(text)
    except ValueError as error:
        return Unknown(str(error))


def number_or_none(text: str) -> float | None:
    """What a tool prints for a figure that is not negative; None for `[N/A]`, `-`, `[Unknown Error]` and the like."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def read_text(path: Path) -> str | Unknown:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        return Unknown(f"{path}: {error.strerror or error}")


@dataclass(frozen=True, slots=True)
class Output:
    """What an ended command printed, whatever its exit code says."""

    command: str
    stdout: str
    stderr: str
    returncode: int

    @property
    def failure(self) -> str:
        """Why it failed, in its own last words."""
        last = (self.stderr.strip() or self.stdout.strip() or "no output").splitlines()[-1]
        return f"{self.command} failed with {self.returncode}: {last}"


def output_of(command: tuple[str, ...], timeout_s: float, env: dict[str, str] | None = None) -> str | Unknown:
    """What a command prints on stdout. At the deadline it is killed with everything that it started."""
    output = run(command, timeout_s, env)
    if isinstance(output, Unknown):
        return output
    return Unknown(output.failure) if output.returncode else output.stdout


def run(command: tuple[str, ...], timeout_s: float, env: dict[str, str] | None = None) -> Output | Unknown:
    """As `output_of`, for a command whose output is worth reading where it fails, too."""
    try:
        process = subprocess.Popen(
            command,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        return Unknown(f"{command[0]}: {error.strerror or error}")
    try:
        stdout, stderr = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        return Unknown(f"{command[0]} timed out after {duration(timeout_s)}")
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        # A process that hangs inside a driver does not die of SIGKILL, and must not hold us.
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=REAP_S)
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
    return Output(command[0], stdout, stderr, process.returncode)
