"""Runs one command to its end, line by line, so that nothing of it survives an interruption."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Final

from moonpad.environments.cancellation import Cancellation

TICK_S: Final = 0.1
GRACE_S: Final = ((signal.SIGINT, 5.0), (signal.SIGTERM, 2.0), (signal.SIGKILL, 5.0))
LINE_BYTES: Final = 1 << 16


class DeadlinePassed(Exception):
    """The command was stopped because it took too long."""


@dataclass(frozen=True, slots=True)
class Watch:
    """What happens while a command runs: `log` gets every byte, `on_line` every line, `on_tick` ten calls a second.

    `lock_fd` is inherited by the command: if we are killed while it runs, the lock is held until it has ended too.
    """

    log: IO[bytes]
    cancellation: Cancellation
    lock_fd: int
    on_line: Callable[[str], None] = lambda line: None
    on_tick: Callable[[], None] = lambda: None


def run(command: Sequence[str], env: Mapping[str, str], watch: Watch, deadline_s: float | None = None) -> int:
    """The exit status.

    Raises:
        Interrupted: the user cancelled; no process of the command's group is left.
        DeadlinePassed: likewise.
    """
    watch.cancellation.raise_if_requested()
    begun = time.monotonic()
    process = subprocess.Popen(
        command,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,  # the terminal's Ctrl-C reaches us alone, and we stop the group in order
        pass_fds=(watch.lock_fd,),
    )
    try:
        with _OutputLines(process, watch) as lines:
            while lines.read() or process.poll() is None:
                watch.on_tick()
                watch.cancellation.raise_if_requested()
                if deadline_s is not None and time.monotonic() - begun > deadline_s:
                    raise DeadlinePassed
        return process.wait()
    finally:
        _stop_group(process, watch.cancellation)


class _OutputLines:
    """The command's output, cut into lines as it comes."""

    def __init__(self, process: subprocess.Popen[bytes], watch: Watch) -> None:
        assert process.stdout is not None  # noqa: S101 - PIPE was asked for
        self._pipe = process.stdout
        self._watch = watch
        self._rest = b""
        self._open = True
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._pipe, selectors.EVENT_READ)

    def __enter__(self) -> _OutputLines:
        return self

    def __exit__(self, *_: object) -> None:
        self._cut(b"\n" if self._rest else b"")
        self._selector.close()
        self._pipe.close()

    def read(self) -> bool:
        """Waits at most a tick for output; False where none came."""
        if not self._open:
            time.sleep(TICK_S)  # the command has closed its output and goes on
        elif self._selector.select(TICK_S):
            chunk = os.read(self._pipe.fileno(), LINE_BYTES)
            self._open = bool(chunk)
            self._watch.log.write(chunk)
            self._cut(chunk)
            return self._open
        return False

    def _cut(self, chunk: bytes) -> None:
        *whole, self._rest = (self._rest + chunk).split(b"\n")
        if len(self._rest) > LINE_BYTES:
            whole, self._rest = [*whole, self._rest], b""
        for line in whole:
            self._watch.on_line(line.decode("utf-8", "replace"))


def _stop_group(process: subprocess.Popen[bytes], cancellation: Cancellation) -> None:
    """INT, TERM, KILL to the process group, each with its grace; KILL at once when the user cancels a second time."""
    for number, grace_s in GRACE_S:
        if not _group_lives(process):
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        until = time.monotonic() + grace_s
        while _group_lives(process) and time.monotonic() < until:
            if cancellation.count > 1 and number is not signal.SIGKILL:
                break
            time.sleep(0.02)
    process.wait()


def _group_lives(process: subprocess.Popen[bytes]) -> bool:
    if process.poll() is None:
        return True
    try:
        os.killpg(process.pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True
