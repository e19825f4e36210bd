"""Runs one command to its end, line by line, so that nothing of it survives an interruption."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import IO, Final

from moonpad.environments.cancellation import Cancellation
from moonpad.values.redaction import redact_bytes

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
    rest = b""
    try:
        with closing(_output(process)) as output:
            for chunk in output:
                *lines, rest = (rest + chunk).split(b"\n")
                if len(rest) > LINE_BYTES:
                    lines, rest = [*lines, rest], b""
                for line in lines:
                    watch.log.write(redact_bytes(line) + b"\n")
                    watch.on_line(line.decode("utf-8", "replace"))
                watch.on_tick()
                watch.cancellation.raise_if_requested()
                if deadline_s is not None and time.monotonic() - begun > deadline_s:
                    raise DeadlinePassed
        if rest:
            watch.log.write(redact_bytes(rest))
            watch.on_line(rest.decode("utf-8", "replace"))
        return process.wait()
    finally:
        _stop_group(process, watch.cancellation)


def _output(process: subprocess.Popen[bytes]) -> Generator[bytes]:
    """The command's output as it comes, b"" after each tick without any, until the command has ended."""
    assert process.stdout is not None  # noqa: S101 - PIPE was asked for
    with process.stdout as pipe, selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        is_open = True
        while True:
            ended, chunk = process.poll() is not None, b""  # asked first, so that its last output is read
            if not is_open:  # the command has closed its output, and may go on
                time.sleep(0 if ended else TICK_S)
            elif selector.select(TICK_S):
                chunk = os.read(pipe.fileno(), LINE_BYTES)
                is_open = bool(chunk)
            yield chunk
            if ended and not chunk:
                return


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
