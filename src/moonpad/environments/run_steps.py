"""Runs the steps of a build one after the other, each to its end, with all that they say in one log."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from moonpad.environments import pip
from moonpad.environments.build import InstallProgress
from moonpad.environments.cancellation import Cancellation
from moonpad.environments.process import Watch, run
from moonpad.environments.source_steps import Step
from moonpad.values.errors import InstallError
from moonpad.values.redaction import redact


def run_steps(
    steps: Sequence[Step],
    log: IO[bytes],
    log_path: Path,
    progress: InstallProgress,
    cancellation: Cancellation,
    lock_fd: int,
) -> str:
    """What the last step printed.

    Raises:
        InstallError: a step failed, or printed another commit than its own; the message names the log.
        Interrupted: no process is left.
    """
    lines: list[str] = []
    for step in steps:
        progress.phase(step.what)
        log.write(redact(f"$ {' '.join(step.argv)}\n").encode())
        lines = []
        environment = pip.clean_environment(os.environ) | dict(step.env)
        if "PIP_EXTRA_INDEX_URL" in step.env and (own := os.environ.get("PIP_EXTRA_INDEX_URL")):
            environment["PIP_EXTRA_INDEX_URL"] = f"{own} {step.env['PIP_EXTRA_INDEX_URL']}"
        watch = Watch(log, cancellation, lock_fd, lines.append, lambda: None)
        try:
            status = run(step.argv, environment, watch)
        except OSError as error:
            raise _failure(step, f"{step.argv[0]}: {error.strerror or error}", log_path) from error
        if status:
            raise _failure(step, pip.first_error(lines), log_path)
        if not "\n".join(lines).strip().startswith(step.commit):
            raise _failure(step, f"it is {' '.join(lines)}: the tag was moved, or the mirror is another", log_path)
    return "\n".join(lines)


def _failure(step: Step, problem: str, log_path: Path) -> InstallError:
    return InstallError(
        f"{step.what} failed: {problem}",
        remedy=f"then repeat the command; the whole output is in {log_path}",
    )
