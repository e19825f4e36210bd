"""Kills one of a run's three programs just before its Nth change of the disk, as a loss of power would.

`fuse` gives the environment for `moonpad up`. With it this file is imported by `up` and by the controller as their
`sitecustomize`. The keeper starts with -I -S and has none: `up` runs this file in place of the keeper's own program,
which is run from here. An audit hook sees each file that is opened for writing, renamed or removed, whoever does it by
whatever function: the state after each single write is met, and so is a half-done replacement.

A fuse burns once: the controller that is started next lives. Standard library only.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FUSE = "KILL_AFTER"  # "up:7", "controller:3", "keeper:12"
BURNT = "KILL_AFTER_BURNT"  # a file: what the program was about to do when it was killed
KEEPER = "KILL_AFTER_KEEPER"  # the keeper's own program
LOCKS = "/tmp/moonpad-"  # claims, and the run's temporary folder
CGROUPS = "/sys/fs/cgroup/"


def fuse(folder: Path, program: str, number: int) -> dict[str, str]:
    """The environment that kills "up", "controller" or "keeper" before its change of that number, 1 for the first."""
    folder.mkdir(exist_ok=True)
    (folder / "sitecustomize.py").write_text(Path(__file__).read_text())
    (folder / "burnt").unlink(missing_ok=True)
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    return {"PYTHONPATH": path, FUSE: f"{program}:{number}", BURNT: str(folder / "burnt")}


def burnt(folder: Path) -> str:
    """What the program was about to do when it was killed, "" where it was not."""
    path = folder / "burnt"
    return path.read_text() if path.exists() else ""


def changes(event: str, args: tuple[Any, ...]) -> Iterator[str]:
    """The paths that an audit event is about to change, as far as they are moonpad's, logs left out."""
    if event == "open":
        paths = args[:1] if isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR) else ()
    elif event in ("os.rename", "os.remove", "os.mkdir", "os.rmdir"):
        paths = args[:1]
    else:
        return
    for path in paths:
        if isinstance(path, str | bytes | os.PathLike):
            whole = Path(os.fsdecode(path)).absolute()
            ours = str(whole).startswith((os.environ.get("XDG_STATE_HOME", "/none") + "/", LOCKS, CGROUPS, "/dev/shm/"))
            if ours and ".log" not in whole.name:
                yield str(whole)


def light(number: int) -> None:
    """Burns down in this process, from here on."""
    seen = 0

    def hook(event: str, args: tuple[Any, ...]) -> None:
        nonlocal seen
        for path in changes(event, args):
            seen += 1
            if seen == number and not Path(os.environ[BURNT]).exists():
                Path(os.environ[BURNT]).write_text(f"{event} {path}")
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def begin() -> None:
    program, _, number = os.environ.get(FUSE, "").partition(":")
    if not program or Path(os.environ[BURNT]).exists():
        return
    if __name__ == "__main__":
        if program == "keeper":
            light(int(number))
        sys.argv[0] = os.environ[KEEPER]
        runpy.run_path(os.environ[KEEPER], run_name="__main__")
        return
    words = sys.orig_argv[1:]
    if words[:3] == ["-m", "moonpad", "up"]:
        if program == "up":
            light(int(number))
        elif program == "keeper":
            from moonpad.run import launch

            os.environ[KEEPER] = str(launch.KEEPER_PROGRAM)
            launch.KEEPER_PROGRAM = Path(__file__)
    elif program == "controller" and "moonpad.run.controller" in words:
        light(int(number))


if __name__ in ("__main__", "sitecustomize"):
    begin()
