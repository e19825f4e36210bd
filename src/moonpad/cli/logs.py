"""`moonpad logs`: the engine's own log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from moonpad.observe.log_tail import LogTail, last_lines
from moonpad.run.endpoints import endpoint_of, find_run
from moonpad.run.run_status import is_kept
from moonpad.run.ssh_hosts import far_log
from moonpad.store.run_folder import RunFolder
from moonpad.values.errors import MoonpadError, SpecError

LOOK_S = 0.2
LINES_AT_ONCE = 1000


def logs(
    target: str | None = None,
    *,
    follow_: Annotated[bool, Parameter(name=["--follow", "-f"])] = False,
    tail: Annotated[int, Parameter(name=["--tail", "-n"])] = 200,
    node: str = "node-0",
) -> None:
    """Show the engine's log.

    Parameters
    ----------
    target
        A spec or the name of an endpoint; without it, the one that is up.
    follow_
        Go on printing new lines until the run ends.
    tail
        How many of the last lines to show first.
    node
        The node whose log to show, for a run on several hosts.
    """
    folder = find_run(target)
    with suppress(MoonpadError):
        endpoint_of(folder)  # from here on its key is known, and not shown
    path = _path(folder, node)
    if follow_:
        follow(path, lambda: is_kept(folder), tail=tail)
    else:
        _show(last_lines(path, tail))


def _path(folder: RunFolder, node: str) -> Path:
    far = folder.about().get("hosts") or {}
    if node in far:
        return folder.path / far_log(node)
    if node != "node-0":
        raise SpecError(f"{folder.name} has no {node}", remedy=f"it has {', '.join(('node-0', *far))}")
    return folder.log_path


def follow(path: Path, goes_on: Callable[[], bool], *, tail: int | None = None) -> None:
    """Prints the log, or its last `tail` lines, and its new lines until the run ends."""
    log = LogTail(path) if tail is None else LogTail.from_last(path, tail)
    while True:
        last_look = not goes_on()
        _show(log.until_end())
        if last_look:
            _show([last] if (last := log.open_line()) else [])
            return
        time.sleep(LOOK_S)


def _show(lines: Iterable[str]) -> None:
    """Of a progress bar that redraws itself, the last state. Many lines at once: a flood has 100,000 a second."""
    rest = iter(lines)
    while some := [line.rstrip("\r").rsplit("\r", 1)[-1] for line in islice(rest, LINES_AT_ONCE)]:
        sys.stdout.write("\n".join(some) + "\n")
    sys.stdout.flush()
