"""The `moonpad` command as a forked child of a process that has moonpad imported already: some 10 ms, not 300.

The child has streams, an environment and a process group of its own, and ends without returning into its parent.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import pkgutil
import select
import signal
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cyclopts.argument import Argument

from moonpad import run

IMPORTED = (
    *(f"moonpad.cli.{verb}" for verb in ("main", "start", "up", "status", "down", "logs", "bench_run", "bench")),
    *(f"moonpad.run.{module.name}" for module in pkgutil.iter_modules(run.__path__)),
    "moonpad.spec.loader",
    "moonpad.bench.run",
    "moonpad.facts.gather",
    "psutil",
    "rich.console",
    "aiohttp",
)


@dataclass(frozen=True, slots=True)
class Ended:
    """`code` is negative where a signal ended it; `timed_out` where we had to."""

    argv: tuple[str, ...]
    code: int
    stdout: str
    stderr: str
    seconds: float
    timed_out: bool = False


def import_moonpad() -> None:
    """So that no child has to. What a verb imports besides, its child imports."""
    for name in IMPORTED:
        importlib.import_module(name)
    Argument.validate = _validate_without_pydantic  # type: ignore[method-assign]


_validate = Argument.validate


def _validate_without_pydantic(self: Argument, value: object) -> object:
    """A fresh command has no pydantic yet when it reads its words, so cyclopts leaves it out. Here it would ask it for
    each word, and pydantic swallows a Ctrl-C (`Interrupts`) before there is anything that hears it."""
    pydantic = sys.modules["pydantic"]
    try:
        del sys.modules["pydantic"]
        return _validate(self, value)
    finally:
        sys.modules["pydantic"] = pydantic


@dataclass(frozen=True, slots=True)
class Command:
    """One that runs. Its streams go to files below `scratch`."""

    argv: tuple[str, ...]
    pid: int
    handle: int
    out: Path
    err: Path
    begun: float

    def send(self, number: int) -> None:
        """To its process group, as a terminal does."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def wait(self, limit_s: float) -> Ended:
        timed_out = not select.select([self.handle], [], [], limit_s)[0]
        if timed_out:
            signal.pidfd_send_signal(self.handle, signal.SIGKILL)
        _, status = os.waitpid(self.pid, 0)
        os.close(self.handle)
        seconds = time.monotonic() - self.begun
        out, err = (path.read_text(errors="replace") for path in (self.out, self.err))
        self.out.unlink()
        self.err.unlink()
        return Ended(self.argv, os.waitstatus_to_exitcode(status), out, err, seconds, timed_out)


def start(argv: Sequence[str], env: Mapping[str, str], scratch: Path) -> Command:
    stamp = f"{time.monotonic_ns()}"
    out, err = scratch / f"{stamp}.out", scratch / f"{stamp}.err"
    for path in (out, err):
        path.touch()
    begun = time.monotonic()
    # A Ctrl-C that comes before the child is itself would be lost in what Python does after a fork.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
    pid = os.fork()
    if pid == 0:
        _become(tuple(argv), env, scratch, out, err)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    with contextlib.suppress(OSError):  # it has done so itself
        os.setpgid(pid, pid)
    return Command(tuple(argv), pid, os.pidfd_open(pid), out, err, begun)


def run(argv: Sequence[str], env: Mapping[str, str], scratch: Path, limit_s: float = 60.0) -> Ended:
    return start(argv, env, scratch).wait(limit_s)


def _become(argv: tuple[str, ...], env: Mapping[str, str], scratch: Path, out: Path, err: Path) -> None:
    code = 1
    try:
        gc.callbacks.clear()  # Hypothesis's: a Ctrl-C would be lost in one
        os.setpgid(0, 0)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
        for stream, path in enumerate((Path(os.devnull), out, err)):
            os.dup2(os.open(path, os.O_WRONLY if stream else os.O_RDONLY), stream)
        sys.stdin, sys.stdout, sys.stderr = os.fdopen(0, "r"), os.fdopen(1, "w"), os.fdopen(2, "w")
        os.environ.clear()
        os.environ.update(env)
        os.chdir(scratch)
        sys.argv = ["moonpad", *argv]
        code = _run(argv)
    finally:
        os._exit(code)


def _run(argv: tuple[str, ...]) -> int:
    """The exit code as the interpreter would give it."""
    from moonpad.cli.command_line import run as moonpad

    code = 1
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
    except KeyboardInterrupt:  # it came before there was a moonpad that could hear it
        return 130
    try:
        code = moonpad(list(argv))
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:  # noqa: BLE001 - what escapes here is what a user would see as a traceback
        traceback.print_exc()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    return code
